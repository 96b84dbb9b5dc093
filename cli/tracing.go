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

// traceFlush is the maximum time to send the last spans at shutdown.
const traceFlush = 5 * time.Second

// The OpenTelemetry variables that enable traces if --otlp-endpoint is not set.
var otelEndpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// tracer returns the tracer for requests and documents. It sends spans to --otlp-endpoint, or to the endpoint in the standard variables
// of OpenTelemetry, which can also set headers, sampling, and limits. Without either, it records nothing.
//
// Up to 2,048 spans are queued in memory and sent in the background. If the collector is down or slow, spans are dropped, without other
// effects.
func (c *config) tracer(ctx context.Context, log *slog.Logger, stop *teardown) (trace.Tracer, error) {
	if c.OTLPEndpoint == "" && !otelConfigured() {
		return noop.Tracer{}, nil
	}
	var options []otlptracehttp.Option
	if c.OTLPEndpoint != "" {
		signal, err := url.JoinPath(c.OTLPEndpoint, "v1", "traces") // like the standard variable OTEL_EXPORTER_OTLP_ENDPOINT
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
		resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", tracerName),
			attribute.String("service.version", version())),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the defaults
	)
	if err != nil {
		return nil, fmt.Errorf("create the OpenTelemetry resource: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("cannot export traces", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	stop.add("traces", func() error { return flushTraces(provider, log) })
	return provider.Tracer(tracerName), nil
}

// tracerName is the name of the instrumentation scope.
const tracerName = "platen"

func otelConfigured() bool {
	var endpoint string
	for _, name := range otelEndpoints {
		endpoint = cmp.Or(endpoint, os.Getenv(name))
	}
	return endpoint != ""
}

// flushTraces sends the queued spans. If the collector is down, shutdown continues.
func flushTraces(provider *sdktrace.TracerProvider, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), traceFlush)
	defer cancel()
	if err := provider.Shutdown(ctx); err != nil {
		log.Warn("the last traces are lost", "error", err)
	}
	return nil
}
