package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patientTransport keeps a connection open until the calls are answered that arrived before its end. Without it, a client that writes its
// messages and closes its output, such as a pipe in a shell, gets no answers.
type patientTransport struct{ sdk.Transport }

// Connect opens the connection.
func (t patientTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &patientConn{Connection: c, pending: map[string]bool{}, changed: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

// drainTime is the maximum time for the last answers.
const drainTime = time.Minute

type patientConn struct {
	sdk.Connection

	mu      sync.Mutex
	pending map[string]bool // ids of the calls without an answer
	changed chan struct{}
	close   sync.Once
	closed  chan struct{}
}

// Close closes the connection, without waiting for answers.
func (c *patientConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// Read returns the next message. At the end, or when it fails, it first waits for the answers to all calls.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
	}
	if request, ok := message.(*jsonrpc.Request); ok {
		c.note(request)
	}
	return message, err
}

// note records a call, or forgets one that the client cancels.
func (c *patientConn) note(request *jsonrpc.Request) {
	var cancelled struct {
		ID any `json:"requestId"`
	}
	switch {
	case request.IsCall():
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pending[idText(request.ID.Raw())] = true
	case request.Method == "notifications/cancelled" && json.Unmarshal(request.Params, &cancelled) == nil:
		c.answered(idText(cancelled.ID))
	}
}

// Write sends a message.
func (c *patientConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		c.answered(idText(response.ID.Raw()))
	}
	return err
}

func (c *patientConn) answered(id string) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// drain waits until no call is pending.
func (c *patientConn) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.pending)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.changed:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// idText returns an id, a number or a string, as text.
func idText(id any) string {
	if n, ok := id.(float64); ok {
		id = int64(n)
	}
	return fmt.Sprintf("%T %v", id, id)
}
