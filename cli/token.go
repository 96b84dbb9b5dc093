package cli

import (
	"context"
	"fmt"
	"time"

	"platen/docgen"
)

type tokenCreateCmd struct {
	location
	User    string         `required:"" placeholder:"LOGIN" help:"Login of the user the token acts for."`
	Scope   []docgen.Scope `placeholder:"SCOPE" help:"What the token may be used for, such as root_readonly; may be repeated. Without it, every scope that the user may have, but for enterprise_content."`
	TTL     time.Duration  `name:"ttl" placeholder:"TIME" help:"How long the token is valid, such as 24h. Without it, for ever."`
	App     string         `placeholder:"APP" help:"Name or client id of the application that is to have a refresh token. With --refresh."`
	Refresh bool           `help:"Make an access token of an hour and a refresh token for an application, and print both as JSON."`
}

// Validate is called by kong when everything is read.
func (c *tokenCreateCmd) Validate() error {
	if c.Refresh != (c.App != "") || c.Refresh && c.TTL != 0 {
		return fmt.Errorf("--app and --refresh go together, and without --ttl: a refresh token is valid for 60 days")
	}
	return nil
}

// Run makes the token and prints it alone, or with a refresh token.
func (c *tokenCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		if c.Refresh {
			return c.grant(ctx, s, service)
		}
		token, err := service.CreateToken(ctx, docgen.NewToken{Login: c.User, Scopes: c.Scope, TTL: c.TTL})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, token)
		return err
	})
}

func (c *tokenCreateCmd) grant(ctx context.Context, s *streams, service *docgen.Service) error {
	tokens, err := service.CreateGrant(ctx, c.App, c.User, c.Scope)
	if err != nil {
		return err
	}
	return printJSON(s.out, struct {
		Access    string `json:"access_token"`
		Refresh   string `json:"refresh_token"`
		ExpiresIn int    `json:"expires_in"`
	}{tokens.Access, tokens.Refresh, int(docgen.AccessTokenTTL.Seconds())})
}
