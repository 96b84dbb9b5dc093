package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// traceFlush is how long stopping waits until the last spans are sent.
const traceFlush = 5 * time.Second

// The variables of OpenTelemetry that turn traces on where --otlp-endpoint is not set.
var otelEndpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// tracer returns what records the spans of requests and documents. They go to --otlp-endpoint, or to where the standard
// variables of OpenTelemetry say, which also set headers, sampling, and limits. Without either, no span is recorded.
//
// Spans wait in memory, 2,048 at most, and are sent in the background. When the collector is down or slow, spans are dropped and
// nothing else is affected.
func (c *config) tracer(ctx context.Context, log *slog.Logger, stop *teardown) (trace.Tracer, error) {
	if c.OTLPEndpoint == "" && !otelConfigured() {
		return noop.Tracer{}, nil
	}
	var options []otlptracehttp.Option
	if c.OTLPEndpoint != "" {
		signal, err := url.JoinPath(c.OTLPEndpoint, "v1", "traces") // as with the standard variable OTEL_EXPORTER_OTLP_ENDPOINT
		if err != nil {
			return nil, fmt.Errorf("--otlp-endpoint: %w", err)
		}
		options = append(options, otlptracehttp.WithEndpointURL(signal))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", tracerName), attribute.String("service.version", version())),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES go before the defaults
	)
	if err != nil {
		return nil, fmt.Errorf("describe this server to the collector of traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not delivered", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	stop.add("traces", func() error { return flushTraces(provider, log) })
	return provider.Tracer(tracerName), nil
}

// tracerName is what Platen is called in traces.
const tracerName = "platen"

func otelConfigured() bool {
	var endpoint string
	for _, name := range otelEndpoints {
		endpoint = cmp.Or(endpoint, os.Getenv(name))
	}
	return endpoint != ""
}

// flushTraces sends the spans that wait. A collector that is down does not make stopping fail.
func flushTraces(provider *sdktrace.TracerProvider, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), traceFlush)
	defer cancel()
	if err := provider.Shutdown(ctx); err != nil {
		log.Warn("the last traces are lost", "error", err)
	}
	return nil
}
