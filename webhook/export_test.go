package webhook

import (
	"context"
	"net/netip"
)

// Waiting returns the number of tasks that wait for a slot.
func (d *Deliverer) Waiting() int { return d.slots.Waiting() }

// LookUp has a guard look up names with a function.
func (g *Guard) LookUp(lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) {
	g.lookup = lookup
}
