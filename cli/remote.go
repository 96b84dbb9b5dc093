package cli

import (
	"errors"
	"net/url"

	"platen/client"
)

// remote says which running server a command talks to, and as whom. What stands in the environment is in no history of a
// shell.
type remote struct {
	Server string `default:"http://127.0.0.1:8080" env:"PLATEN_SERVER" placeholder:"URL" group:"Server" help:"The server to talk to, without the /2.0; http://127.0.0.1:8080."`
	Token  string `env:"PLATEN_TOKEN" placeholder:"TOKEN" group:"Server" help:"Access token with the scope manage_webhook, such as platen token create makes. Better in the environment."`
}

// Validate is called by kong when everything is read.
func (r *remote) Validate() error {
	if !isHTTP(r.Server) {
		return errors.New("--server is the URL of a server, such as http://127.0.0.1:8080")
	}
	if r.Token == "" {
		return errors.New("there is no access token: make one by platen token create, and put it in PLATEN_TOKEN")
	}
	return nil
}

func (r *remote) client() (*client.ClientWithResponses, error) { return client.New(r.Server, r.Token) }

// isHTTP tells whether a text is a URL that requests can be sent to.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
