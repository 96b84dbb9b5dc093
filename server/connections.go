package server

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Connections limits the connections of a listener. One address can have at most a quarter of the total.
type Connections struct {
	Total   int            // maximum number of connections; 0 means 4096
	Trusted []netip.Prefix // networks of proxies, to which only the total applies, because they connect for many clients

	open    atomic.Int64
	refused atomic.Int64
}

const (
	defaultConnections = 4096
	connectionShare    = 4 // an address has one quarter of the connections
)

// Open returns the number of open connections.
func (c *Connections) Open() int64 { return c.open.Load() }

// Refused returns the number of connections that were closed because their address had reached its share.
func (c *Connections) Refused() int64 { return c.refused.Load() }

// Limit returns a listener with these limits. Connections beyond the total wait in the queue of the operating system until another one
// closes. Connections beyond the share of their address are closed immediately, before anything is read. Each listener has separate
// limits.
func (c *Connections) Limit(listener net.Listener) net.Listener {
	total := cmp.Or(c.Total, defaultConnections)
	return &limitedListener{
		Listener: listener, of: c, places: make(chan struct{}, total), closed: make(chan struct{}),
		addresses: newPool(int64(total), connectionShare),
	}
}

type limitedListener struct {
	net.Listener
	of        *Connections
	places    chan struct{} // one element for each connection
	addresses *pool

	once   sync.Once
	closed chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, err
		}
		if limited := l.admit(conn); limited != nil {
			return limited, nil
		}
		l.of.refused.Add(1)
		_ = conn.Close() // the client may have closed it first
	}
}

// admit returns the connection, or nil if its address has reached its share.
func (l *limitedListener) admit(conn net.Conn) net.Conn {
	limited := &limitedConn{Conn: conn, of: l}
	remote := conn.RemoteAddr().String()
	if peer, ok := parseHop(remote); !ok || !isTrusted(peer, l.of.Trusted) {
		limited.address = addressKey(remote)
		if !l.addresses.take(limited.address, 1) {
			return nil
		}
	}
	l.of.open.Add(1)
	return limited
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A limitedConn releases its slot when it is closed.
type limitedConn struct {
	net.Conn
	of      *limitedListener
	address string // the address that it counts for; empty for a trusted proxy
	once    sync.Once
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		if c.address != "" {
			c.of.addresses.give(c.address, 1)
		}
		c.of.of.open.Add(-1)
		<-c.of.places
	})
	return err
}

// CloseWrite closes the writing side while the client may still send.
func (c *limitedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
