package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"platen/client"
)

const alertsFile = "../packaging/alerts.yml"

// alertRules is a file of Prometheus alerting rules, with the fields that ours use.
type alertRules struct {
	Groups []struct {
		Name  string
		Rules []alertRule
	}
}

type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func readAlerts(t *testing.T) []alertRule {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	var file alertRules
	if err := strict.Decode(&file); err != nil {
		t.Fatal(err)
	}
	var alerts []alertRule
	for _, group := range file.Groups {
		alerts = append(alerts, group.Rules...)
	}
	if len(alerts) < 5 {
		t.Fatalf("only %d alerts are found", len(alerts))
	}
	return alerts
}

// Every alert has a summary, a severity, and a remedy, both in the rules and in docs/operations.md.
func TestAlertsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts := readAlerts(t)
	for _, alert := range alerts {
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", alert.Alert)
		}
		if severity := alert.Labels["severity"]; severity != "page" && severity != "ticket" {
			t.Errorf("%s has the severity %q", alert.Alert, severity)
		}
		if at, want := alert.Annotations["runbook_url"], "docs/operations.md#"+strings.ToLower(alert.Alert); at != want {
			t.Errorf("%s points to %s, want %s", alert.Alert, at, want)
		}
		if !bytes.Contains(page, []byte("\n#### "+alert.Alert+"\n")) {
			t.Errorf("docs/operations.md has no heading for %s", alert.Alert)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^#### (Platen\w+)$`).FindAllSubmatch(page, -1) {
		if !slices.ContainsFunc(alerts, func(a alertRule) bool { return a.Alert == string(heading[1]) }) {
			t.Errorf("docs/operations.md describes %s, which is no alert", heading[1])
		}
	}
}

var (
	metricInUse = regexp.MustCompile(`\b((?:platen|process|go)_\w+|up)(?:\{([^}]*)\})?`)
	matcher     = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	series      = regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? \S+$`)
	byLabels    = regexp.MustCompile(`by \(([^)]*)\)`)
)

// Names that Prometheus itself adds: the metric of a scrape, and the labels of its target.
const madeByPrometheus = "up"

var labelsByPrometheus = []string{"job", "instance"}

// Every metric, label, and label value in an alert exists on a server.
func TestAlertsUseRealMetrics(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := metricsOfABusyServer(t)
	for name := range shown {
		name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "platen_") && !bytes.Contains(page, []byte("`"+name)) {
			t.Errorf("docs/operations.md does not say what %s is", name)
		}
	}
	for _, alert := range readAlerts(t) {
		used := metricInUse.FindAllStringSubmatch(alert.Expr, -1)
		if len(used) == 0 {
			t.Errorf("%s uses no metric", alert.Alert)
		}
		for _, use := range used {
			name, matchers := use[1], matcher.FindAllStringSubmatch(use[2], -1)
			if name != madeByPrometheus && !isShown(shown[name], matchers) {
				t.Errorf("%s: no server has %s", alert.Alert, use[0])
			}
		}
		for _, by := range byLabels.FindAllStringSubmatch(alert.Expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if !slices.Contains(labelsByPrometheus, label) && !hasLabel(shown, used, label) {
					t.Errorf("%s: by (%s) is not a label of its metrics", alert.Alert, label)
				}
			}
		}
	}
}

// hasLabel reports whether some metric in use has a label.
func hasLabel(shown map[string][]map[string]string, used [][]string, label string) bool {
	return slices.ContainsFunc(used, func(use []string) bool {
		return slices.ContainsFunc(shown[use[1]], func(labels map[string]string) bool { return labels[label] != "" })
	})
}

// isShown reports whether some series of a metric has all labels that are asked for, with the values that are named.
func isShown(labels []map[string]string, matchers [][]string) bool {
	return slices.ContainsFunc(labels, func(has map[string]string) bool {
		for _, m := range matchers {
			label, operator, value := m[1], m[2], m[3]
			got, ok := has[label]
			if !ok && !slices.Contains(labelsByPrometheus, label) || ok && operator == "=" && got != value {
				return false
			}
		}
		return true
	})
}

// metricsOfABusyServer returns the labels of every series of a server whose first attempt to notify a webhook failed.
func metricsOfABusyServer(t *testing.T) map[string][]map[string]string {
	t.Helper()
	data := t.TempDir()
	server := newServer(t, data, "--webhook-any-address", "--webhook-retries=100ms")
	v := newVisitor(t, server, "--data="+data)
	var tries atomic.Int32
	delivered := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		close(delivered)
	}))
	defer receiver.Close()
	folder := v.mustFolder("watched")
	v.mustWebhook(folder, receiver.URL, client.TriggerFILEUPLOADED)
	v.mustUploadTo(folder, "a.txt", []byte("text"))
	select {
	case <-delivered:
	case <-time.After(patience):
		t.Fatal("nothing is delivered")
	}
	shown := map[string][]map[string]string{}
	for _, line := range series.FindAllStringSubmatch(metricsText(t, server), -1) {
		labels := map[string]string{}
		for _, label := range matcher.FindAllStringSubmatch(line[2], -1) {
			labels[label[1]] = label[3]
		}
		shown[line[1]] = append(shown[line[1]], labels)
	}
	return shown
}

// metricsText returns what a server shows Prometheus.
func metricsText(t *testing.T, server *child) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, err)
	}
	return string(text)
}

// Prometheus itself says whether it understands the alerts, and which of them fire when all is well and when nothing is.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	promtool := findPromtool(t)
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, promtool, args...)
		cmd.Dir = filepath.Dir(alertsFile)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		cancel()
	}
}

// findPromtool finds the tool that comes with Prometheus where it is installed, or where scripts/test-deps puts it.
func findPromtool(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		missing(t, err.Error())
	}
	path := filepath.Join(cache, "platen", "promtool", "promtool")
	if _, err := os.Stat(path); err != nil {
		missing(t, "promtool is not installed")
	}
	return path
}
