package cli

import (
	"context"
	"errors"
	"fmt"

	"platen/client"
)

type webhooksReplayCmd struct {
	remote
	Delivery string `arg:"" optional:"" placeholder:"DELIVERY" help:"Id of one delivery. Without it, filters say which."`
	deliveryFilter
	DryRun bool `help:"Send nothing, and say how many there are."`
	Wait   bool `help:"With DELIVERY: wait until it was tried, and show what came of it."`
}

// Help is what platen webhooks replay --help adds.
func (*webhooksReplayCmd) Help() string {
	return "The body is the same as before, and so is webhook-id, by which a receiver knows what it had already; the signature is new. Each is tried as " +
		"often as a new one. What is pending, and what is for a webhook that is disabled or deleted, is left out where filters select."
}

// Validate is called by kong when everything is read.
func (c *webhooksReplayCmd) Validate() error {
	filtered := c.deliveryFilter != deliveryFilter{}
	var err error
	switch {
	case c.Delivery != "" && (filtered || c.DryRun):
		err = errors.New("give either a delivery, or filters with or without --dry-run")
	case c.Delivery == "" && !filtered:
		err = errors.New("name a delivery, or say which by filters, such as --failed --since 2h")
	case c.Delivery == "" && c.Wait:
		err = errors.New("--wait is for one delivery")
	}
	return errors.Join(c.remote.Validate(), c.problem(), err)
}

// Run has one delivery sent again, or many.
func (c *webhooksReplayCmd) Run(ctx context.Context, s *streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	if c.Delivery == "" {
		return c.replayMany(ctx, s, api)
	}
	if _, err := client.Check(api.ReplayWebhookDeliveryWithResponse(ctx, c.Delivery, &client.ReplayWebhookDeliveryParams{})); err != nil {
		return err
	}
	if c.Wait {
		return awaitTry(ctx, s, api, c.Delivery)
	}
	_, err = fmt.Fprintf(s.out, "Delivery %s is sent again; see platen webhooks show %[1]s\n", c.Delivery)
	return err
}

func (c *webhooksReplayCmd) replayMany(ctx context.Context, s *streams, api *client.ClientWithResponses) error {
	p := c.params()
	request := client.ReplayRequest{WebhookId: p.WebhookId, EventId: p.EventId, Trigger: p.Trigger, CreatedAfter: p.CreatedAfter, DryRun: &c.DryRun}
	if p.State != nil {
		request.State = new(client.ReplayRequestState(*p.State))
	}
	answer, err := client.Check(api.ReplayWebhookDeliveriesWithResponse(ctx, &client.ReplayWebhookDeliveriesParams{}, request))
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err = fmt.Fprintf(s.out, "%d would be sent again\n", answer.JSON200.Count)
		return err
	}
	_, err = fmt.Fprintf(s.out, "%d are sent again\n", answer.JSON202.Count)
	return err
}

type webhooksTestCmd struct {
	remote
	Webhook string `arg:"" placeholder:"WEBHOOK" help:"Id of the webhook."`
	Trigger string `arg:"" placeholder:"TRIGGER" help:"What did not happen, such as FILE.UPLOADED: any trigger that a webhook on such a target can have, or WEBHOOK.DELETED."`
	Wait    bool   `help:"Wait until it was tried, and show what came of it, in place of the id."`
}

// Help is what platen webhooks test --help adds.
func (*webhooksTestCmd) Help() string {
	return "The notification has the webhook's target as its source, and {\"test\": true} as additional_info. It is signed, tried and logged like any other."
}

// Run has the event sent.
func (c *webhooksTestCmd) Run(ctx context.Context, s *streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	request := client.TestRequest{Trigger: client.Trigger(c.Trigger)}
	answer, err := client.Check(api.TestWebhookWithResponse(ctx, c.Webhook, &client.TestWebhookParams{}, request))
	if err != nil {
		return err
	}
	if made := answer.JSON202.Id; c.Wait {
		return awaitTry(ctx, s, api, made)
	}
	_, err = fmt.Fprintln(s.out, answer.JSON202.Id)
	return err
}

// awaitTry waits until a delivery that was begun has been tried, and shows it.
func awaitTry(ctx context.Context, s *streams, api *client.ClientWithResponses, id string) error {
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
