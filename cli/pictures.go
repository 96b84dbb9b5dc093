package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/sync/singleflight"

	"platen/docx/picture"
)

// Images with a URL in the data are fetched only from hosts that the operator lists: a URL in the data must not lead the server into its
// own network.

const (
	// pictureTimeout is the maximum time to fetch one image, including redirects. maxPictureRedirects is the maximum number of redirects.
	pictureTimeout, maxPictureRedirects = 10 * time.Second, 3
	// maxPictureAddress is the maximum length of a URL, in bytes.
	maxPictureAddress = 2048
	// pictureAge is the time for which a fetched image, or the failure to fetch it, is reused: the documents of a batch often share an
	// image. keptPictures is the maximum size of these images in bytes, and keptAnswers their maximum number.
	pictureAge, keptPictures, keptAnswers = time.Minute, 64 << 20, 10_000
)

// pictureHost is an allowed source of images.
type pictureHost struct {
	scheme, host, port string
	below              bool // the subdomains of host, without host itself
}

// pictureHosts is a comma-separated list of allowed sources, as a setting: example.com, *.example.com, example.com:8443,
// http://example.com, or an IP address such as 10.0.0.7.
type pictureHosts struct{ list []pictureHost }

func (h *pictureHosts) UnmarshalText(text []byte) error {
	h.list = nil
	for entry := range strings.SplitSeq(string(text), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		host, err := parsePictureHost(entry)
		if err != nil {
			return err
		}
		h.list = append(h.list, host)
	}
	return nil
}

func parsePictureHost(entry string) (pictureHost, error) {
	address := entry
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Path != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return pictureHost{}, fmt.Errorf("%q is not a host: write it like example.com, *.example.com, example.com:8443, or "+
			"http://example.com", entry)
	}
	h := pictureHost{scheme: u.Scheme, host: strings.ToLower(u.Hostname()), port: portOf(u)}
	h.host, h.below = strings.CutPrefix(h.host, "*.")
	if strings.Contains(h.host, "*") || h.below && !strings.Contains(h.host, ".") {
		return pictureHost{}, fmt.Errorf("%q allows too much: use * only for the subdomains of a domain, such as *.example.com", entry)
	}
	return h, nil
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

func (h pictureHosts) String() string {
	var all []string
	for _, host := range h.list {
		name := host.host
		if host.below {
			name = "*." + name
		}
		u := url.URL{Scheme: host.scheme, Host: net.JoinHostPort(name, host.port)}
		all = append(all, u.String())
	}
	return strings.Join(all, ", ")
}

// allow reports whether images may be fetched from a URL.
func (h pictureHosts) allow(u *url.URL) bool {
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return u.User == nil && slices.ContainsFunc(h.list, func(host pictureHost) bool {
		if u.Scheme != host.scheme || portOf(u) != host.port {
			return false
		}
		if host.below {
			return strings.HasSuffix(name, "."+host.host)
		}
		return name == host.host
	})
}

// source returns the function that fetches images, or nil if no host is allowed.
func (h pictureHosts) source() *pictureSource {
	if len(h.list) == 0 {
		return nil
	}
	s := &pictureSource{hosts: h, kept: map[string]fetched{}, down: map[string]time.Time{}, now: time.Now}
	dialer := &net.Dialer{Timeout: pictureTimeout, Control: h.guard()}
	s.client = &http.Client{
		Timeout: pictureTimeout,
		Transport: &http.Transport{ // without a proxy, which would connect without the guard
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: pictureTimeout, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: pictureAge,
			DisableCompression: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxPictureRedirects {
				return errors.New("too many redirects")
			}
			return s.check(r.URL)
		},
	}
	return s
}

// guard refuses connections to addresses that are not public, whatever name resolved to them, except IP addresses that the operator
// listed.
func (h pictureHosts) guard() func(network, address string, conn syscall.RawConn) error {
	listed := map[netip.AddrPort]bool{}
	for _, host := range h.list {
		if address, err := netip.ParseAddrPort(net.JoinHostPort(host.host, host.port)); err == nil {
			listed[address] = true
		}
	}
	public := ssrf.New(ssrf.WithAnyPort()) // the list has restricted the ports
	return func(network, address string, conn syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err == nil && listed[to] {
			return nil
		}
		return public.Safe(network, address, conn)
	}
}

// pictureSource fetches images. It is safe for concurrent use.
type pictureSource struct {
	hosts  pictureHosts
	client *http.Client
	flight singleflight.Group
	now    func() time.Time

	mu    sync.Mutex
	kept  map[string]fetched   // by URL
	down  map[string]time.Time // hosts that did not respond, and when
	bytes int
}

// fetched is the result of a fetch.
type fetched struct {
	data []byte
	err  error
	at   time.Time
}

// fetch returns the image at a URL. Its error completes a sentence whose subject is the image.
//
// If ctx ends, fetch returns immediately, but the fetch continues for others who may be waiting for it.
func (s *pictureSource) fetch(ctx context.Context, address string) ([]byte, error) {
	if f, ok := s.recall(address); ok {
		return f.data, f.err
	}
	flight := s.flight.DoChan(address, func() (any, error) {
		data, err := s.get(address)
		s.keep(address, fetched{data, err, s.now()})
		return data, err
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case done := <-flight:
		picture, _ := done.Val.([]byte)
		return picture, done.Err
	}
}

func (s *pictureSource) recall(address string) (fetched, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.kept[address]
	return f, ok && s.now().Sub(f.at) < pictureAge
}

// keep caches the result of a fetch. If the cache exceeds its limits, it is emptied, at the cost of fetching images again.
func (s *pictureSource) keep(address string, f fetched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += len(f.data) - len(s.kept[address].data)
	if s.bytes > keptPictures || len(s.kept) >= keptAnswers {
		clear(s.kept)
		s.bytes = len(f.data)
	}
	s.kept[address] = f
}

// check returns an error if images may not be fetched from a URL.
func (s *pictureSource) check(u *url.URL) error {
	if !s.hosts.allow(u) {
		return &hostError{u.Scheme + "://" + u.Host}
	}
	return nil
}

// hostError says that images may not be fetched from a host.
type hostError struct{ host string }

func (e *hostError) Error() string {
	return fmt.Sprintf("is at %q, which is not an allowed host: send the image as base64, or ask the operator to add the host to "+
		"--picture-hosts", e.host)
}

func (s *pictureSource) get(address string) ([]byte, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || len(address) > maxPictureAddress {
		return nil, errors.New("has an invalid URL")
	}
	if err := s.check(u); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("has an invalid URL")
	}
	request.Header.Set("User-Agent", "Platen/"+version())
	request.Header.Set("Accept", "image/*")
	if s.isDown(u.Host) {
		return nil, fmt.Errorf("could not be fetched from %s: the host did not respond a moment ago", u.Host)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, s.unfetched(u, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("could not be fetched from %s: the response was %s", u.Host, response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, picture.MaxBytes+1))
	if err != nil {
		return nil, s.unfetched(u, err)
	}
	if _, err := picture.Inspect(data); err != nil { // whatever the declared type
		return nil, fmt.Errorf("was fetched from %s, but %w", u.Host, err)
	}
	return data, nil
}

// isDown reports whether a host recently did not respond, so that its other images do not each wait for it.
func (s *pictureSource) isDown(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.down[host]
	return ok && s.now().Sub(at) < pictureAge
}

func (s *pictureSource) noteDown(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.down) >= keptAnswers {
		clear(s.down)
	}
	s.down[host] = s.now()
}

// unfetched returns a short error for a missing response, without details about the network.
func (s *pictureSource) unfetched(u *url.URL, err error) error {
	refused, ok := errors.AsType[*hostError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case ok:
		return refused
	case errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork):
		return fmt.Errorf("could not be fetched from %s: its IP address is not public", u.Host)
	case isNet && timeout.Timeout():
		s.noteDown(u.Host)
		return fmt.Errorf("could not be fetched from %s within %v", u.Host, pictureTimeout)
	}
	return fmt.Errorf("could not be fetched from %s: the host cannot be reached", u.Host)
}
