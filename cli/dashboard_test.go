package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// dashboard has the fields of packaging/grafana.json that the test checks.
type dashboard struct {
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ H, W, X, Y int }
		Targets                  []struct{ RefID, Expr, LegendFormat string }
	}
}

var (
	bySum    = regexp.MustCompile(`by \(([^)]*)\)`)
	inLegend = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// Every metric, and every label that a panel groups by or shows, exists on a server.
func TestDashboardUsesRealMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../packaging/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	shown, targets, ids := metricsOfABusyServer(t), 0, map[int]bool{}
	for _, panel := range d.Panels {
		if ids[panel.ID] || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("%q has the id of another panel, or does not fit", panel.Title)
		}
		ids[panel.ID] = true
		if panel.Type != "row" && panel.Description == "" {
			t.Errorf("%q has no description", panel.Title)
		}
		for _, target := range panel.Targets {
			targets++
			checkTarget(t, shown, panel.Title, target.Expr, target.LegendFormat)
		}
	}
	if targets < 30 {
		t.Errorf("only %d queries are found", targets)
	}
}

func checkTarget(t *testing.T, shown map[string][]map[string]string, title, expr, legend string) {
	t.Helper()
	used := metricInUse.FindAllStringSubmatch(expr, -1)
	if len(used) == 0 {
		t.Errorf("%s: %s uses no metric", title, expr)
	}
	labels := map[string]bool{"le": true, "job": true, "instance": true}
	for _, use := range used {
		if use[1] != madeByPrometheus && len(shown[use[1]]) == 0 {
			t.Errorf("%s: no server has %s", title, use[1])
		}
		for _, series := range shown[use[1]] {
			for label := range series {
				labels[label] = true
			}
		}
	}
	var wanted []string
	for _, by := range bySum.FindAllStringSubmatch(expr, -1) {
		wanted = append(wanted, strings.Split(by[1], ", ")...)
	}
	for _, shows := range inLegend.FindAllStringSubmatch(legend, -1) {
		wanted = append(wanted, shows[1])
	}
	for _, label := range wanted {
		if !labels[label] {
			t.Errorf("%s: the metrics of %s have no label %q", title, expr, label)
		}
	}
}
