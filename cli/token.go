package cli

import (
	"context"
	"fmt"
	"time"

	"platen/docgen"
)

type tokenCreateCmd struct {
	location
	User  string         `required:"" placeholder:"LOGIN" help:"Login of the user the token acts for."`
	Scope []docgen.Scope `placeholder:"SCOPE" help:"What the token may be used for, such as root_readonly; may be repeated. Without it, every scope that the user may have."`
	TTL   time.Duration  `name:"ttl" placeholder:"TIME" help:"How long the token is valid, such as 24h. Without it, for ever."`
}

// Run makes the token and prints it alone.
func (c *tokenCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		token, err := service.CreateToken(ctx, docgen.NewToken{Login: c.User, Scopes: c.Scope, TTL: c.TTL})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, token)
		return err
	})
}
