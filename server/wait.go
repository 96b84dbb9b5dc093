package server

import (
	"context"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"platen/docgen"
)

// A waitParam is the query parameter with which a request waits for a batch or a job.
type waitParam string

// Schema describes the parameter for the OpenAPI document.
func (waitParam) Schema(huma.Registry) *huma.Schema {
	return waitSchema("Seconds to wait for the end before the response (default 0, maximum 60). A Platen extension.")
}

// waitSchema describes a number of seconds to wait.
func waitSchema(description string) *huma.Schema {
	least, most := 0.0, docgen.MaxWait.Seconds()
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: &least, Maximum: &most, Examples: []any{30}, Description: description,
	}
}

func (p waitParam) parse() (time.Duration, error) {
	if p == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(p), 10, 32)
	if wait := seconds(int64(n)); err == nil && wait <= docgen.MaxWait {
		return wait, nil
	}
	return 0, invalidParam("wait", "wait must be a number of seconds from 0 to %.0f", docgen.MaxWait.Seconds())
}

// waited returns an object immediately or, if the request waits, when it has ended, the time is up, or the server stops.
func waited[K, T any](ctx context.Context, c *call, param waitParam, id K,
	get func(context.Context, *docgen.Caller, K) (T, error),
	wait func(context.Context, *docgen.Caller, K, time.Duration, <-chan struct{}) (T, error)) (found T, err error) {
	d, err := param.parse()
	if err != nil {
		return found, err
	}
	if d == 0 {
		return get(ctx, c.caller, id)
	}
	if err := c.holdWaiting(); err != nil {
		return found, err
	}
	return wait(ctx, c.caller, id, d, stoppingOf(ctx).Done())
}
