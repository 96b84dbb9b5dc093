package fair

import "context"

type claimantKey struct{}

// For returns a context for work on behalf of a claimant.
func For(ctx context.Context, c Claimant) context.Context {
	return context.WithValue(ctx, claimantKey{}, c)
}

// ClaimantOf returns the claimant that a context works for. It is the zero Claimant, which is nobody in particular, where
// [For] has not named one.
func ClaimantOf(ctx context.Context) Claimant {
	c, _ := ctx.Value(claimantKey{}).(Claimant)
	return c
}
