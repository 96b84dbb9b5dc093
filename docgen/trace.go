package docgen

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
)

// traceContext reads and writes the header traceparent (W3C Trace Context, section 3.2).
var traceContext propagation.TraceContext

// traceParentKey is the name of the header.
const traceParentKey = "traceparent"

// traceParent returns the trace context of an operation, or "" if it is not part of a trace.
func traceParent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	traceContext.Inject(ctx, carrier)
	return carrier[traceParentKey]
}

// Trace returns a context in the trace of the request that created the batch of a claim. The documents are generated later, possibly by
// another server, and their spans continue that trace.
func (c *Claim) Trace(ctx context.Context) context.Context {
	return traceContext.Extract(ctx, propagation.MapCarrier{traceParentKey: c.traceParent})
}
