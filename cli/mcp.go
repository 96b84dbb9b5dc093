package cli

import (
	"context"
	"log/slog"
	"net/http"

	"platen/mcp"
)

// mcpCmd lets an assistant on this machine use a server.
type mcpCmd struct {
	Server string `default:"http://127.0.0.1:8080" env:"PLATEN_SERVER" placeholder:"URL" group:"Server" help:"URL of the server, without /2.0 (default http://127.0.0.1:8080)."`
	Token  string `env:"PLATEN_TOKEN" placeholder:"TOKEN" group:"Server" help:"Access token, such as from platen token create. It needs the scope docgen.readwrite and, to read documents of jobs, root_readonly. Prefer the environment variable, because other users of this machine can see arguments."`
}

// kong calls Validate after parsing.
func (c *mcpCmd) Validate() error { return (&remote{Server: c.Server, Token: c.Token}).Validate() }

// Run speaks the protocol on standard input and output until the assistant closes them. Nothing else is written to standard output.
func (c *mcpCmd) Run(ctx context.Context, s *streams) error {
	api := &mcp.API{URL: c.Server, Token: c.Token, HTTP: http.DefaultClient}
	return mcp.Serve(ctx, api, version(), s.in, s.out, slog.New(slog.NewTextHandler(s.err, nil)))
}
