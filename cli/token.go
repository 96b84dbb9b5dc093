package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"platen/docgen"
)

type tokenCreateCmd struct {
	location
	User    string         `required:"" placeholder:"LOGIN" help:"Login of the user the token acts for."`
	Scope   []docgen.Scope `placeholder:"SCOPE" help:"Scope of the token, such as root_readonly (default: all scopes of the user except enterprise_content). Repeat the flag for several scopes."`
	Name    string         `placeholder:"NAME" help:"Name of the token in platen token list, such as the program that uses it."`
	TTL     *tokenTTL      `name:"ttl" placeholder:"TIME" help:"Lifetime of the token, such as 24h or 90d, or never (default 30d)."`
	App     string         `placeholder:"APP" help:"Name or client id of the application that gets a refresh token. Requires --refresh."`
	Refresh bool           `help:"Create an access token for one hour and a refresh token for an application, and print both as JSON. Requires --app."`
}

// kong calls Validate after parsing.
func (c *tokenCreateCmd) Validate() error {
	if c.Refresh != (c.App != "") || c.Refresh && (c.TTL != nil || c.Name != "") {
		return errors.New("--app and --refresh must be used together, and without --ttl and --name: a refresh token is valid for 60 days")
	}
	return nil
}

// Run creates the token and prints only the token, or the token with a refresh token.
func (c *tokenCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		if c.Refresh {
			return c.grant(ctx, s, service)
		}
		ttl := docgen.DefaultTokenTTL
		if c.TTL != nil {
			ttl = time.Duration(*c.TTL)
		}
		token, err := service.CreateToken(ctx, docgen.NewToken{Login: c.User, Scopes: c.Scope, TTL: ttl, Name: c.Name})
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

// tokenTTL is the lifetime of a token: a duration, a number of days such as 30d, or never, which is 0.
type tokenTTL time.Duration

// UnmarshalText parses a lifetime.
func (t *tokenTTL) UnmarshalText(text []byte) error {
	if string(text) == "never" {
		*t = 0
		return nil
	}
	ttl, err := time.ParseDuration(string(text))
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		var n int64
		if n, err = strconv.ParseInt(days, 10, 32); err == nil {
			ttl = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || ttl == 0 || ttl/(24*time.Hour) > maxTokenDays {
		return fmt.Errorf("%q is not a lifetime: write a duration such as 12h, a number of days such as 30d (up to %dd), or never", text,
			maxTokenDays)
	}
	*t = tokenTTL(ttl)
	return nil
}

// maxTokenDays is the maximum lifetime of a token that expires. It keeps times within the range of the database.
const maxTokenDays = 36_500

type tokenListCmd struct {
	location
	User string `placeholder:"USER" help:"Login or id of the user whose tokens to list (default: all users)."`
	JSON bool   `name:"json" help:"Print JSON, one token per line."`
}

// listedToken is a token as JSON.
type listedToken struct {
	ID          string     `json:"id"`
	Kind        string     `json:"kind"`
	Name        string     `json:"name"`
	User        string     `json:"user"`
	Application string     `json:"application"`
	Scope       string     `json:"scope"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
	UsedAt      *time.Time `json:"last_used_at"`
}

func listedTokenOf(t docgen.IssuedToken) listedToken {
	return listedToken{
		ID: strconv.FormatInt(t.ID, 10), Kind: t.Kind, Name: t.Name, User: t.User.Login, Application: t.Application.Name,
		Scope: docgen.FormatScopes(t.Scopes), CreatedAt: t.CreatedAt, ExpiresAt: orNil(t.ExpiresAt), UsedAt: orNil(t.UsedAt),
	}
}

// orNil returns t, or nil if it is zero.
func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Run prints one line for each token.
func (c *tokenListCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		operator, filter := service.Operator(), docgen.TokenFilter{All: true}
		if c.User != "" {
			user, err := service.FindUser(ctx, operator, c.User)
			if err != nil {
				return err
			}
			filter = docgen.TokenFilter{UserID: user.ID}
		}
		pages := func(r docgen.PageRequest) (docgen.Page[docgen.IssuedToken], error) {
			return service.Tokens(ctx, operator, filter, r)
		}
		if c.JSON {
			return eachEntry(pages, func(t docgen.IssuedToken) error { return printLine(s.out, listedTokenOf(t)) })
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tNAME\tKIND\tUSER\tAPPLICATION\tCREATED\tEXPIRES\tLAST USED\tSCOPES")
		err := eachEntry(pages, func(t docgen.IssuedToken) error {
			_, err := fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, dash(t.Name), t.Kind, t.User.Login, t.Application.Name,
				shortTime(t.CreatedAt, "-"), shortTime(t.ExpiresAt, "never"), shortTime(t.UsedAt, "-"), docgen.FormatScopes(t.Scopes))
			return err
		})
		return errors.Join(err, table.Flush())
	})
}

type tokenRevokeCmd struct {
	location
	ID []int64 `arg:"" name:"id" placeholder:"ID" help:"Ids of the tokens, from platen token list."`
}

// Run revokes the tokens in order, and stops at the first one that cannot be revoked.
func (c *tokenRevokeCmd) Run(ctx context.Context) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		for _, id := range c.ID {
			if err := service.RevokeToken(ctx, service.Operator(), id); err != nil {
				return err
			}
		}
		return nil
	})
}
