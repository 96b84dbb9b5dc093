package server

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceContext parses the header traceparent (W3C Trace Context, section 3.2).
var traceContext propagation.TraceContext

// startSpan starts the span of a request, which continues the trace of the client.
func (a *api) startSpan(r *http.Request) (*http.Request, trace.Span) {
	ctx := traceContext.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := a.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// endSpan ends the span of a call, with the attributes of OpenTelemetry's conventions for HTTP servers. Like the log, it omits paths and
// queries, because they can contain secrets.
func (c *call) endSpan(route string) {
	defer c.span.End()
	if !c.span.IsRecording() {
		return
	}
	c.span.SetName(route)
	c.span.SetAttributes(
		attribute.String("http.request.method", c.r.Method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", c.w.status), attribute.Int64("http.response.body.size", c.w.bytes),
		attribute.String("client.address", c.r.RemoteAddr), attribute.String("platen.request_id", c.id),
	)
	if c.w.status >= http.StatusInternalServerError {
		c.span.SetStatus(codes.Error, http.StatusText(c.w.status))
	}
}
