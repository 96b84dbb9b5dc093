package cli

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collecting is a collector of traces.
type collecting struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*otlp.Span
}

func newCollecting(t *testing.T) *collecting {
	t.Helper()
	c := &collecting{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range request.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// find returns the span with a name in the trace of a test. The span must exist by the time the server has stopped.
func (c *collecting) find(t *testing.T, name string) *otlp.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, span := range c.spans {
		if hex.EncodeToString(span.GetTraceId()) != traceID {
			continue
		}
		if span.GetName() == name {
			return span
		}
		names = append(names, span.GetName())
	}
	t.Fatalf("the trace has the spans %q, and not %q", names, name)
	return nil
}

func attributesOf(span *otlp.Span) map[string]string {
	attributes := map[string]string{}
	for _, a := range span.GetAttributes() {
		attributes[a.GetKey()] = a.GetValue().String()
	}
	return attributes
}

const traceID, parentID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// The span of a request continues the trace from the client, and has the route and the status.
func TestTracesOfRequests(t *testing.T) {
	t.Parallel()
	traces := newCollecting(t)
	server := runServer(t, "--data="+t.TempDir(), "--otlp-endpoint="+traces.URL)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.url+"/2.0/users/me?fields=secret", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("traceparent", "00-"+traceID+"-"+parentID+"-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("status %d: %v", res.StatusCode, err)
	}
	server.terminate(t)
	server.awaitEnd(t)
	span := traces.find(t, "GET /2.0/users/me")
	if got := hex.EncodeToString(span.GetParentSpanId()); got != parentID {
		t.Errorf("the parent of the span is %s", got)
	}
	attributes := attributesOf(span)
	if attributes["http.response.status_code"] != "int_value:401" || attributes["http.route"] != `string_value:"GET /2.0/users/me"` {
		t.Errorf("the span has the attributes %v", attributes)
	}
}

// The spans of a document continue the trace of the request that created its batch.
func TestTracesOfDocuments(t *testing.T) {
	t.Parallel()
	traces, data := newCollecting(t), t.TempDir()
	server := newServer(t, data, "--otlp-endpoint="+traces.URL)
	v := newVisitor(t, server, "--data="+data)
	template, _ := v.mustTemplate("Letter.docx", exampleLetter(t))
	folder := v.mustFolder("Letters")
	body := `{"file": {"id": "` + template + `", "type": "file"}, "destination_folder": {"id": "` + folder + `", "type": "folder"},
		"input_source": "api", "output_type": "docx", "document_generation_data": [{"generated_file_name": "Offer", "user_input": {}}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.url+"/2.0/docgen_batches", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Traceparent": {"00-" + traceID + "-" + parentID + "-01"}, "Svc-Version": {"2025.0"}, "Content-Type": {"application/json"},
		"Authorization": {"Bearer " + v.token},
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusAccepted {
		t.Fatalf("status %d: %v", res.StatusCode, err)
	}
	metric := regexp.MustCompile(`(?m)^platen_documents_total\{.*\} 1$`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := until(ctx, func() (bool, error) { return metric.MatchString(metricsText(t, server)), nil }); err != nil {
		t.Fatal(err)
	}
	server.terminate(t)
	server.awaitEnd(t)
	request := traces.find(t, "POST /2.0/docgen_batches")
	document := traces.find(t, "document")
	if string(document.GetParentSpanId()) != string(request.GetSpanId()) {
		t.Error("the document is not part of its request")
	}
	for _, name := range []string{"wait", "render"} {
		if span := traces.find(t, name); string(span.GetParentSpanId()) != string(document.GetSpanId()) {
			t.Errorf("the span %q is not part of its document", name)
		}
	}
	if a := attributesOf(document); a["platen.output_type"] != `string_value:"docx"` || a["platen.batch_id"] == "" {
		t.Errorf("the span has the attributes %v", a)
	}
}

// A collector that is down prevents the server neither from working nor from stopping.
func TestTracesWithoutACollector(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	server := runServer(t, "--data="+t.TempDir(), "--otlp-endpoint="+gone.URL)
	res, err := http.Get(server.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("status %d: %v", res.StatusCode, err)
	}
}
