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

// webhooksKeysCmds are the commands about keys; show is what is done when none is named.
type webhooksKeysCmds struct {
	Show  webhooksKeysCmd  `cmd:"" default:"withargs" help:"Print the keys that the webhooks of an application sign with; also without this word."`
	Renew webhooksRenewCmd `cmd:"" help:"Replace the primary or the secondary key, and print the keys that sign then."`
}

// Help is what platen webhooks keys --help adds.
func (*webhooksKeysCmds) Help() string {
	return "Every notification is signed with all the keys of the application that its webhook was made with: there are a primary and a secondary " +
		"one from the first webhook or listener on, and one that was replaced goes on for a while. Give receivers the primary and the " +
		"secondary key, each whole, with its whsec_. Who knows a key can send notifications that seem to be of this server."
}

// keyOwner names the application whose keys a command is about.
type keyOwner struct {
	location
	App  string `placeholder:"APP" help:"Name or client id of the application. Without it, that of the tokens which platen token create makes."`
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
			fmt.Fprintln(s.err, "There are no keys yet: the first webhook or listener of the application makes them, and so does platen webhooks keys renew.")
		}
		return c.print(s.out, keys)
	})
}

type webhooksRenewCmd struct {
	Slot string `arg:"" enum:"primary,secondary" placeholder:"SLOT" help:"Which key to replace: primary or secondary."`
	keyOwner
	Overlap time.Duration `default:"24h" placeholder:"TIME" help:"How long the key that was there goes on signing; 24 hours, 30 days at most. 0s ends it at once."`
}

// Help is what platen webhooks keys renew --help adds.
func (*webhooksRenewCmd) Help() string {
	return "To replace keys without a notification refused: replace the secondary key, give it to all receivers, then do the same with the primary " +
		"one. Receivers that check webhook-signature know the old key by its signature until the overlap is over; for those that check " +
		"box-signature-primary and box-signature-secondary the other key is the overlap. A key that somebody else knows is replaced with --overlap 0s."
}

// Run replaces the key and prints those that sign from now on.
func (c *webhooksRenewCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		keys, err := service.RenewKeyOf(ctx, cmp.Or(c.App, docgen.CommandLineApplication), c.Slot, c.Overlap)
		if err != nil {
			return err
		}
		return c.print(s.out, keys)
	})
}

// shownKey is a key as it is printed.
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
