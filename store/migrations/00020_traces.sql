-- The trace that a batch was accepted in, as the header traceparent (W3C Trace Context) names it; empty when there was none.

-- +goose Up
ALTER TABLE docgen_batches ADD COLUMN trace_parent TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE docgen_batches DROP COLUMN trace_parent;
