package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"platen/docgen"
)

// appName identifies an application on the command line.
type appName struct {
	App string `arg:"" placeholder:"APP" help:"Name or client id of the application."`
}

type appCreateCmd struct {
	location
	Name        string         `required:"" placeholder:"NAME" help:"Name of the application and of its service account."`
	Scope       []docgen.Scope `placeholder:"SCOPE" help:"Scope that tokens of the application can have, such as docgen.readwrite (default: the scopes of an ordinary user). Repeat the flag for several scopes."`
	ActsAsUsers bool           `help:"Let the application get tokens for any active user, and act for users with the header As-User (default: only tokens of its service account)."`
	PublicKey   string         `type:"existingfile" placeholder:"FILE" help:"RSA public key in PEM format. The application signs assertions (JWT) with the private key."`
	KeyID       string         `name:"key-id" placeholder:"KEY" help:"Id of the public key in assertions (kid) (default: derived from the key)."`
}

// createdApp is the output for a new application.
type createdApp struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	KeyID        string `json:"key_id,omitempty"`
	EnterpriseID string `json:"enterprise_id"`
	AccountID    string `json:"service_account_id"`
}

// Run creates the application and prints what its developer needs.
func (c *appCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		app, secret, err := service.CreateApplication(ctx, docgen.NewApplication{Name: c.Name, Scopes: c.Scope, ActsAsUsers: c.ActsAsUsers})
		if err != nil {
			return err
		}
		made := createdApp{
			ClientID: app.ClientID, ClientSecret: secret, EnterpriseID: strconv.FormatInt(service.EnterpriseID(), 10),
			AccountID: strconv.FormatInt(app.Account.ID, 10),
		}
		if c.PublicKey != "" {
			if made.KeyID, err = addKey(ctx, service, app.ClientID, c.KeyID, c.PublicKey); err != nil {
				return fmt.Errorf("the application was created, but not its key: %s; run platen app secret %s and platen app key add",
					explain(err), app.ClientID)
			}
		}
		return printJSON(s.out, made)
	})
}

func addKey(ctx context.Context, service *docgen.Service, app, keyID, file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return service.AddApplicationKey(ctx, app, keyID, text)
}

type appListCmd struct{ location }

// Run prints a line for each application.
func (c *appListCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		apps, err := service.Applications(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NAME\tCLIENT ID\tSERVICE ACCOUNT\tACTS AS USERS\tKEYS\tSCOPES")
		for _, app := range apps {
			keys := make([]string, len(app.Keys))
			for i, key := range app.Keys {
				keys[i] = key.Name
			}
			fmt.Fprintf(table, "%s\t%s\t%d\t%t\t%s\t%s\n", app.Name, app.ClientID, app.Account.ID, app.ActsAsUsers,
				strings.Join(keys, " "), docgen.FormatScopes(app.Scopes))
		}
		return table.Flush()
	})
}

type appSecretCmd struct {
	location
	appName
}

// Run prints only the new secret.
func (c *appSecretCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		secret, err := service.RenewSecret(ctx, c.App)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, secret)
		return err
	})
}

type appKeyAddCmd struct {
	location
	appName
	PublicKey string `required:"" type:"existingfile" placeholder:"FILE" help:"RSA public key of at least 2048 bits, in PEM format."`
	KeyID     string `name:"key-id" placeholder:"KEY" help:"Id of the key in assertions (kid) (default: derived from the key)."`
}

// Run prints only the id of the key.
func (c *appKeyAddCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		id, err := addKey(ctx, service, c.App, c.KeyID, c.PublicKey)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, id)
		return err
	})
}

type appKeyRemoveCmd struct {
	location
	appName
	KeyID string `arg:"" name:"key-id" placeholder:"KEY" help:"Id of the key."`
}

// Run prints nothing.
func (c *appKeyRemoveCmd) Run(ctx context.Context) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		return service.RemoveApplicationKey(ctx, c.App, c.KeyID)
	})
}

type appDeleteCmd struct {
	location
	appName
}

// Run prints nothing.
func (c *appDeleteCmd) Run(ctx context.Context) error {
	return c.withService(ctx, func(service *docgen.Service) error { return service.DeleteApplication(ctx, c.App) })
}

type appConfigCmd struct {
	location
	appName
	Secret string `env:"PLATEN_APP_SECRET" placeholder:"SECRET" help:"Current secret of the application, for the file (default: a new secret, which replaces the current one)."`
	KeyID  string `name:"key-id" placeholder:"KEY" help:"Id of the new key (default: derived from the key)."`
}

// appConfig is the configuration file that client libraries read.
type appConfig struct {
	Settings     appSettings `json:"boxAppSettings"`
	EnterpriseID string      `json:"enterpriseID"`
}

type appSettings struct {
	ClientID     string  `json:"clientID"`
	ClientSecret string  `json:"clientSecret"`
	Auth         appAuth `json:"appAuth"`
}

type appAuth struct {
	PublicKeyID string `json:"publicKeyID"`
	PrivateKey  string `json:"privateKey"`
	Passphrase  string `json:"passphrase"`
}

// Run creates the keys and prints the file. The private key is not stored anywhere.
func (c *appConfigCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		app, err := service.Application(ctx, c.App)
		if err != nil {
			return err
		}
		keys, err := newKeyPair()
		if err != nil {
			return err
		}
		id, err := service.AddApplicationKey(ctx, app.ClientID, c.KeyID, keys.public)
		if err != nil {
			return err
		}
		secret := c.Secret
		if secret == "" {
			if secret, err = service.RenewSecret(ctx, app.ClientID); err != nil {
				return err
			}
		}
		return printJSON(s.out, appConfig{
			EnterpriseID: strconv.FormatInt(service.EnterpriseID(), 10),
			Settings: appSettings{
				ClientID: app.ClientID, ClientSecret: secret,
				Auth: appAuth{PublicKeyID: id, PrivateKey: string(keys.private), Passphrase: keys.passphrase},
			},
		})
	})
}
