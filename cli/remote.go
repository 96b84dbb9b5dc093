package cli

import (
	"errors"
	"net/url"

	"platen/client"
)

// remote selects a running server and the user to act as. The shell history does not contain environment variables, so the token is safer
// there.
type remote struct {
	Server string `default:"http://127.0.0.1:8080" env:"PLATEN_SERVER" placeholder:"URL" group:"Server" help:"URL of the server, without /2.0 (default http://127.0.0.1:8080)."`
	Token  string `env:"PLATEN_TOKEN" placeholder:"TOKEN" group:"Server" help:"Access token, such as from platen token create. Webhooks need the scope manage_webhook. Prefer the environment variable, to keep it out of the shell history."`
}

// kong calls Validate after parsing.
func (r *remote) Validate() error {
	if !isHTTP(r.Server) {
		return errors.New("--server must be the URL of a server, such as http://127.0.0.1:8080")
	}
	if r.Token == "" {
		return errors.New("missing access token: create one with platen token create, and set PLATEN_TOKEN")
	}
	return nil
}

func (r *remote) client() *client.Client { return client.New(r.Server, r.Token) }

// isHTTP reports whether text is an HTTP or HTTPS URL.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
