// Package server is the HTTP API. It decodes a request, calls one operation of docgen, and encodes the result. docgen has all rules; this
// package adds what HTTP needs: access tokens, the version header, rate limits, body limits, error responses, and the API documentation.
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
	"platen/generate"
	"platen/mcp"
)

// Config configures the API.
type Config struct {
	Service    *docgen.Service
	Generator  *generate.Generator  // generates documents on request
	Log        *slog.Logger         // slog.Default when nil
	BaseURL    string               // URL of the server for clients, without /2.0; for links in responses
	FixedURL   bool                 // clients use BaseURL only; otherwise, redirects lead to the host of the request
	Version    string               // version of the server, for the OpenAPI document
	RateLimits RateLimits           // requests per minute
	Rates      RateCounter          // counts requests across servers; nil if there is only one
	Now        func() time.Time     // clock for rate limits; time.Now if nil
	Compat     Compat               // clients for which the server relaxes the API
	InFlight   InFlight             // limits of requests in flight
	Metrics    *prometheus.Registry // registry for metrics, which /metrics serves; a new one if nil

	// Tracer records a span for each request. nil disables tracing.
	Tracer trace.Tracer
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is trusted.
	TrustedProxies []netip.Prefix

	// Node returns what only this server knows about itself. nil means nothing but the version.
	Node func() docgen.Node
	// PDF returns an error that says why the server cannot generate PDFs, or nil.
	PDF func() error
	// Sign returns the headers of a notification, signed with the given keys. nil means no headers.
	Sign func(docgen.Delivery, []docgen.SigningKey) map[string]string
}

// Compat selects clients that do not follow all of the API, and for which the server relaxes it.
type Compat string

// Values of Compat. By default, every operation under /2.0 requires the version header, as the API specifies. Clients of Box only send it
// to the operations of version 2025.0.
const (
	CompatNone Compat = ""
	CompatBox  Compat = "box"
)

// prefix is the path prefix of every operation.
const prefix = "/2.0"

type api struct {
	service    *docgen.Service
	generator  *generate.Generator
	log        *slog.Logger
	baseURL    string
	fixedURL   bool
	compat     Compat
	public     *site
	internal   *site // the same as public, unless metrics and documentation have an address of their own
	huma       huma.API
	operations []*huma.Operation // in the order of the documentation
	metrics    *metrics

	proxies []netip.Prefix // networks of trusted proxies
	tracer  trace.Tracer
	limiter limiter
	in      *inFlight
	pdf     func() error
	node    func() docgen.Node
	sign    func(docgen.Delivery, []docgen.SigningKey) map[string]string
	mcp     http.Handler // the tools for assistants
}

// site is what one address serves.
type site struct {
	mux        *mux
	compressed http.Handler // mux, for clients that accept compression
}

func newSite() *site {
	routes := new(mux)
	return &site{mux: routes, compressed: compressing(routes)}
}

// New returns the handler of the complete server: the operations under /2.0, the tools for assistants, health checks,
// metrics, and documentation.
func New(cfg Config) http.Handler {
	public := newSite()
	return newAPI(cfg, public, public)
}

// NewDivided returns two handlers: public serves the operations and the health checks; internal serves the health checks, the metrics,
// and the documentation.
func NewDivided(cfg Config) (public, internal http.Handler) {
	a := newAPI(cfg, newSite(), newSite())
	return a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(a.internal, w, r) })
}

func newAPI(cfg Config, public, internal *site) *api {
	a := &api{
		service: cfg.Service, generator: cfg.Generator,
		log:     cfg.Log,
		baseURL: strings.TrimSuffix(cfg.BaseURL, "/"), fixedURL: cfg.FixedURL,
		compat: cfg.Compat,
		public: public, internal: internal, proxies: cfg.TrustedProxies, tracer: cmp.Or[trace.Tracer](cfg.Tracer, noop.Tracer{}),
		limiter: limiter{limits: cfg.RateLimits.withDefaults(), shared: cfg.Rates, now: cfg.Now},
		in:      newInFlight(cfg.InFlight),
		sign:    cfg.Sign,
		pdf:     cfg.PDF,
		node:    cfg.Node,
	}
	if a.node == nil {
		a.node = func() docgen.Node { return docgen.Node{Version: cfg.Version} }
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
	if a.service == nil { // without a service, only the documentation is served
		ready = nil
	}
	a.metrics = newMetrics(cfg.Metrics, ready)
	a.huma = humago.NewWithPrefix(a.public.mux, prefix, describe(a.baseURL, cfg.Version))
	a.routes()
	a.describeHeaders()
	a.describeNotifications()
	tidy(a.huma.OpenAPI().Components.Schemas)
	a.pages(cfg.Metrics)
	a.mcp = mcp.Handler(cfg.Version, a.log)
	a.public.mux.HandleFunc("POST "+mcpPath, a.serveMCP)
	return a
}

// pages registers everything that is not under /2.0. Load balancers can use the health checks at either address.
func (a *api) pages(registry *prometheus.Registry) {
	for _, s := range slices.Compact([]*site{a.public, a.internal}) {
		s.mux.HandleFunc("GET /healthz", a.healthz)
		s.mux.HandleFunc("GET /readyz", a.readyz)
	}
	a.linkPages()
	internal := a.internal.mux
	internal.Handle("GET /metrics", metricsPage(registry))
	internal.HandleFunc("GET /openapi.json", page(a, jsonType, openAPIPage))
	internal.HandleFunc("GET /openapi-3.0.json", page(a, jsonType, openAPI30Page))
	internal.HandleFunc("GET /docs", page(a, htmlType, referencePage))
	internal.HandleFunc("GET /docs/errors", page(a, htmlType, errorsPage))
}

// Limits of the connections of NewHTTPServer. The handler limits bodies and responses.
const (
	maxHeaderBytes = 64 << 10
	headerSlack    = 4 << 10 // net/http accepts this much more than MaxHeaderBytes
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
)

// NewHTTPServer returns an HTTP server for the handler that is safe against slow clients and oversized headers. It must serve a Listener.
// Its Shutdown does not wait for requests that poll for events.
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

		DisableGeneralOptionsHandler: true, // "OPTIONS *" gets the same response as unknown paths
	}
	s.RegisterOnShutdown(stop)
	return s
}
