package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
	"platen/store"
	"platen/webhook"
)

// webhookConfig configures where notifications may go and how they are retried.
type webhookConfig struct {
	WebhookNetworks    networks         `env:"PLATEN_WEBHOOK_NETWORKS" placeholder:"CIDR,…" group:"Webhooks" help:"Networks that may receive notifications, in addition to public addresses, such as 10.1.0.0/16."`
	WebhookAnyAddress  bool             `env:"PLATEN_WEBHOOK_ANY_ADDRESS" group:"Webhooks" help:"For development only: allow notifications to any host and port, including your own network, also without TLS."`
	WebhookCA          string           `env:"PLATEN_WEBHOOK_CA" placeholder:"FILE" group:"Webhooks" help:"File with certificates of additional authorities for receivers, in PEM format."`
	WebhookTimeout     time.Duration    `default:"30s" env:"PLATEN_WEBHOOK_TIMEOUT" group:"Webhooks" help:"Maximum time for a receiver to respond (default 30s)."`
	WebhookRetries     webhook.Schedule `default:"10s,30s,1m,2m,4m,8m,10m,15m,15m,20m,20m,24m20s" env:"PLATEN_WEBHOOK_RETRIES" group:"Webhooks" help:"Pauses before retries of a notification: after the first failure, the second, and so on (default: 12 retries in 2 hours); none disables retries."`
	WebhookSlowTail    bool             `env:"PLATEN_WEBHOOK_SLOW_TAIL" group:"Webhooks" help:"Retry for three more days, with increasing pauses, before a notification fails."`
	WebhookConcurrency int              `default:"8" env:"PLATEN_WEBHOOK_CONCURRENCY" group:"Webhooks" help:"Maximum number of concurrent notifications to one receiver (default 8)."`
	WebhookMaxPending  int              `default:"100000" env:"PLATEN_WEBHOOK_MAX_PENDING" group:"Webhooks" help:"Maximum number of pending notifications per user (default 100000). More are dropped."`
	WebhookLogDays     int              `default:"30" env:"PLATEN_WEBHOOK_LOG_DAYS" group:"Webhooks" help:"Number of days to keep the log of deliveries (default 30). Pending deliveries stay longer."`
}

// problems returns everything that is wrong with the settings.
func (c *webhookConfig) problems() []error {
	var problems []error
	if c.WebhookTimeout < time.Second || c.WebhookTimeout > time.Minute {
		problems = append(problems, fmt.Errorf("--webhook-timeout must be from 1s to 1m, not %v", c.WebhookTimeout))
	}
	if c.WebhookConcurrency < 1 || c.WebhookConcurrency > 1000 {
		problems = append(problems, fmt.Errorf("--webhook-concurrency must be from 1 to 1000, not %d", c.WebhookConcurrency))
	}
	if c.WebhookMaxPending < 1 {
		problems = append(problems, fmt.Errorf("--webhook-max-pending must be at least 1, not %d", c.WebhookMaxPending))
	}
	if c.WebhookLogDays < 1 {
		problems = append(problems, fmt.Errorf("--webhook-log-days must be at least 1, not %d", c.WebhookLogDays))
	}
	return problems
}

// guard returns the policy for the addresses of webhooks.
func (c *webhookConfig) guard(log *slog.Logger) *webhook.Guard {
	if c.WebhookAnyAddress {
		log.Warn("WEBHOOKS CAN SEND UNENCRYPTED NOTIFICATIONS TO ANY HOST, INCLUDING THIS SERVER'S OWN NETWORK: --webhook-any-address " +
			"is for development only")
	}
	return webhook.NewGuard(webhook.GuardConfig{Networks: c.WebhookNetworks, AnyAddress: c.WebhookAnyAddress})
}

// deliverer returns the sender of notifications.
func (c *webhookConfig) deliverer(service *docgen.Service, guard *webhook.Guard, log *slog.Logger,
	registry prometheus.Registerer) (*webhook.Deliverer, error) {
	schedule := c.WebhookRetries
	if c.WebhookSlowTail {
		schedule = append(slices.Clip(schedule), webhook.SlowTail...)
	}
	cfg := webhook.Config{
		Service: service, Log: log, Guard: guard, Limit: c.WebhookTimeout, Schedule: schedule, Concurrency: c.WebhookConcurrency,
		Metrics: registry,
		Tasks:   deliveryWorkers,
	}
	if c.WebhookCA != "" {
		pem, err := os.ReadFile(c.WebhookCA)
		if err != nil {
			return nil, fmt.Errorf("--webhook-ca: %w", err)
		}
		if cfg.Roots, err = webhook.Roots(pem); err != nil {
			return nil, fmt.Errorf("--webhook-ca %s: %w", c.WebhookCA, err)
		}
	}
	return webhook.New(cfg), nil
}

// signed returns the headers of a notification for a listener, as a receiver would get them.
func signed(d docgen.Delivery, keys []docgen.SigningKey) map[string]string {
	message := webhook.Message{ID: d.EventID, Delivery: uuid.NewString(), Time: time.Now(), Body: d.Body}
	headers := map[string]string{}
	for name, values := range webhook.Sign(message, webhook.KeysOf(keys)) {
		headers[name] = strings.Join(values, ", ")
	}
	return headers
}

// deliveryWorkers is the number of concurrent webhook tasks, the maximum of River. Nearly all of them wait for a receiver, or for their
// owner's turn (see webhook.DefaultAttempts). A waiting task costs a goroutine and no connection.
const deliveryWorkers = 10_000

// crowdedPause is the minimum pause of a task whose owner has too many running.
const crowdedPause = 5 * time.Second

// delivering sends the pending notifications of a webhook.
func delivering(deliverer *webhook.Deliverer) func(context.Context, docgen.DeliverNotifications) error {
	return func(ctx context.Context, task docgen.DeliverNotifications) error {
		err := deliverer.Deliver(ctx, task)
		switch {
		case errors.Is(err, webhook.ErrUnfinished):
			return store.Snooze(0)
		case errors.Is(err, webhook.ErrCrowded):
			return store.Snooze(crowdedPause + rand.N(crowdedPause))
		}
		return err
	}
}

// dueEvery is the interval between searches for deliveries that have become due.
const dueEvery = 2 * time.Second

// waking periodically wakes deliveries that have become due.
func waking(service *docgen.Service, deliverer *webhook.Deliverer) func(context.Context, docgen.WakeWebhooks) error {
	return func(ctx context.Context, _ docgen.WakeWebhooks) error {
		if err := service.WakeWebhooks(ctx, deliverer.Serves); err != nil {
			return err
		}
		return store.Snooze(dueEvery)
	}
}

// networks are IP networks, as a setting.
type networks []netip.Prefix

func (n *networks) UnmarshalText(text []byte) error {
	*n = nil
	for entry := range strings.SplitSeq(string(text), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			return fmt.Errorf("%q is not a network: write it like 10.1.0.0/16 or fd00:1::/32; a single address has /32 or /128", entry)
		}
		*n = append(*n, network)
	}
	return nil
}

func (n networks) String() string {
	words := make([]string, len(n))
	for i, network := range n {
		words[i] = network.String()
	}
	return strings.Join(words, ",")
}
