package fair

import "context"

type claimantKey struct{}

// For returns a context for work on behalf of a claimant.
func For(ctx context.Context, c Claimant) context.Context {
	return context.WithValue(ctx, claimantKey{}, c)
}

// ClaimantOf returns the claimant of a context, or the zero Claimant if [For] has not set one.
func ClaimantOf(ctx context.Context) Claimant {
	c, _ := ctx.Value(claimantKey{}).(Claimant)
	return c
}
