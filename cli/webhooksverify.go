package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"platen/webhook"
)

type webhooksVerifyCmd struct {
	Request string        `arg:"" optional:"" placeholder:"REQUEST" help:"File with a captured request: headers, an empty line, and the body; - for standard input."`
	Headers string        `placeholder:"FILE" help:"File with only the headers, optionally as JSON. Use it with --body, instead of REQUEST."`
	Body    string        `placeholder:"FILE" help:"File with only the body. Use it with --headers."`
	Key     []string      `required:"" env:"PLATEN_WEBHOOK_KEY" placeholder:"KEY" help:"Key of the application. Repeat the flag for several keys, with the primary key first. Prefer the environment variable, to keep keys out of the shell history; separate keys with commas there."`
	Now     string        `placeholder:"TIME" help:"Time at which to verify an old request, such as 2026-01-31T12:00:00Z (default: the current time)."`
	MaxAge  time.Duration `default:"10m" placeholder:"TIME" help:"Maximum age of a request (default 10m)."`
	JSON    bool          `name:"json" help:"Print JSON: every finding with its code."`
}

// Help is the additional text of platen webhooks verify --help.
func (*webhooksVerifyCmd) Help() string {
	return "The request can be captured with nc, curl -v, a proxy, or a framework. The body must be exactly the received bytes. If it " +
		"was changed, the command tries the most common changes, and reports the one that matches. It never prints keys. The exit " +
		"code is 0 if the signature is valid, and 1 otherwise."
}

// kong calls Validate after parsing.
func (c *webhooksVerifyCmd) Validate() error {
	if split := c.Headers != "" && c.Body != ""; split == (c.Request != "") || split != (c.Headers+c.Body != "") {
		return errors.New("use either REQUEST, or --headers and --body")
	}
	if len(c.Key) == 0 || slices.Contains(c.Key, "") {
		return errors.New("a key is empty")
	}
	return nil
}

// Run verifies the signature and prints what is right and wrong.
func (c *webhooksVerifyCmd) Run(s *streams) error {
	now := time.Now()
	if c.Now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, c.Now); err != nil {
			return usagef("--now must be a time such as 2026-01-31T12:00:00Z")
		}
	}
	header, body, err := c.read(s.in)
	if err != nil {
		return err
	}
	report := webhook.Verify(header, []byte(body), c.Key, now, c.MaxAge)
	if c.JSON {
		err = printJSON(s.out, report)
	} else {
		err = c.print(s.out, &report)
	}
	if err == nil && !report.Good {
		err = errReported
	}
	return err
}

// read returns the headers and the body of the request.
func (c *webhooksVerifyCmd) read(stdin io.Reader) (http.Header, string, error) {
	name := c.Request
	if name == "" {
		name = c.Headers
	}
	text, err := readText(name, stdin)
	if err != nil {
		return nil, "", err
	}
	if name == c.Request {
		header, body, err := parseCapture(text)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return header, body, err
	}
	header, err := parseHeaders(text)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	body, err := readText(c.Body, stdin)
	return header, body, err
}

// schemeTitles are the titles of the signature schemes.
var schemeTitles = map[string]string{
	"box":               "Headers that start with box-",
	"standard-webhooks": "Headers that start with webhook- (Standard Webhooks)",
}

// howSigned helps developers whose own check rejects valid signatures.
const howSigned = `If your program rejects it, compare what it signs. For box-signature-primary and box-signature-secondary: the bytes of
the body, then the timestamp, with the complete text of the key. For webhook-signature: the id, the timestamp, and the body, separated
by periods, with the base64-decoded bytes of the key, without whsec_.
`

// print prints the findings for people.
func (c *webhooksVerifyCmd) print(w io.Writer, report *webhook.Report) error {
	var b strings.Builder
	old := false
	for _, scheme := range report.Schemes {
		fmt.Fprintln(&b, schemeTitles[scheme.Scheme])
		for _, finding := range scheme.Findings {
			fmt.Fprintf(&b, "    %-6s %s\n", finding.Level, finding.Message)
			old = old || finding.Code == webhook.TimestampOld
		}
	}
	fmt.Fprintf(&b, "\n%s\n", report.Message)
	if report.Remedy != "" {
		fmt.Fprintln(&b, report.Remedy)
	}
	if old {
		fmt.Fprintln(&b, "To verify an old capture at the time of its arrival, set that time with --now.")
	}
	if report.Good {
		b.WriteString(howSigned)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
