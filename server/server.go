// Package server is the HTTP API: it decodes a request, calls one operation of docgen, and encodes the answer. What is
// allowed and what is true is docgen's to say; here is what HTTP adds: access tokens, the version header, rate limits,
// the limits of bodies, error bodies, and the documents that describe it all.
package server

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"platen/docgen"
)

// Config is what the API stands on.
type Config struct {
	Service    *docgen.Service
	Log        *slog.Logger         // slog.Default when nil
	BaseURL    string               // where clients reach the server, without the /2.0; for links in answers
	Version    string               // of the server, for the OpenAPI document
	RateLimits RateLimits           // requests a minute
	Rates      RateCounter          // where requests are counted that several servers answer; nil when there is one
	Now        func() time.Time     // by which requests are counted; time.Now when nil
	Compat     Compat               // whose clients the server bears with
	InFlight   InFlight             // what requests may hold while they are answered
	Metrics    *prometheus.Registry // where the server counts, and what /metrics shows; a new one when nil

	// Tracer records a span of each request; none when nil.
	Tracer trace.Tracer
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed; none when empty.
	TrustedProxies []netip.Prefix

	// PDF tells why no PDFs can be made, or nil where they can.
	PDF func() error
	// Sign returns the headers that a notification is sent with, signed with some keys; none when nil.
	Sign func(docgen.Delivery, []docgen.SigningKey) map[string]string
}

// Compat names the clients for which the server relaxes what its interface demands and they do not keep.
type Compat string

// What Compat may be. Without it every operation under /2.0 demands the version header, as the interface says. The
// clients of Box send it with the operations of the version 2025.0 alone.
const (
	CompatNone Compat = ""
	CompatBox  Compat = "box"
)

// prefix is the path segment that the contract puts before every operation.
const prefix = "/2.0"

type api struct {
	service    *docgen.Service
	log        *slog.Logger
	baseURL    string
	compat     Compat
	public     *site
	internal   *site // public unless metrics and documentation have an address of their own
	huma       huma.API
	operations []*huma.Operation // in the order of the documentation
	metrics    *metrics

	proxies []netip.Prefix // that are trusted
	tracer  trace.Tracer
	limiter limiter
	in      *inFlight
	pdf     func() error
	sign    func(docgen.Delivery, []docgen.SigningKey) map[string]string
}

// site is what is served at one address.
type site struct {
	mux        *http.ServeMux
	compressed http.Handler // mux, for clients that accept it
}

func newSite() *site {
	mux := http.NewServeMux()
	return &site{mux: mux, compressed: compressing(mux)}
}

// New returns the handler of everything below the server's address: the operations under /2.0, the health checks and
// metrics, and the documentation.
func New(cfg Config) http.Handler {
	public := newSite()
	return newAPI(cfg, public, public)
}

// NewDivided returns two handlers: public serves the operations and the health checks, internal serves the health checks,
// the metrics, and the documentation.
func NewDivided(cfg Config) (public, internal http.Handler) {
	a := newAPI(cfg, newSite(), newSite())
	return a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(a.internal, w, r) })
}

func newAPI(cfg Config, public, internal *site) *api {
	a := &api{
		service: cfg.Service,
		log:     cfg.Log,
		baseURL: strings.TrimSuffix(cfg.BaseURL, "/"),
		compat:  cfg.Compat,
		public:  public, internal: internal, proxies: cfg.TrustedProxies, tracer: cmp.Or[trace.Tracer](cfg.Tracer, noop.Tracer{}),
		limiter: limiter{limits: cfg.RateLimits.withDefaults(), shared: cfg.Rates, now: cfg.Now},
		in:      newInFlight(cfg.InFlight),
		sign:    cfg.Sign,
		pdf:     cfg.PDF,
	}
	if a.sign == nil {
		a.sign = func(docgen.Delivery, []docgen.SigningKey) map[string]string { return map[string]string{} }
	}
	if a.log == nil {
		a.log = slog.Default()
	}
	if a.limiter.now == nil {
		a.limiter.now = time.Now
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	ready := a.readyValue
	if a.service == nil { // only what happens around the operations is served
		ready = nil
	}
	a.metrics = newMetrics(cfg.Metrics, ready)
	a.huma = humago.NewWithPrefix(a.public.mux, prefix, describe(a.baseURL, cfg.Version))
	a.routes()
	a.describeHeaders()
	a.describeNotifications()
	tidy(a.huma.OpenAPI().Components.Schemas)
	a.pages(cfg.Metrics)
	return a
}

// pages is everything that is not under /2.0. Load balancers ask for the health checks at either address.
func (a *api) pages(registry *prometheus.Registry) {
	for _, s := range slices.Compact([]*site{a.public, a.internal}) {
		s.mux.HandleFunc("GET /healthz", a.healthz)
		s.mux.HandleFunc("GET /readyz", a.readyz)
	}
	mux := a.internal.mux
	mux.Handle("GET /metrics", metricsPage(registry))
	mux.HandleFunc("GET /openapi.json", page(a, jsonType, openAPIPage))
	mux.HandleFunc("GET /openapi-3.0.json", page(a, jsonType, openAPI30Page))
	mux.HandleFunc("GET /docs", page(a, htmlType, referencePage))
	mux.HandleFunc("GET /docs/errors", page(a, htmlType, errorsPage))
}

// Limits of the connections that NewHTTPServer takes. What a body and an answer may take is limited by the handler.
const (
	maxHeaderBytes = 64 << 10
	headerSlack    = 4 << 10 // that net/http grants above what it is told
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
)

// NewHTTPServer returns an HTTP server for the handler, safe against clients that are slow or send too much. It is to
// serve a Listener. Its Shutdown does not wait for requests that wait for something to happen.
func NewHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	stopping, stop := context.WithCancel(context.Background())
	s := &http.Server{
		Handler: answering(handler),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(withConn(ctx, c), stoppingKey{}, stopping)
		},
		ConnState:         answered,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes - headerSlack,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is answered like other addresses that are not there
	}
	s.RegisterOnShutdown(stop)
	return s
}
