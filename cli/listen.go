package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"platen/server"
)

// listen listens at an address until the server shuts down.
func listen(ctx context.Context, address string, stop *teardown) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop.add("listener", func() error { return ignoreClosed(listener.Close()) })
	return listener, nil
}

// serving is the state that the HTTP servers of a process share.
type serving struct {
	baseURL string
	drain   time.Duration
	log     *slog.Logger
	stop    *teardown
	limits  *server.Connections
	broken  chan error // the errors of servers that ended on their own; buffered for one error each
}

// serveHTTP serves the API on a listener. With --internal-listen, it serves metrics and documentation at that address instead.
func (c *config) serveHTTP(ctx context.Context, s *serving, listener net.Listener, api server.Config) error {
	if c.InternalListen == "" {
		s.start(listener, server.New(api))
		return nil
	}
	inside, err := listen(ctx, c.InternalListen, s.stop)
	if err != nil {
		return err
	}
	public, internal := server.NewDivided(api)
	s.start(inside, internal)
	s.start(listener, public)
	s.log.Info("metrics and documentation", "url", urlOf(inside.Addr()))
	return nil
}

// connections returns the limits of connections, with their metrics.
func (c *config) connections(plan memoryPlan, registry prometheus.Registerer) *server.Connections {
	limits := &server.Connections{Total: plan.Connections, Trusted: c.TrustedProxies}
	registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "platen_http_connections", Help: "Open client connections."},
			func() float64 { return float64(limits.Open()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "platen_http_connections_limit", Help: "Maximum number of open client connections."},
			func() float64 { return float64(limits.Total) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "platen_http_connections_refused_total",
			Help: "Connections closed immediately because their address had reached its share."},
			func() float64 { return float64(limits.Refused()) }))
	return limits
}

// start serves a handler on a listener until the teardown.
func (s *serving) start(listener net.Listener, handler http.Handler) {
	httpServer := server.NewHTTPServer(handler, s.log)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := httpServer.Serve(server.Listener(s.limits.Limit(listener), s.baseURL, s.log)); !errors.Is(err, http.ErrServerClosed) {
			s.broken <- err
		}
	}()
	s.stop.add("requests", func() error {
		err := drain(httpServer, s.drain, s.log)
		<-ended
		return err
	})
}

// drain accepts no more requests, waits for those in progress, and aborts them after the limit.
func drain(s *http.Server, limit time.Duration, log *slog.Logger) error {
	err := within(limit, s.Shutdown)()
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("requests aborted after the time limit for shutdown", "limit", limit)
		err = s.Close()
	}
	return ignoreClosed(err)
}

// ignoreClosed ignores the error for closing something that is already closed.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// urlOf returns the URL of an address for programs on this machine.
func urlOf(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return "http://" + address.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
