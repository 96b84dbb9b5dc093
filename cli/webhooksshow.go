package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"platen/client"
)

type webhooksShowCmd struct {
	remote
	Delivery string `arg:"" placeholder:"DELIVERY" help:"Id of the delivery, from platen webhooks log."`
	JSON     bool   `name:"json" help:"Print JSON: the delivery with its attempts."`
}

// Help is the additional text of platen webhooks show --help.
func (*webhooksShowCmd) Help() string {
	return "All attempts send the same body, which is shown once, formatted for reading. With --json, it is shown unchanged, as " +
		"signatures require."
}

// Run shows the delivery.
func (c *webhooksShowCmd) Run(ctx context.Context, s *streams) error {
	api := c.client()
	shown, err := fetchDelivery(ctx, api, c.Delivery)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, shown)
	}
	return shown.print(s.out)
}

// shownDelivery is a delivery with all its attempts.
type shownDelivery struct {
	client.Delivery
	Attempts []client.Attempt `json:"attempts"`
}

func fetchDelivery(ctx context.Context, api *client.Client, id string) (*shownDelivery, error) {
	found, err := api.GetWebhookDelivery(ctx, id)
	if err != nil {
		return nil, err
	}
	shown := &shownDelivery{*found.JSON200, []client.Attempt{}}
	params := &client.ListWebhookAttemptsParams{Limit: new(int64(1000))}
	for {
		answer, err := api.ListWebhookAttempts(ctx, id, params)
		if err != nil {
			return nil, err
		}
		shown.Attempts = append(shown.Attempts, answer.JSON200.Entries...)
		if params.Marker = answer.JSON200.NextMarker; params.Marker == nil {
			return shown, nil
		}
	}
}

// print prints the delivery for people.
func (d *shownDelivery) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Delivery %s of %s for webhook %s\n", d.Id, d.Trigger, d.Webhook.Id)
	fmt.Fprintf(&b, "    event     %s, at %s\n", d.EventId, timeText(d.CreatedAt))
	fmt.Fprintf(&b, "    state     %s\n", d.State)
	if d.Reason != nil {
		fmt.Fprintf(&b, "    reason    %s\n", plain(*d.Reason))
	}
	if d.DueAt != nil {
		fmt.Fprintf(&b, "    next try  %s\n", timeText(d.DueAt))
	}
	for i := range d.Attempts {
		printAttempt(&b, i+1, &d.Attempts[i])
	}
	fmt.Fprintf(&b, "\nBody\n%s\n", indented(orEmpty(d.Body)))
	_, err := b.WriteTo(w)
	return err
}

func printAttempt(b *bytes.Buffer, number int, a *client.Attempt) {
	fmt.Fprintf(b, "\nAttempt %d at %s: %s", number, timeText(a.BegunAt), a.Outcome)
	if a.Status != nil {
		fmt.Fprintf(b, ", status %d", *a.Status)
	}
	fmt.Fprintf(b, ", %d ms\n", a.DurationMs)
	if a.Reason != nil {
		fmt.Fprintf(b, "    %s\n", plain(*a.Reason))
	}
	if a.RequestHeaders != nil {
		printHeaders(b, "    > ", *a.RequestHeaders)
	}
	if a.ResponseHeaders != nil {
		printHeaders(b, "    < ", *a.ResponseHeaders)
	}
	if a.ResponseBody != "" {
		fmt.Fprintln(b, "    <")
	}
	for line := range strings.Lines(a.ResponseBody) {
		fmt.Fprintf(b, "    < %s\n", plain(strings.TrimRight(line, "\r\n")))
	}
	if a.IsTruncated {
		fmt.Fprintln(b, "    The response was longer; only its beginning is kept.")
	}
}

func printHeaders(b *bytes.Buffer, before string, headers map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(b, "%s%s: %s\n", before, plain(name), plain(headers[name]))
	}
}

// plain makes text from elsewhere safe for a terminal, by replacing control characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsGraphic(r):
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// indented returns the body of a notification with one line per field. Like the original, it is ASCII.
func indented(body string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(body), "    ", "  ") != nil {
		return "    " + plain(body)
	}
	return "    " + b.String()
}
