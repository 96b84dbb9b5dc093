package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"platen/docgen"
)

// webhooksKeysCmds are the commands for keys; show is the default.
type webhooksKeysCmds struct {
	Show  webhooksKeysCmd  `cmd:"" default:"withargs" help:"Print the signing keys of an application (default command)."`
	Renew webhooksRenewCmd `cmd:"" help:"Replace the primary or secondary key, and print the current keys."`
}

// Help is the additional text of platen webhooks keys --help.
func (*webhooksKeysCmds) Help() string {
	return "Every notification is signed with all keys of the application that created the webhook: a primary and a secondary key, " +
		"which are created with the first webhook or listener, and replaced keys until they expire. Give receivers the complete " +
		"primary and secondary keys, including whsec_. Anyone with a key can send notifications that appear to come from this server."
}

// keyOwner selects the application of a command for keys.
type keyOwner struct {
	location
	App  string `placeholder:"APP" help:"Name or client id of the application (default: the application of tokens from platen token create)."`
	JSON bool   `name:"json" help:"Print JSON."`
}

type webhooksKeysCmd struct{ keyOwner }

// Run prints the keys.
func (c *webhooksKeysCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		keys, err := service.KeysOf(ctx, cmp.Or(c.App, docgen.CommandLineApplication))
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			fmt.Fprintln(s.err, "There are no keys yet. The first webhook or listener of the application creates them, and so does "+
				"platen webhooks keys renew.")
		}
		return c.print(s.out, keys)
	})
}

type webhooksRenewCmd struct {
	Slot string `arg:"" enum:"primary,secondary" placeholder:"SLOT" help:"The key to replace: primary or secondary."`
	keyOwner
	Overlap time.Duration `default:"24h" placeholder:"TIME" help:"Time for which the old key keeps signing (default 24h, maximum 720h). 0s revokes it immediately."`
}

// Help is the additional text of platen webhooks keys renew --help.
func (*webhooksRenewCmd) Help() string {
	return "To replace the keys without rejected notifications, replace the secondary key, give it to all receivers, and then do the " +
		"same with the primary key. Receivers that check webhook-signature accept the old key until the overlap ends. For receivers " +
		"that check box-signature-primary and box-signature-secondary, the other key bridges the gap. If a key was compromised, " +
		"replace it with --overlap 0s."
}

// Run replaces the key and prints the current keys.
func (c *webhooksRenewCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		keys, err := service.RenewKeyOf(ctx, cmp.Or(c.App, docgen.CommandLineApplication), c.Slot, c.Overlap)
		if err != nil {
			return err
		}
		return c.print(s.out, keys)
	})
}

// shownKey is a key in the output.
type shownKey struct {
	Slot      string     `json:"slot"`
	Secret    string     `json:"secret"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func (c *keyOwner) print(w io.Writer, keys []docgen.SigningKey) error {
	if c.JSON {
		shown := make([]shownKey, len(keys))
		for i, key := range keys {
			shown[i] = shownKey{Slot: key.Slot, Secret: key.Secret, CreatedAt: key.CreatedAt.UTC()}
			if !key.ExpiresAt.IsZero() {
				shown[i].ExpiresAt = new(key.ExpiresAt.UTC())
			}
		}
		return printJSON(w, shown)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLOT\tKEY\tCREATED\tEXPIRES")
	for _, key := range keys {
		expires := "-"
		if !key.ExpiresAt.IsZero() {
			expires = key.ExpiresAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", key.Slot, key.Secret, key.CreatedAt.UTC().Format(time.RFC3339), expires)
	}
	return table.Flush()
}
