package docx_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docx"
)

var peersDir = flag.String("peers", "", "the folder in which scripts/bench-peers installed other engines")

// peer is another engine, and how many times faster than it this one is to be.
type peer struct {
	syntax *syntax
	goal   float64
}

var peerEngines = []peer{{docxtemplater, 40}, {carbone, 10}}

// TestPeers compares the speed of other engines on the same works, in turn, in one run. All documents must say the same.
func TestPeers(t *testing.T) {
	if *peersDir == "" {
		t.Skip("make bench-peers runs this with other engines installed")
	}
	node := startPeers(t)
	table := []string{fmt.Sprintf("%-14s %12s", "µs", "platen")}
	for _, p := range peerEngines {
		table[0] += fmt.Sprintf(" %14s %7s", p.syntax.name, "times")
	}
	for _, w := range works {
		table = append(table, comparePeers(t, node, w))
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

const (
	peerRounds = 3
	peerTime   = 500 * time.Millisecond
)

func comparePeers(t *testing.T, node *peerProcess, w work) string {
	text := w.data(t)
	tpl, err := parse(w.template(ours, t))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := execute(t, tpl, decode(t, string(text)))
	want := textOfDocument(t, file)
	dir := t.TempDir()
	data := savedAs(t, dir, "data.json", text)
	var own time.Duration
	peers := make([]time.Duration, len(peerEngines))
	for range peerRounds {
		own += measureMedian(peerTime, func() {
			if _, err := tpl.Execute(t.Context(), io.Discard, decode(t, string(text)), docx.Options{}); err != nil {
				t.Fatal(err)
			}
		}) / peerRounds
		for i, p := range peerEngines {
			request := peerRequest{Engine: p.syntax.name, Data: data, Output: filepath.Join(dir, "out.docx"), Milliseconds: peerTime.Milliseconds()}
			request.Template = savedAs(t, dir, p.syntax.name+".docx", w.template(p.syntax, t))
			peers[i] += node.ask(t, request) / peerRounds
			out, err := os.ReadFile(request.Output)
			if err != nil {
				t.Fatal(err)
			}
			if got := textOfDocument(t, out); got != want {
				t.Fatalf("%s: %s makes a document of another text:\n%s", w.name, p.syntax.name, cmp.Diff(want, got))
			}
		}
	}
	line := fmt.Sprintf("%-14s %12.0f", w.name, float64(own)/1e3)
	for i, p := range peerEngines {
		ratio := float64(peers[i]) / float64(own)
		line += fmt.Sprintf(" %14.0f %7.1f", float64(peers[i])/1e3, ratio)
		if ratio < p.goal {
			t.Errorf("%s: %.1f times as fast as %s, want %.0f", w.name, ratio, p.syntax.name, p.goal)
		}
	}
	return line
}

// measureMedian repeats a function for a time and returns the median of its times.
func measureMedian(d time.Duration, f func()) time.Duration {
	var times []time.Duration
	for begin := time.Now(); time.Since(begin) < d; {
		start := time.Now()
		f()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

var textInXML = regexp.MustCompile(`<w:t(?: [^>]*)?>([^<]*)</w:t>`)

// textOfDocument returns the text of the main part, without the blanks that engines treat each in its way.
func textOfDocument(t *testing.T, file []byte) string {
	var b strings.Builder
	for _, m := range textInXML.FindAllStringSubmatch(unpack(t, file)["word/document.xml"], -1) {
		b.WriteString(m[1])
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func savedAs(t *testing.T, dir, name string, content []byte) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// peerProcess is the process that runs the other engines; see scripts/bench-peers/peers.js.
type peerProcess struct {
	requests *json.Encoder
	answers  *bufio.Scanner
}

type peerRequest struct {
	Engine       string `json:"engine"`
	Template     string `json:"template"`
	Data         string `json:"data"`
	Output       string `json:"output"`
	Milliseconds int64  `json:"milliseconds"`
}

func startPeers(t *testing.T) *peerProcess {
	cmd := exec.Command("node", filepath.Join(*peersDir, "peers.js"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &peerProcess{json.NewEncoder(in), bufio.NewScanner(out)}
}

// ask has a document made repeatedly and returns the median of its times.
func (p *peerProcess) ask(t *testing.T, request peerRequest) time.Duration {
	t.Helper()
	if err := p.requests.Encode(request); err != nil {
		t.Fatal(err)
	}
	if !p.answers.Scan() {
		t.Fatalf("the other engines ended: %v", p.answers.Err())
	}
	var answer struct {
		Nanoseconds int64
		Error       string
	}
	if err := json.Unmarshal(p.answers.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error != "" {
		t.Fatalf("%s: %s", request.Engine, answer.Error)
	}
	return time.Duration(answer.Nanoseconds)
}
