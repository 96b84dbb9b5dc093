package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"platen/docx"
)

// If a port is taken, another one is used, unless the port was set explicitly.
func TestFreeAddress(t *testing.T) {
	if listener, err := net.Listen("tcp", defaultListen); err == nil { // otherwise it is taken already
		defer listener.Close()
	}
	for address, want := range map[string]string{
		defaultListen:    "127.0.0.1:0",
		"127.0.0.1:9999": "127.0.0.1:9999",
	} {
		if got, err := freeAddress(t.Context(), address); err != nil || got != want {
			t.Errorf("freeAddress(%q) = %q, %v, want %q", address, got, err, want)
		}
	}
}

// The quickstart prints what the README shows, continues to serve until Ctrl-C, and then exits without an error.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "platen", "quickstart")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PLATEN_LISTEN=127.0.0.1:0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "Press Ctrl-C") {
			break
		}
	}
	text := strings.Join(said, "\n")
	if url := regexp.MustCompile(`http://[0-9.:]+`).FindString(text); url != "" {
		response, err := http.Get(url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("the server answers %s", response.Status)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("the quickstart ends with %v, and says %q", err, stderr.String())
	}
	if got, want := withoutFigures(text), withoutFigures(readmeTranscript(t)); got != want {
		t.Errorf("the quickstart says\n%s\nbut the README shows\n%s", got, want)
	}
}

// readmeTranscript returns the output of the quickstart in the README, without the command.
func readmeTranscript(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, transcript, found := strings.Cut(string(readme), "$ make quickstart\n")
	transcript, _, ended := strings.Cut(transcript, "\n```\n")
	if !found || !ended {
		t.Fatal("the README has no transcript of the quickstart")
	}
	return transcript
}

// withoutFigures hides what is different each time: numbers, ids and the token.
func withoutFigures(text string) string {
	text = regexp.MustCompile(`TOKEN=\S+`).ReplaceAllString(text, "TOKEN=…")
	text = regexp.MustCompile(`batch_jobs/[0-9a-f-]+`).ReplaceAllString(text, "batch_jobs/…")
	return regexp.MustCompile(`\d+`).ReplaceAllString(text, "…")
}

// The example invoices are the same each time, differ from each other, and add up.
func TestExampleInvoices(t *testing.T) {
	invoices := exampleInvoices(exampleCount)
	if !reflect.DeepEqual(invoices, exampleInvoices(exampleCount)) {
		t.Error("two makings differ")
	}
	seen := map[string]bool{}
	for _, i := range invoices {
		number := i.Invoice.Number
		i.Invoice.Number = ""
		text, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(text)] {
			t.Errorf("invoice %s is there twice: %s", number, text)
		}
		seen[string(text)] = true
		total := 0
		for _, item := range i.Invoice.Items {
			total += item.Amount
			if item.Amount != item.Quantity*item.Price || item.Amount <= 0 {
				t.Errorf("invoice %s: %+v does not come to its amount", number, item)
			}
		}
		cents := total * (100 + i.Invoice.VATRate)
		if want := fmt.Sprintf("\nEUR%d.%02d\n", cents/100, cents%100); !strings.Contains(i.Invoice.PaymentCode, want) {
			t.Errorf("invoice %s: the payment code %q lacks the total %q", number, i.Invoice.PaymentCode, want)
		}
	}
}

func TestBatchNames(t *testing.T) {
	inputs := func(texts ...string) (list []input) {
		for _, text := range texts {
			list = append(list, input{text: text})
		}
		return list
	}
	tests := []struct {
		name, pattern string
		inputs        []input
		want          []string
		fails         bool
	}{
		{"numbers", "", inputs(`{}`, `{}`), []string{"1.docx", "2.docx"}, false},
		{"tags", "Nr {{n}}.docx", inputs(`{"n": 7}`), []string{"Nr 7.docx"}, false},
		{"filters", "{{n :: default(\"none\") :: uppercase}}", inputs(`{}`), []string{"NONE.docx"}, false},
		{"today", "{{n}} {{$today}}.docx", inputs(`{"n": 7}`), []string{"7 2026-03-05.docx"}, false},
		{"taken", "{{n}}", inputs(`{"n": "a"}`, `{"n": "A"}`, `{"n": "a"}`), []string{"a.docx", "A (1).docx", "a (2).docx"}, false},
		{"missing", "{{n}}", inputs(`{}`), nil, true},
		{"out of the folder", "{{n}}", inputs(`{"n": "../../x"}`), nil, true},
		{"into a folder", "{{n}}", inputs(`{"n": "a\\b"}`), nil, true},
		{"a null byte", "{{n}}", inputs(`{"n": "a\u0000b"}`), nil, true},
		{"a block", "{{if n}}x{{endif}}", inputs(`{}`), nil, true},
		{"no tag", "{{n :: nonsense}}", inputs(`{}`), nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := batchNames(tt.pattern, wordExtension, tt.inputs, docx.Options{Now: time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)})
			if (err != nil) != tt.fails || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("batchNames = %q, %v; want %q, an error: %v", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "512KiB": "512KiB", "1024KiB": "1MiB", "5 GiB": "5GiB", "1025": "1025", "1048576": "1MiB", "7B": "7",
		"": "", "0": "", "-1MiB": "", "5MB": "", "MiB": "", "9999999999GiB": "",
	} {
		var size byteSize
		err := size.UnmarshalText([]byte(text))
		if (err == nil) != (want != "") || err == nil && size.String() != want {
			t.Errorf("%q is read as %v, %v; want %q", text, size, err, want)
		}
	}
}
