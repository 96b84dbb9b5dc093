package webhook

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/idna"

	"platen/docgen"
)

// names returns a resolver that gives each answer once, in sequence, and then repeats the last.
func names(answers map[string][]string) func(context.Context, string, string) ([]netip.Addr, error) {
	return func(_ context.Context, _, host string) ([]netip.Addr, error) {
		left := answers[host]
		if len(left) == 0 {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		if len(left) > 1 {
			answers[host] = left[1:]
		}
		var found []netip.Addr
		for ip := range strings.FieldsSeq(left[0]) {
			found = append(found, netip.MustParseAddr(ip))
		}
		return found, nil
	}
}

// guardOf returns a guard that resolves names to these answers.
func guardOf(c GuardConfig, answers map[string][]string) *Guard {
	g := NewGuard(c)
	g.lookup = names(answers)
	return g
}

func prefixes(networks ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, network := range networks {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}

func TestCheckForm(t *testing.T) {
	g := guardOf(GuardConfig{}, map[string][]string{
		"hooks.example.com": {"93.184.215.14"}, "xn--bcher-kva.example": {"93.184.215.14"}, "a_b.example.com.": {"93.184.215.14"},
		"mapped.example.com": {"::ffff:93.184.215.14"}, "xn--mller-kva.example": {"10.0.0.1"},
	})
	for _, address := range []string{
		"https://hooks.example.com", "https://hooks.example.com/", "https://hooks.example.com:443/a/b?key=1&c=%20", "HTTPS://HOOKS.example.com/",
		"https://hooks.example.com:/a", "https://hooks.example.com?key=1", "https://bücher.example/a", "https://a_b.example.com./",
		"https://nowhere.example.com/", "https://mapped.example.com/", "https://8.8.8.8/a", "https://[2606:4700::1111]/a",
		"https://[2606:4700::1111]:443",
		"https://hooks.example.com/" + strings.Repeat("a", docgen.MaxAddressLength-26),
	} {
		if err := g.Check(t.Context(), address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"":                                         "is not a URL",
		"hooks.example.com/a":                      "is not a URL",
		"//hooks.example.com/a":                    "is not a URL",
		"https://hooks.example.com:port/":          "is not a URL",
		"https://hooks.example.com/%zz":            "is not a URL",
		"https://[::1/":                            "is not a URL",
		"https://2606:4700::1111/":                 "",
		"https:hooks.example.com":                  "has no host",
		"https:///secret":                          "has no host",
		"https://:443/secret":                      "has no host",
		"http://hooks.example.com/secret":          "begins with http:, but",
		"ftp://hooks.example.com/secret":           "begins with ftp:, but",
		"javascript:secret()":                      "begins with javascript:, but",
		"https://u:secret@hooks.example.com/":      "remove them",
		"https://secret@hooks.example.com/":        "remove them",
		"https://@hooks.example.com/":              "remove them",
		"https://hooks.example.com\\@10.0.0.1/":    "",
		"https://hooks.example.com/#secret":        "fragment",
		"https://hooks.example.com/#":              "fragment",
		"https://hooks.example.com:8443/secret":    "port 8443, but",
		"https://hooks.example.com:80/secret":      "port 80, but",
		"https://hooks.example.com:0443/secret":    "port 0443, but",
		"https://hooks.example.com:0/secret":       "port 0, but",
		"https://hooks.example.com/secret\r\nX: y": "control character",
		"https://hooks.example.com/secret\x00":     "control character",
		"https://hooks.example.com/\x7fsecret":     "control character",
		"https://hooks.example.com/secret\u0085":   "control character",
		" https://hooks.example.com/secret":        "whitespace",
		"https://hooks.example.com/secret ":        "whitespace",
		"https://hooks.example.com/\xff":           "not UTF-8",
		"https://hooks.example.com/" + strings.Repeat("a", docgen.MaxAddressLength-25): "longer than 2048",
		"https://müller.example/":                         "host xn--mller-kva.example does not have a public IP address",
		"https://hooks..example.com/":                     "not a valid DNS name",
		"https://hooks.example.com../":                    "not a valid DNS name",
		"https://hooks.ex%61mple.com/":                    "",
		"https://hooks.ex*mple.com/":                      "not a valid DNS name",
		"https://" + strings.Repeat("a", 64) + ".com/":    "not a valid DNS name",
		"https://" + strings.Repeat("abc.", 63) + "abcd/": "not a valid DNS name",
		"https://a\u200db.example.com/":                   "not a valid DNS name",
		"https://\u202eexample.com/":                      "not a valid DNS name",
	} {
		err := g.Check(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", address, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error repeats a secret: %v", address, err)
		}
	}
}

func TestCheckPrivateNames(t *testing.T) {
	strict := guardOf(GuardConfig{}, nil)
	network := guardOf(GuardConfig{Networks: prefixes("10.0.0.0/8")},
		map[string][]string{"localhost": {"127.0.0.1"}, "crm.internal": {"10.1.2.3"}})
	open := guardOf(GuardConfig{AnyAddress: true}, nil)
	for _, host := range []string{"localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "metadata.google.internal",
		"nas.home.arpa", "crm"} {
		address := "https://" + host + "/secret"
		if err := strict.Check(t.Context(), address); err == nil || !strings.Contains(err.Error(), "only known in a private network") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", address, err)
		}
		if err := open.Check(t.Context(), address); err != nil {
			t.Errorf("any address, %s: %v", address, err)
		}
	}
	if err := network.Check(t.Context(), "https://crm.internal/"); err != nil {
		t.Errorf("a name in an allowed network: %v", err)
	}
	if err := network.Check(t.Context(), "https://localhost/"); err == nil {
		t.Error("a name in another network was accepted")
	}
	for _, address := range []string{"http://127.0.0.1:3000/hook", "http://localhost:3000", "https://[::1]:1/", "http://crm:65535",
		"https://[fe80::1%25eth0]/"} {
		if err := open.Check(t.Context(), address); err != nil {
			t.Errorf("any address, %s: %v", address, err)
		}
	}
	for _, address := range []string{"http://127.0.0.1:0/", "http://127.0.0.1:65536/", "ftp://127.0.0.1/", "http://0x7f.1/"} {
		if err := open.Check(t.Context(), address); err == nil {
			t.Errorf("any address, %s was accepted", address)
		}
	}
}

// forbiddenAddresses has examples of every kind of address that is not public, by the kind and the RFC that defines it.
var forbiddenAddresses = map[string][]string{
	"this network, RFC 791":         {"0.0.0.0", "0.1.2.3"},
	"unspecified, RFC 4291":         {"::"},
	"loopback, RFC 1122 and 4291":   {"127.0.0.1", "127.255.255.254", "::1"},
	"private, RFC 1918":             {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"},
	"unique local, RFC 4193":        {"fc00::1", "fdff::1"},
	"link-local, RFC 3927 and 4291": {"169.254.1.1", "fe80::1", "febf::1"},
	"site-local, RFC 3879":          {"fec0::1"},
	"cloud metadata": {"169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192",
		"168.63.129.16"},
	"shared (CGNAT), RFC 6598":               {"100.64.0.1", "100.127.255.255"},
	"NAT64, RFC 6052 and 8215":               {"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1"},
	"6to4, RFC 3056 and 7526":                {"2002:7f00:1::", "2002:808:808::1", "192.88.99.1"},
	"Teredo, RFC 4380":                       {"2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"},
	"ISATAP, RFC 5214":                       {"2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:8.8.8.8"},
	"multicast, RFC 1112 and 4291":           {"224.0.0.1", "239.255.255.255", "ff02::1"},
	"broadcast and reserved, RFC 1112":       {"255.255.255.255", "240.0.0.1"},
	"IPv4-mapped, RFC 4291":                  {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8"},
	"IPv4-compatible, RFC 4291":              {"::127.0.0.1", "::8.8.8.8"},
	"IPv4-translated, RFC 2765":              {"::ffff:0:127.0.0.1"},
	"documentation, RFC 5737, 3849 and 9637": {"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"},
	"benchmarks, RFC 2544 and 5180":          {"198.18.0.1", "198.19.255.255", "2001:2::1"},
	"ORCHID, RFC 4843 and 7343":              {"2001:10::1", "2001:20::1"},
	"discard, RFC 6666":                      {"100::1"},
	"protocol assignments, RFC 6890":         {"192.0.0.1"},
	"AS112, RFC 7534 and 7535":               {"192.31.196.1", "192.175.48.1", "2620:4f:8000::1"},
	"segments, RFC 9602":                     {"5f00::1"},
}

func TestForbiddenAddresses(t *testing.T) {
	for kind, ips := range forbiddenAddresses {
		for _, text := range ips {
			ip := netip.MustParseAddr(text)
			literal := text
			if ip.Is6() {
				literal = "[" + text + "]"
			}
			g := guardOf(GuardConfig{}, map[string][]string{"hooks.example.com": {"93.184.215.14 " + text}})
			if err := g.Check(t.Context(), "https://"+literal+"/secret"); err == nil ||
				!strings.Contains(err.Error(), "does not have a public IP address") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: error %v", kind, text, err)
			}
			if ip.Is4In6() && g.allows(ip.Unmap()) {
				continue // resolvers return public IPv4 addresses in this form
			}
			err := g.Check(t.Context(), "https://hooks.example.com/secret")
			if err == nil || !strings.Contains(err.Error(), "hooks.example.com does not have") || strings.Contains(err.Error(), text) {
				t.Errorf("%s, a name with %s: error %v", kind, text, err)
			}
			if conn, err := g.dial(t.Context(), "tcp", "hooks.example.com:443"); err == nil {
				shut(t, conn)
				t.Errorf("%s, a name with %s was dialed", kind, text)
			}
			if err := g.control("tcp", netip.AddrPortFrom(ip, 443).String(), nil); err == nil {
				t.Errorf("%s, %s was permitted just before connecting", kind, text)
			}
		}
	}
}

// TestSpellings checks that nothing is accepted that a person, a browser, or a resolver may read as 127.0.0.1.
func TestSpellings(t *testing.T) {
	g := guardOf(GuardConfig{}, nil)
	for _, host := range []string{
		"2130706433", "0x7f000001", "0X7F000001", "017700000001", "127.1", "127.0.1", "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01",
		"127.0.0.0x1",
		"127.0.0.1.", "127.000.000.001", "1.2.3.4.5", "256.256.256.256", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
		"[::1%25eth0]", "[fe80::1%25lo]", "[2606:4700::1%25eth0]", "[127.0.0.1]", "１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "1２7．0．0．1",
		"%31%32%37.0.0.1", "ⓛocalhost", "0x", "0",
	} {
		if err := g.Check(t.Context(), "https://"+host+"/"); err == nil {
			t.Errorf("%s was accepted", host)
		}
	}
}

func TestAllowedNetworks(t *testing.T) {
	g := guardOf(GuardConfig{Networks: prefixes("10.1.0.0/16", "fd12::/16", "::ffff:192.168.7.0/120", "10.2.3.4/24")}, nil)
	for text, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.3.0.1": false, "::ffff:10.3.0.1": false, "fd12::1": true, "fd13::1": false,
		"192.168.7.9": true, "::ffff:192.168.7.9": true, "192.168.8.9": false, "10.2.3.9": true, "8.8.8.8": true, "127.0.0.1": false,
		"::10.1.2.3": false,
	} {
		if got := g.allows(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: allowed %v, want %v", text, got, want)
		}
	}
	if err := g.Check(t.Context(), "http://10.1.2.3/"); err == nil {
		t.Error("permitting a network also permitted http")
	}
	if err := g.Check(t.Context(), "https://10.1.2.3:8443/"); err == nil {
		t.Error("permitting a network also permitted another port")
	}
}

// shut closes c, and fails the test if that fails.
func shut(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// listen starts a server, and returns its port and a channel that receives a value for each connection.
func listen(t *testing.T) (port string, accepted <-chan net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() {
		shut(t, listener)
		<-done
		close(conns)
		for conn := range conns {
			shut(t, conn)
		}
	})
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, conns
}

func TestRebinding(t *testing.T) {
	port, accepted := listen(t)
	g := guardOf(GuardConfig{}, map[string][]string{"hooks.example.com": {"93.184.215.14", "127.0.0.1"}})
	g.anyPort = true
	if err := g.Check(t.Context(), "https://hooks.example.com:"+port+"/"); err != nil {
		t.Fatal(err)
	}
	conn, err := g.dial(t.Context(), "tcp", "hooks.example.com:"+port)
	if _, ok := errors.AsType[*addressError](err); !ok {
		t.Errorf("dialed %v with error %v after the name changed", conn, err)
	}
	if len(accepted) > 0 {
		t.Error("the private address received a connection")
	}
}

// TestDialIsPinned checks that dial connects to the address that was checked, and does not resolve the name again.
func TestDialIsPinned(t *testing.T) {
	port, accepted := listen(t)
	answers := map[string][]string{"hooks.example.com": {"127.0.0.1", "10.0.0.1"}}
	g := guardOf(GuardConfig{Networks: prefixes("127.0.0.0/8")}, answers)
	conn, err := g.dial(t.Context(), "tcp", "hooks.example.com:"+port)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, conn)
	shut(t, <-accepted)
	if left := answers["hooks.example.com"]; !slices.Equal(left, []string{"10.0.0.1"}) {
		t.Errorf("answers left: %q, want one taken", left)
	}
}

func TestDialTriesAddressesInTurn(t *testing.T) {
	port, accepted := listen(t)
	g := guardOf(GuardConfig{Networks: prefixes("127.0.0.0/8")}, map[string][]string{
		"hooks.example.com": {"127.0.0.2 ::ffff:127.0.0.3 127.0.0.1"},
		"dead.example.com":  {"127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 127.0.0.6 127.0.0.7"},
	})
	conn, err := g.dial(t.Context(), "tcp", "hooks.example.com:"+port)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, conn)
	shut(t, <-accepted)
	_, err = g.dial(t.Context(), "tcp", "dead.example.com:"+port)
	failures, ok := err.(interface{ Unwrap() []error })
	if !errors.Is(err, syscall.ECONNREFUSED) || !ok || len(failures.Unwrap()) != dialedAddresses {
		t.Errorf("error %v, want %d refused connections", err, dialedAddresses)
	}
	if _, err := g.dial(t.Context(), "tcp", "nowhere.example.com:"+port); err == nil {
		t.Error("a name that does not resolve was dialed")
	}
}

func TestCheckDoesNotWaitForNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(GuardConfig{})
		g.lookup = func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		began := time.Now()
		if err := g.Check(t.Context(), "https://hooks.example.com/"); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != checkLimit {
			t.Errorf("took %v", took)
		}
	})
}

// FuzzAddress checks accepted addresses with an independent parser.
func FuzzAddress(f *testing.F) {
	for _, host := range []string{"hooks.example.com", "8.8.8.8", "[2606:4700::1111]", "0x7f.1", "127.1", "１２７.０.０.１", "[::ffff:127.0.0.1]",
		"[fe80::1%25eth0]", "bücher.example", "a:443", "u@h", "10.0.0.1."} {
		f.Add("https://" + host + "/a?b")
	}
	f.Add("http://hooks.example.com/\x00#")
	f.Fuzz(func(t *testing.T, address string) {
		g := guardOf(GuardConfig{}, nil)
		if g.Check(t.Context(), address) != nil {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.Port() != "" && u.Port() != "443" || u.User != nil || u.Fragment != "" ||
			u.Hostname() == "" || len(address) > docgen.MaxAddressLength {
			t.Fatalf("accepted %q", address)
		}
		host := u.Hostname()
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
		if ip, ok := inetAton(strings.TrimSuffix(host, ".")); ok && (ip.IsPrivate() || ip.IsLoopback() || !ip.IsGlobalUnicast()) {
			t.Fatalf("accepted %q, which is %v", address, ip)
		}
	})
}

// inetAton parses an IPv4 address as the C function inet_aton does, or an IPv6 address.
func inetAton(host string) (net.IP, bool) {
	if strings.Contains(host, ":") {
		address, _, _ := strings.Cut(host, "%")
		ip := net.ParseIP(address)
		return ip, ip != nil
	}
	parts := strings.Split(host, ".")
	var value uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, 0, max(bits, 0))
		if err != nil || len(parts) > 4 || strings.ContainsAny(part, "_oO") || strings.HasPrefix(strings.ToLower(part), "0b") {
			return nil, false
		}
		value = value<<bits | n
	}
	return net.IPv4(byte(value>>24), byte(value>>16), byte(value>>8), byte(value)), true
}
