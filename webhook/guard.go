package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"

	"platen/docgen"
)

const (
	// checkLimit is the time Check waits for name resolution.
	checkLimit = 3 * time.Second
	// dialLimit bounds connecting, including name resolution. It is shorter than the time limit of an attempt.
	dialLimit = 10 * time.Second
	// dialedAddresses is the maximum number of addresses of one name to try. They share dialLimit equally.
	dialedAddresses = 4
)

// extraDenied lists special addresses that code.dny.dev/ssrf considers public. That package rejects the special-purpose blocks
// of IANA, and everything in IPv6 outside 2000::/3.
var extraDenied = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // the host of an Azure virtual machine, which exposes the machine's configuration
}

// privateSuffixes lists the domains of names that have a meaning only within one network.
var privateSuffixes = []string{
	"localhost", // RFC 6761, section 6.3
	"local",     // RFC 6762, section 3
	"internal",  // reserved for private use by ICANN in 2024; metadata.google.internal is one
	"home.arpa", // RFC 8375
}

// GuardConfig permits addresses other than public ones.
type GuardConfig struct {
	Networks   []netip.Prefix // permitted networks
	AnyAddress bool           // for development: permits http, and every port and network
}

// Guard decides which addresses notifications may be sent to. Users choose the addresses, and must not reach the server's own
// network through them. Guard is safe for concurrent use.
type Guard struct {
	networks   []netip.Prefix
	anyNetwork bool
	anyPort    bool
	anyScheme  bool
	public     *ssrf.Guardian
	lookup     func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewGuard returns a guard that permits https on port 443 to public addresses, and what c permits.
func NewGuard(c GuardConfig) *Guard {
	g := &Guard{
		anyNetwork: c.AnyAddress, anyPort: c.AnyAddress, anyScheme: c.AnyAddress,
		public: ssrf.New(ssrf.WithDeniedV4Prefixes(extraDenied...)),
		lookup: net.DefaultResolver.LookupNetIP,
	}
	for _, network := range c.Networks {
		if network.Addr().Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
		}
		g.networks = append(g.networks, network.Masked())
	}
	return g
}

// addressError is the reason why an address is rejected, in a sentence for users. It contains at most the scheme, host, and port
// of the address, because its path and query may be secrets.
type addressError struct{ sentence string }

func (e *addressError) Error() string { return e.sentence }

func badAddress(format string, args ...any) error {
	return &addressError{fmt.Sprintf(format, args...)}
}

// Check checks the address of a new webhook: its form, and the addresses that its host currently resolves to. It accepts names
// that do not resolve, because they may later. The error is a sentence for users.
func (g *Guard) Check(ctx context.Context, address string) error {
	u, err := g.parse(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	_, err = g.resolve(ctx, u.Hostname())
	if forbidden, ok := errors.AsType[*addressError](err); ok {
		return forbidden
	}
	return nil
}

// parse checks the form of an address, and its host if that is an IP address. The host of the result is ASCII.
func (g *Guard) parse(address string) (*url.URL, error) {
	if len(address) > docgen.MaxAddressLength {
		return nil, badAddress("the address is longer than %d bytes", docgen.MaxAddressLength)
	}
	if !utf8.ValidString(address) || strings.ContainsFunc(address, isBlankOrControl) {
		return nil, badAddress("the address contains whitespace or control characters, or is not UTF-8: use percent-encoding, such as %%20")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return nil, badAddress("the address is not a URL: write it like https://hooks.example.com/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !g.anyScheme):
		return nil, badAddress("the address begins with %s:, but only https is permitted, which protects notifications in transit", u.Scheme)
	case u.Hostname() == "":
		return nil, badAddress("the address has no host: write it like https://hooks.example.com/path")
	case u.User != nil:
		return nil, badAddress("the address contains a user or password: remove them; receivers authenticate notifications by the signature")
	case strings.Contains(address, "#"):
		return nil, badAddress("the address has a fragment, which is never sent: remove the # and everything after it")
	case !g.allowsPort(u.Port()):
		return nil, badAddress("the address has port %s, but only port 443 is permitted", u.Port())
	}
	return u, g.checkHost(u)
}

// allowsPort reports whether notifications may be sent to a port; "" is the default port of the scheme.
func (g *Guard) allowsPort(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || port == "443" || g.anyPort && err == nil && number > 0
}

func isBlankOrControl(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }

// checkHost checks the form of u's host, and converts the host to ASCII as the HTTP client does. The conversion maps non-ASCII
// digits and dots to ASCII, so the result may be an IP address.
func (g *Guard) checkHost(u *url.URL) error {
	host := u.Hostname()
	ascii, err := idna.Lookup.ToASCII(host)
	if isASCII(host) {
		ascii, err = host, nil
	}
	if err != nil {
		return badAddress("the host of the address is not a valid DNS name: write it like https://hooks.example.com/path")
	}
	u.Host = strings.Replace(u.Host, host, ascii, 1)
	if ip, err := netip.ParseAddr(ascii); err == nil {
		return g.judge(ascii, ip)
	}
	return g.checkName(ascii)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// checkName checks a host that netip.ParseAddr does not accept as an IP address.
func (g *Guard) checkName(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	private := slices.ContainsFunc(privateSuffixes, func(suffix string) bool {
		return name == suffix || strings.HasSuffix(name, "."+suffix)
	})
	switch {
	case !isName(name):
		return badAddress("the host of the address is not a valid DNS name: write it like https://hooks.example.com/path")
	case isNumber(labels[len(labels)-1]): // resolvers interpret 127.1, 0x7f.1, and 2130706433 as addresses, each in its own way
		return badAddress("the host of the address is an IP address in an ambiguous form: write four decimal numbers, as in 192.0.2.7")
	case (private || len(labels) == 1) && len(g.networks) == 0 && !g.anyNetwork:
		return badAddress("the host %s is only known in a private network: use a public name, or ask the operator to permit the network", host)
	}
	return nil
}

// isName reports whether a host consists of labels of letters, digits, hyphens, and underscores, of the lengths that DNS permits.
func isName(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return len(host) <= 253 && strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isNumber reports whether a label is a decimal, octal, or hexadecimal number. No public name ends in one.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	return strings.Trim(digits, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// judge rejects an IP address that notifications must not be sent to. The error does not contain the address that a name
// resolves to, because that would reveal the private network.
func (g *Guard) judge(host string, ip netip.Addr) error {
	if g.allows(ip) {
		return nil
	}
	return badAddress("the host %s does not have a public IP address: use a public one, or ask the operator to permit the network", host)
}

// allows reports whether notifications may be sent to an IP address. An IPv4-mapped IPv6 address may be in a permitted IPv4
// network, but is never a public address.
func (g *Guard) allows(ip netip.Addr) bool {
	plain := ip.Unmap().WithZone("")
	if g.anyNetwork || slices.ContainsFunc(g.networks, func(n netip.Prefix) bool { return n.Contains(plain) }) {
		return true
	}
	return ip.IsValid() && !isISATAP(ip) && g.public.SafeAddr(ip) == nil
}

// isISATAP reports whether the interface identifier of an IPv6 address embeds an IPv4 address (RFC 5214, section 6.1). No list of
// prefixes covers these addresses, because they can be in any network.
func isISATAP(ip netip.Addr) bool {
	b := ip.As16()
	return ip.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// resolve returns the IP addresses of a host. It returns an error if notifications may not be sent to one of them.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, g.judge(host, ip)
	}
	found, err := g.lookup(ctx, "ip", host)
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	if err != nil {
		return nil, err
	}
	for i, ip := range found {
		found[i] = ip.Unmap() // the system's resolver returns IPv4-mapped IPv6 addresses
		if err := g.judge(host, found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// dial connects to a host on behalf of http.Transport. It connects to the very addresses that it checked, so a name that resolves
// to others a moment later does not bypass the check.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	found = found[:min(len(found), dialedAddresses)]
	failures := []error{}
	for i, ip := range found {
		conn, err := g.dialOne(ctx, network, net.JoinHostPort(ip.String(), port), len(found)-i)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// dialOne connects to one address. It uses an equal share of the remaining time, which left addresses share.
func (g *Guard) dialOne(ctx context.Context, network, address string, left int) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	dialer := net.Dialer{Timeout: time.Until(deadline) / time.Duration(left), Control: g.control}
	return dialer.DialContext(ctx, network, address)
}

// control checks the address of a connection again, just before it is made.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(to.Addr()) {
		return badAddress("the receiver does not have a public IP address")
	}
	return nil
}
