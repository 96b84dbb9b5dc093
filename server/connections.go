package server

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Connections limits the connections of a listener. Of the total, one address has at most a quarter.
type Connections struct {
	Total   int            // at a time; 4096 when 0
	Trusted []netip.Prefix // networks of proxies: only the total limits their connections, because they are those of many clients

	open    atomic.Int64
	refused atomic.Int64
}

const (
	defaultConnections = 4096
	connectionShare    = 4 // an address has one quarter of the connections
)

// Open returns how many connections there are.
func (c *Connections) Open() int64 { return c.open.Load() }

// Refused returns how many connections were closed because their address had its share already.
func (c *Connections) Refused() int64 { return c.refused.Load() }

// Limit returns a listener that accepts no more connections than the limits allow. A connection beyond the total waits in the
// queue of the operating system until another one ends. One beyond the share of its address is closed at once, before anything
// is read from it. Every listener has the limits for itself.
func (c *Connections) Limit(listener net.Listener) net.Listener {
	total := cmp.Or(c.Total, defaultConnections)
	return &limitedListener{
		Listener: listener, of: c, places: make(chan struct{}, total), closed: make(chan struct{}), addresses: newPool(int64(total), connectionShare),
	}
}

type limitedListener struct {
	net.Listener
	of        *Connections
	places    chan struct{} // holds one for each connection
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
		_ = conn.Close() // whether the client has closed it first does not matter
	}
}

// admit returns the connection if its address may have one more, or else nil.
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

// A limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	of      *limitedListener
	address string // that it counts for; empty for a trusted proxy
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

// CloseWrite ends what is sent, while the client may still send.
func (c *limitedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
