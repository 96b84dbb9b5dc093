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
	Request string        `arg:"" optional:"" placeholder:"REQUEST" help:"File with a request as it arrived: headers, an empty line, body; - for standard input."`
	Headers string        `placeholder:"FILE" help:"File with the headers alone, also as JSON; with --body in place of REQUEST."`
	Body    string        `placeholder:"FILE" help:"File with the body alone."`
	Key     []string      `required:"" env:"PLATEN_WEBHOOK_KEY" placeholder:"KEY" help:"Key of the application, the primary one first; may be repeated. In the environment, where it is in no history of a shell, a comma stands between two."`
	Now     string        `placeholder:"TIME" help:"The time to check an old request at, such as 2026-01-31T12:00:00Z. Without it, the time it is."`
	MaxAge  time.Duration `default:"10m" placeholder:"TIME" help:"How old a request may be; 10 minutes."`
	JSON    bool          `name:"json" help:"Print JSON: every finding with its code."`
}

// Help is what platen webhooks verify --help adds.
func (*webhooksVerifyCmd) Help() string {
	return "A request may be written down as nc, curl -v, a proxy or a framework does. The body must be as it came, byte for byte: where it " +
		"was changed, the command tries what happens most often, and says what it was. Keys are never printed. The exit code is 0 when " +
		"the signature is good, and 1 when it is not."
}

// Validate is called by kong when everything is read.
func (c *webhooksVerifyCmd) Validate() error {
	if split := c.Headers != "" && c.Body != ""; split == (c.Request != "") || split != (c.Headers+c.Body != "") {
		return errors.New("give either a request, or --headers and --body")
	}
	if len(c.Key) == 0 || slices.Contains(c.Key, "") {
		return errors.New("a key is empty")
	}
	return nil
}

// Run checks the signature and says what is right and wrong.
func (c *webhooksVerifyCmd) Run(s *streams) error {
	now := time.Now()
	if c.Now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, c.Now); err != nil {
			return usagef("--now is a time such as 2026-01-31T12:00:00Z")
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

// schemeTitles are what the schemes of a report are called.
var schemeTitles = map[string]string{
	"box":               "Headers that begin with box-",
	"standard-webhooks": "Headers that begin with webhook- (Standard Webhooks)",
}

// howSigned is for developers whose own check refuses what is good.
const howSigned = `If your program refuses it, compare what it takes: for box-signature-primary and box-signature-secondary the bytes of the body and
then the timestamp, by the whole text of the key; for webhook-signature the id, the timestamp and the body with a full stop
between each, by the bytes that the key is the base64 of, without whsec_.
`

// print says what was found, for a person.
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
		fmt.Fprintln(&b, "To check an old capture at the time that it came, give that by --now.")
	}
	if report.Good {
		b.WriteString(howSigned)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
