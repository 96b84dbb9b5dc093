package generate

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"platen/docgen"
)

// startDocument starts the span of a document in the trace of the request that created its batch. It starts when the batch was accepted.
func (s *slice) startDocument(ctx context.Context, job docgen.ClaimedJob) (context.Context, trace.Span) {
	ctx, span := s.tracer.Start(s.claim.Trace(ctx), "document", trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithTimestamp(s.claim.CreatedAt),
		trace.WithAttributes(
			attribute.Int64("platen.job_id", job.ID), attribute.String("platen.batch_id", s.claim.BatchID),
			attribute.String("platen.output_type", s.claim.OutputType), attribute.Int64("platen.template_version_id", s.claim.TemplateVersionID),
		))
	return ctx, span
}

// endWait records the time that a document waited, as a span that ends now.
func (s *slice) endWait(ctx context.Context) {
	_, waited := s.tracer.Start(ctx, "wait", trace.WithTimestamp(s.claim.CreatedAt))
	waited.End()
}

// endDocument ends the span of a document. It records whether the document failed or is incomplete, but not why, because that may
// contain data.
func endDocument(span trace.Span, result docgen.Result, err error) {
	switch {
	case err != nil:
		span.SetStatus(codes.Error, "an error of the server")
	case result.Isolate:
		span.SetStatus(codes.Error, "will be converted again in isolation")
	case result.Output == nil:
		span.SetStatus(codes.Error, "failed")
	}
	span.SetAttributes(attribute.Int("platen.errors", len(result.Failures.Errors)),
		attribute.Int("platen.warnings", len(result.Failures.Warnings)))
	span.End()
}

// span runs a part of the work on a document in a span of its own.
func (g *Generator) span(ctx context.Context, name string, work func(context.Context) error) error {
	ctx, span := g.tracer.Start(ctx, name)
	defer span.End()
	err := work(ctx)
	if err != nil {
		span.SetStatus(codes.Error, name+" failed")
	}
	return err
}
