package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is the number of addresses of X-Forwarded-For that are examined, starting from the last one.
const maxHops = 32

// clientAddress returns the address of the client that sent a request, for rate limits, logs, and audit events. If the connection comes
// from a trusted proxy, that is the last address of X-Forwarded-For that is not a trusted proxy. Clients can forge that header, but only
// to the left of what the proxies append: entries to the left of the first one that is not trusted, or not an address, are ignored.
//
// For any other connection, it is the address and port of the connection, and the header is ignored.
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

// parseHop parses an address with or without a port, because some proxies append one.
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
