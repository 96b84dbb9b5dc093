package mcp

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// unanswered is a server that never answers. It reports each request.
type unanswered chan struct{}

func (u unanswered) Do(r *http.Request) (*http.Response, error) {
	u <- struct{}{}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_templates"}}
`

// TestServeEnds ends sessions while a call waits for a server that does not answer.
func TestServeEnds(t *testing.T) {
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n"
	for name, tt := range map[string]struct {
		end  func(stdin *io.PipeWriter, stop func()) error
		took time.Duration
	}{
		"the process is stopped":       {func(_ *io.PipeWriter, stop func()) error { stop(); return nil }, 0},
		"the client closes its output": {func(stdin *io.PipeWriter, _ func()) error { return stdin.Close() }, drainTime},
		"reading fails": {func(stdin *io.PipeWriter, _ func()) error {
			return stdin.CloseWithError(io.ErrUnexpectedEOF)
		}, drainTime},
		"the client cancels the call": {func(stdin *io.PipeWriter, _ func()) error {
			if _, err := io.WriteString(stdin, cancelled); err != nil {
				return err
			}
			return stdin.Close()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				in, stdin := io.Pipe()
				stdout, out := io.Pipe()
				lines := make(chan string, 10)
				go func() {
					defer close(lines)
					for s := bufio.NewScanner(stdout); s.Scan(); {
						lines <- s.Text()
					}
				}()
				calls, ended := make(unanswered), make(chan error, 1)
				go func() {
					ended <- Serve(ctx, &API{URL: "http://platen", Token: "x", HTTP: calls}, "1", in, out, slog.New(slog.DiscardHandler))
				}()
				if _, err := io.WriteString(stdin, hello); err != nil {
					t.Fatal(err)
				}
				if first := <-lines; !strings.Contains(first, `"id":1`) {
					t.Errorf("the first answer is %s", first)
				}
				<-calls
				began := time.Now()
				if err := tt.end(stdin, stop); err != nil {
					t.Fatal(err)
				}
				err := <-ended
				if took := time.Since(began); took != tt.took {
					t.Errorf("the session ended after %s with %v, want after %s", took, err, tt.took)
				}
				stop()
				_ = out.Close()
				_ = in.Close()
			})
		})
	}
}
