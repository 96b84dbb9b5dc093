package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"platen/client"
)

// deliveryFilter selects deliveries.
type deliveryFilter struct {
	Webhook string        `placeholder:"ID" group:"Filters" help:"Only deliveries of one webhook."`
	Event   string        `placeholder:"UUID" group:"Filters" help:"Only deliveries of one event: id in the body, or the header webhook-id."`
	Trigger string        `placeholder:"TRIGGER" group:"Filters" help:"Only deliveries of one trigger, such as FILE.UPLOADED."`
	State   string        `default:"" enum:",pending,delivered,failed,canceled" placeholder:"STATE" group:"Filters" help:"Only deliveries in one state: pending, delivered, failed, or canceled."`
	Failed  bool          `group:"Filters" help:"Same as --state failed."`
	Since   time.Duration `placeholder:"TIME" group:"Filters" help:"Only events of the last minutes or hours, such as 90m."`
}

// problem returns what is wrong with a filter, or nil.
func (f *deliveryFilter) problem() error {
	switch {
	case f.Failed && f.State != "" && f.State != "failed":
		return fmt.Errorf("--failed contradicts --state %s", f.State)
	case f.Event != "" && uuid.Validate(f.Event) != nil:
		return errors.New("--event must be a UUID, the id in the body of a notification")
	case f.Since < 0:
		return errors.New("--since must be a positive duration, such as 90m")
	}
	return nil
}

// params converts the filter for the API.
func (f *deliveryFilter) params() *client.ListWebhookDeliveriesParams {
	params := &client.ListWebhookDeliveriesParams{}
	if f.Webhook != "" {
		params.WebhookId = &f.Webhook
	}
	if f.Event != "" {
		params.EventId = new(uuid.MustParse(f.Event)) // problem has checked it
	}
	if f.Trigger != "" {
		params.Trigger = new(client.Trigger(f.Trigger))
	}
	if f.Failed {
		f.State = "failed"
	}
	if f.State != "" {
		params.State = new(client.ListWebhookDeliveriesParamsState(f.State))
	}
	if f.Since > 0 {
		params.CreatedAfter = new(time.Now().Add(-f.Since).UTC())
	}
	return params
}

type webhooksLogCmd struct {
	remote
	deliveryFilter
	Limit int64 `default:"50" placeholder:"N" help:"Maximum number of deliveries to list (default 50)."`
	JSON  bool  `name:"json" help:"Print JSON."`
}

// Help is the additional text of platen webhooks log --help.
func (*webhooksLogCmd) Help() string {
	return "Lists deliveries of webhooks that the user created with the application of the token, newest first. With the scope " +
		"manage_enterprise_properties, lists the deliveries of all webhooks. Events for platen webhooks listen are not in the log."
}

// kong calls Validate after parsing.
func (c *webhooksLogCmd) Validate() error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit must be at least 1, not %d", c.Limit)
	}
	return errors.Join(c.remote.Validate(), c.problem())
}

// Run lists the deliveries.
func (c *webhooksLogCmd) Run(ctx context.Context, s *streams) error {
	api := c.client()
	deliveries, more, err := c.fetch(ctx, api)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, deliveries)
	}
	if err := printDeliveries(s.out, deliveries); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(s.err, "There are more deliveries. To list more than %d, use --limit.\n", c.Limit)
	}
	return nil
}

// fetch returns the deliveries to list, and whether there are more.
func (c *webhooksLogCmd) fetch(ctx context.Context, api *client.Client) (deliveries []client.Delivery, more bool, err error) {
	params := c.params()
	deliveries = []client.Delivery{}
	for {
		params.Limit = new(c.Limit - int64(len(deliveries)))
		answer, err := api.ListWebhookDeliveries(ctx, params)
		if err != nil {
			return nil, false, err
		}
		page, err := answer.JSON200.AsMarkerPageDelivery()
		if err != nil {
			return nil, false, err
		}
		deliveries = append(deliveries, page.Entries...)
		params.Marker = page.NextMarker
		if full := int64(len(deliveries)) >= c.Limit; full || params.Marker == nil {
			return deliveries, params.Marker != nil, nil
		}
	}
}

func printDeliveries(w io.Writer, deliveries []client.Delivery) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tTIME\tTRIGGER\tWEBHOOK\tSTATE\tATTEMPTS\tREASON")
	for i := range deliveries {
		d := &deliveries[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", d.Id, timeText(d.CreatedAt), d.Trigger, d.Webhook.Id, d.State, d.AttemptCount,
			plain(orEmpty(d.Reason)))
	}
	return table.Flush()
}

// timeText formats a time for a table, or - if there is none.
func timeText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
