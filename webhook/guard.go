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
	// checkLimit is how long Check waits for the addresses of a name.
	checkLimit = 3 * time.Second
	// dialLimit is how long connecting may take, the name's addresses included. Some of the time for an answer must be left.
	dialLimit = 10 * time.Second
	// maxDialled is how many addresses of one name are tried, so that each has a share of the time that is worth trying.
	maxDialled = 4
)

// moreForbidden are addresses that code.dny.dev/ssrf takes for public ones. It refuses what IANA lists as special, in IPv4,
// and in IPv6 also all that is outside of 2000::/3.
var moreForbidden = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // the host of a virtual machine in Azure, which gives away its configuration
}

// privateSuffixes end names that mean something in one network alone.
var privateSuffixes = []string{
	"localhost", // RFC 6761, section 6.3
	"local",     // RFC 6762, section 3
	"internal",  // reserved for private use by ICANN in 2024; metadata.google.internal is one
	"home.arpa", // RFC 8375
}

// GuardConfig says where notifications may go besides the public internet.
type GuardConfig struct {
	Networks   []netip.Prefix // reachable besides the public addresses
	AnyAddress bool           // for development: http too, and every port and network
}

// Guard keeps notifications from going where they must not: an address that a user names must not lead the server into its
// own network. It is safe for use by many goroutines.
type Guard struct {
	networks   []netip.Prefix
	anyNetwork bool
	anyPort    bool
	anyScheme  bool
	public     *ssrf.Guardian
	lookup     func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewGuard returns a guard that lets notifications go to public addresses, to port 443 by https, and where c says.
func NewGuard(c GuardConfig) *Guard {
	g := &Guard{
		anyNetwork: c.AnyAddress, anyPort: c.AnyAddress, anyScheme: c.AnyAddress,
		public: ssrf.New(ssrf.WithDeniedV4Prefixes(moreForbidden...)),
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

// addressError says why no notification goes to an address, in a sentence for a person. It names no more of the address
// than its scheme, host and port: path and query may be secrets.
type addressError struct{ sentence string }

func (e *addressError) Error() string { return e.sentence }

func badAddress(format string, args ...any) error {
	return &addressError{fmt.Sprintf(format, args...)}
}

// Check judges an address when a webhook gets it: its form, and where its host is now. A name that leads nowhere is no
// fault, it may later. The error is a sentence for a person.
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

// parse judges the form of an address, and its host where that is a literal. The host of the result is ASCII.
func (g *Guard) parse(address string) (*url.URL, error) {
	if len(address) > docgen.MaxAddressLength {
		return nil, badAddress("the address is longer than %d bytes", docgen.MaxAddressLength)
	}
	if !utf8.ValidString(address) || strings.ContainsFunc(address, isBlankOrControl) {
		return nil, badAddress("the address has a blank or a control character in it, or is not UTF-8: write such bytes in percent-encoding, as %%20")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return nil, badAddress("the address is no URL: write it as https://hooks.example.com/path")
	case u.Scheme != "https" && (u.Scheme != "http" || !g.anyScheme):
		return nil, badAddress("the address begins with %s:, but notifications go by https alone, so that nobody reads or changes them on their way", u.Scheme)
	case u.Hostname() == "":
		return nil, badAddress("the address names no host: write it as https://hooks.example.com/path")
	case u.User != nil:
		return nil, badAddress("the address has a user or a password before its host: leave them out; a receiver knows us by the signature")
	case strings.Contains(address, "#"):
		return nil, badAddress("the address has a fragment, which is never sent: leave out what begins with #")
	case !g.allowsPort(u.Port()):
		return nil, badAddress("the address has port %s, but notifications go to port 443 alone", u.Port())
	}
	return u, g.checkHost(u)
}

// allowsPort tells whether notifications may go to a port; without one, it is that of the scheme.
func (g *Guard) allowsPort(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || port == "443" || g.anyPort && err == nil && number > 0
}

func isBlankOrControl(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }

// checkHost judges a host by how it is written, and makes its form ASCII as the HTTP client does, which turns other digits
// and dots into those of an IP address.
func (g *Guard) checkHost(u *url.URL) error {
	host := u.Hostname()
	ascii, err := idna.Lookup.ToASCII(host)
	if isASCII(host) {
		ascii, err = host, nil
	}
	if err != nil {
		return badAddress("the host of the address is no name of the internet: write it as in https://hooks.example.com/path")
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

// checkName judges a host that is no proper literal.
func (g *Guard) checkName(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	private := slices.ContainsFunc(privateSuffixes, func(suffix string) bool {
		return name == suffix || strings.HasSuffix(name, "."+suffix)
	})
	switch {
	case !isName(name):
		return badAddress("the host of the address is no name of the internet: write it as in https://hooks.example.com/path")
	case isNumber(labels[len(labels)-1]): // resolvers take 127.1, 0x7f.1 and 2130706433 for addresses, each in its own way
		return badAddress("the host of the address is an IP address in a form that not all read alike: write four decimal numbers, as in 192.0.2.7")
	case (private || len(labels) == 1) && len(g.networks) == 0 && !g.anyNetwork:
		return badAddress("the host %s is known in a private network alone: use a name of the internet, or have the operator allow the network", host)
	}
	return nil
}

// isName tells whether a host is labels of letters, digits, - and _, of the lengths that names may have.
func isName(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return len(host) <= 253 && strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isNumber tells whether a label is a number, decimal, octal or hexadecimal. No name of the internet ends in one.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	return strings.Trim(digits, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// judge refuses an IP address that notifications must not go to. The sentence does not say which one a name leads to:
// that is a matter of the network it is in.
func (g *Guard) judge(host string, ip netip.Addr) error {
	if g.allows(ip) {
		return nil
	}
	return badAddress("the host %s is not at a public address: use one that the internet reaches, or have the operator allow the network", host)
}

// allows tells whether notifications may go to an IP address. What is an IPv4 address in the form of IPv6 is in the
// networks of IPv4, but it is no public address.
func (g *Guard) allows(ip netip.Addr) bool {
	plain := ip.Unmap().WithZone("")
	if g.anyNetwork || slices.ContainsFunc(g.networks, func(n netip.Prefix) bool { return n.Contains(plain) }) {
		return true
	}
	return ip.IsValid() && !isISATAP(ip) && g.public.SafeAddr(ip) == nil
}

// isISATAP tells an address of IPv6 that holds one of IPv4 in its last half (RFC 5214, section 6.1). The first half is of
// any network, so it is in no table.
func isISATAP(ip netip.Addr) bool {
	b := ip.As16()
	return ip.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// resolve returns the IP addresses of a host, when notifications may go to every one of them.
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
		found[i] = ip.Unmap() // the resolver of the system gives IPv4 in the form of IPv6
		if err := g.judge(host, found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// dial connects to a host as http.Transport asks. The addresses that are judged are those that are dialled: a name that
// leads elsewhere a moment later leads nowhere.
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
	found = found[:min(len(found), maxDialled)]
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

// dialOne connects to one address, in its share of the time that is left for so many.
func (g *Guard) dialOne(ctx context.Context, network, address string, left int) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	dialer := net.Dialer{Timeout: time.Until(deadline) / time.Duration(left), Control: g.control}
	return dialer.DialContext(ctx, network, address)
}

// control judges a connection once more, just before it is made.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(to.Addr()) {
		return badAddress("the receiver is not at a public address")
	}
	return nil
}
