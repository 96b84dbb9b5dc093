package cli

import (
	"context"
	"errors"
	"fmt"

	"platen/client"
)

type webhooksReplayCmd struct {
	remote
	Delivery string `arg:"" optional:"" placeholder:"DELIVERY" help:"Id of one delivery (default: the deliveries that match the filters)."`
	deliveryFilter
	DryRun bool `help:"Send nothing, and print the number of deliveries."`
	Wait   bool `help:"With DELIVERY, wait for the next attempt and show its result."`
}

// Help is the additional text of platen webhooks replay --help.
func (*webhooksReplayCmd) Help() string {
	return "Sends the same body with a new signature. The header webhook-id stays the same, so receivers can recognize duplicates. A " +
		"replayed delivery is retried like a new one. With filters, pending deliveries and those of disabled or deleted webhooks are " +
		"skipped."
}

// kong calls Validate after parsing.
func (c *webhooksReplayCmd) Validate() error {
	filtered := c.deliveryFilter != deliveryFilter{}
	var err error
	switch {
	case c.Delivery != "" && (filtered || c.DryRun):
		err = errors.New("use either a delivery id, or filters with or without --dry-run")
	case c.Delivery == "" && !filtered:
		err = errors.New("select a delivery by id, or use filters, such as --failed --since 2h")
	case c.Delivery == "" && c.Wait:
		err = errors.New("--wait requires a delivery id")
	}
	return errors.Join(c.remote.Validate(), c.problem(), err)
}

// Run replays one delivery, or several.
func (c *webhooksReplayCmd) Run(ctx context.Context, s *streams) error {
	api := c.client()
	if c.Delivery == "" {
		return c.replayMany(ctx, s, api)
	}
	if _, err := api.ReplayWebhookDelivery(ctx, c.Delivery); err != nil {
		return err
	}
	if c.Wait {
		return awaitTry(ctx, s, api, c.Delivery)
	}
	_, err := fmt.Fprintf(s.out, "Replaying delivery %s; see platen webhooks show %[1]s\n", c.Delivery)
	return err
}

func (c *webhooksReplayCmd) replayMany(ctx context.Context, s *streams, api *client.Client) error {
	p := c.params()
	request := client.ReplayRequest{WebhookId: p.WebhookId, EventId: p.EventId, Trigger: p.Trigger, CreatedAfter: p.CreatedAfter,
		DryRun: &c.DryRun}
	if p.State != nil {
		request.State = new(client.ReplayRequestState(*p.State))
	}
	answer, err := api.ReplayWebhookDeliveries(ctx, request)
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err = fmt.Fprintf(s.out, "Deliveries to replay: %d\n", answer.JSON200.Count)
		return err
	}
	_, err = fmt.Fprintf(s.out, "Deliveries being replayed: %d\n", answer.JSON202.Count)
	return err
}

type webhooksTestCmd struct {
	remote
	Webhook string `arg:"" placeholder:"WEBHOOK" help:"Id of the webhook."`
	Trigger string `arg:"" placeholder:"TRIGGER" help:"Trigger of the test event, such as FILE.UPLOADED: any that is valid for the webhook's target, or WEBHOOK.DELETED."`
	Wait    bool   `help:"Wait for the first attempt and show its result instead of the id."`
}

// Help is the additional text of platen webhooks test --help.
func (*webhooksTestCmd) Help() string {
	return "The notification has the webhook's target as its source, and {\"test\": true} as additional_info. It is signed, retried, " +
		"and logged like any other."
}

// Run sends the test event.
func (c *webhooksTestCmd) Run(ctx context.Context, s *streams) error {
	api := c.client()
	request := client.TestRequest{Trigger: client.Trigger(c.Trigger)}
	answer, err := api.TestWebhook(ctx, c.Webhook, request)
	if err != nil {
		return err
	}
	if made := answer.JSON202.Id; c.Wait {
		return awaitTry(ctx, s, api, made)
	}
	_, err = fmt.Fprintln(s.out, answer.JSON202.Id)
	return err
}

// awaitTry waits for an attempt of a delivery, and shows it.
func awaitTry(ctx context.Context, s *streams, api *client.Client, id string) error {
	var shown *shownDelivery
	err := until(ctx, func() (tried bool, err error) {
		if shown, err = fetchDelivery(ctx, api, id); err != nil {
			return false, err
		}
		return shown.State != client.DeliveryStatePending || shown.Tries > 0, nil
	})
	if err != nil {
		return err
	}
	return shown.print(s.out)
}
