package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops bounds the addresses of X-Forwarded-For that are looked at, from the last one backwards.
const maxHops = 32

// clientAddress returns the address of the client that sent a request, for rate limits, logs, and audit events. Where the
// connection comes from a trusted proxy, it is the last address of X-Forwarded-For that is not a trusted proxy itself. A
// client may write anything into that header, but only in front of what the proxies append: what stands to the left of the
// first address that is not trusted, or is not an address, is never looked at.
//
// A connection from elsewhere keeps its own address and port, and the header is ignored.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	peer, ok := parseHop(r.RemoteAddr)
	if !ok || !isTrusted(peer, trusted) {
		return r.RemoteAddr
	}
	client := peer
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= max(0, len(hops)-maxHops); i-- {
		hop, ok := parseHop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		client = hop
		if !isTrusted(hop, trusted) {
			break
		}
	}
	return client.String()
}

// parseHop reads an address with or without a port: some proxies append one.
func parseHop(text string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return address.Unmap().WithZone(""), err == nil
}

func isTrusted(address netip.Addr, trusted []netip.Prefix) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address) })
}
