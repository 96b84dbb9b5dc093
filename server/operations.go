package server

import (
	"context"
	"time"

	"platen/docgen"
)

type operations struct {
	Type          string            `json:"type" enum:"operations"`
	ReadAt        timestamp         `json:"read_at" doc:"When the server read the numbers: up to 5 seconds ago."`
	Hours         []operationsHour  `json:"hours" doc:"Documents of batches that ended in the last 24 hours, by hour (UTC), the oldest first. The last hour has not ended. Documents on request are not among them, unless they became jobs."`
	Failures      []operationsFault `json:"failures" doc:"The failed documents of these hours by reason, the most frequent first."`
	Backlog       []operationsLane  `json:"backlog" doc:"The waiting documents of each lane."`
	ActiveBatches int64             `json:"active_batches" doc:"Batches that have not ended, counted up to 100000."`
	Webhooks      operationsHooks   `json:"webhooks"`
	Server        operationsServer  `json:"server" doc:"The server that answers. Everything else is the same for all servers on the database."`
	Alerts        []operationsAlert `json:"alerts" doc:"What needs attention, the most urgent first; empty if all is well."`
}

type operationsHour struct {
	BeginsAt           timestamp `json:"begins_at"`
	Completed          int64     `json:"completed"`
	CompletedWithError int64     `json:"completed_with_error"`
	Failed             int64     `json:"failed"`
	Canceled           int64     `json:"canceled"`
}

type operationsFault struct {
	Reason    docgen.FailureReason `json:"reason" enum:"data,template,budget,pdf,destination,space,server,other" doc:"data: a value is missing or has the wrong type. template: the template cannot be used. budget: the document exceeds a limit. pdf: LibreOffice is missing or cannot convert the document. destination: the folder cannot be written. space: the owner of the folder has no space left. server: an error of the server."`
	Documents int64                `json:"documents"`
}

type operationsLane struct {
	Lane          docgen.Lane `json:"lane" enum:"docx,pdf,isolated"`
	Documents     int64       `json:"documents" doc:"Waiting documents, counted up to 100000."`
	OldestSeconds int64       `json:"oldest_seconds" doc:"Age of the oldest batch with waiting documents; 0 if none wait."`
}

type operationsHooks struct {
	Active      int64 `json:"active" doc:"Active webhooks."`
	Disabled    int64 `json:"disabled" doc:"Disabled webhooks."`
	Pending     int64 `json:"pending" doc:"Deliveries that wait, due or not, counted up to 100000."`
	LateSeconds int64 `json:"late_seconds" doc:"How long the most overdue delivery has been due; 0 if none is."`
	Resting     int64 `json:"resting" doc:"Webhooks whose receivers failed, so that nothing is sent to them for a while."`
}

type operationsServer struct {
	Name      string           `json:"name" doc:"The name of the machine."`
	Version   string           `json:"version"`
	StartedAt timestamp        `json:"started_at"`
	MinFree   int64            `json:"min_free_bytes" doc:"Free bytes below which the server rejects uploads and batches; 0 if this is disabled."`
	Disks     []operationsDisk `json:"disks" doc:"The file systems of the data folder and of the stores. Several stores may share one."`
	PDF       operationsPDF    `json:"pdf"`
}

type operationsDisk struct {
	Store string `json:"store" doc:"data for the data folder, blobs for the default store, or the name of a storage policy."`
	Free  *int64 `json:"free_bytes" doc:"null if unknown."`
	Size  *int64 `json:"size_bytes" doc:"null if unknown."`
}

type operationsPDF struct {
	Problem *string `json:"problem" doc:"Why the server cannot generate PDFs; null if it can."`
	Workers int     `json:"workers" doc:"Documents that LibreOffice converts at once."`
	Busy    int     `json:"busy" doc:"Processes of LibreOffice with a document. A spare one and the isolated one count too."`
	Waiting int     `json:"waiting" doc:"Generated documents that wait for a process."`
	Starts  int64   `json:"starts" doc:"Processes that were started since the start of the server."`
	Stopped int64   `json:"stopped" doc:"Conversions that crashed a process or delayed others, since the start of the server. The documents were converted again, in isolation."`
	Poison  int64   `json:"poison" doc:"Documents that did so twice, and failed."`
}

type operationsAlert struct {
	Name     string `json:"name" doc:"The name of the alert for Prometheus with the same threshold. The page Operations has more about it under this name." example:"PlatenBacklog"`
	Severity string `json:"severity" enum:"page,ticket" doc:"page: needs someone now. ticket: needs someone on a working day."`
	Summary  string `json:"summary"`
	Remedy   string `json:"remedy" doc:"What to do, in one sentence."`
}

var docGetOperations = doc{
	id: "get_operations", tag: tagOperations, scope: docgen.ScopeEnterprise,
	summary: "Get a summary of the server",
	description: "Documents per hour, backlog, failures by reason, webhooks, disks, LibreOffice, and alerts with what to do. The server " +
		"reads counters and bounded numbers of rows, at most every 5 seconds for all requests together, so poll it every 10 seconds if " +
		"you like. A Platen extension.",
	example: exampleOperations(),
}

func exampleOperations() *operations {
	return &operations{
		Type: "operations", ReadAt: timestamp{exampleTime},
		Hours:         []operationsHour{{BeginsAt: timestamp{exampleTime.Truncate(time.Hour)}, Completed: 10_214, Failed: 12}},
		Failures:      []operationsFault{{docgen.FailedData, 12}},
		Backlog:       []operationsLane{{docgen.LaneDocx, 0, 0}, {docgen.LanePDF, 3502, 456}, {docgen.LaneIsolated, 0, 0}},
		ActiveBatches: 1, Webhooks: operationsHooks{Active: 4, Pending: 2, LateSeconds: 0},
		Server: operationsServer{
			Name: "docs-1", Version: "1.4.0", StartedAt: timestamp{exampleTime.AddDate(0, 0, -19)}, MinFree: 512 << 20,
			Disks: []operationsDisk{{"data", new(int64(85 << 30)), new(int64(120 << 30))}},
			PDF:   operationsPDF{Workers: 2, Busy: 2, Waiting: 16, Starts: 3},
		},
		Alerts: []operationsAlert{},
	}
}

func (a *api) getOperations(ctx context.Context, c *call, _ *struct{}) (*reply[operations], error) {
	o, err := a.service.Operations(ctx, c.caller, a.node)
	if err != nil {
		return nil, err
	}
	result := operations{
		Type: "operations", ReadAt: timestamp{o.At}, ActiveBatches: o.Batches,
		Hours: each(o.Hours, func(h *docgen.Hour) operationsHour {
			return operationsHour{timestamp{h.BeginsAt}, h.Completed, h.CompletedWithError, h.Failed, h.Canceled}
		}),
		Failures: each(o.Failed, func(f *docgen.FailedDocuments) operationsFault { return operationsFault{f.Reason, f.Documents} }),
		Webhooks: operationsHooks{o.Webhooks.Active, o.Webhooks.Disabled, o.Webhooks.Pending, wholeSeconds(o.Webhooks.Late), o.Resting},
		Server:   operationsServerOf(&o),
		Alerts: each(o.Alerts, func(a *docgen.Alert) operationsAlert {
			return operationsAlert{a.Name, a.Severity, a.Summary, a.Remedy}
		}),
	}
	for _, lane := range docgen.Lanes() {
		result.Backlog = append(result.Backlog, operationsLane{lane, o.Lanes[lane].Documents, wholeSeconds(o.Lanes[lane].Oldest)})
	}
	return &reply[operations]{result}, nil
}

func operationsServerOf(o *docgen.Operations) operationsServer {
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	n := o.Node
	return operationsServer{
		Name: n.Name, Version: n.Version, StartedAt: timestamp{n.StartedAt}, MinFree: o.MinFree,
		Disks: each(o.Disks, func(d *docgen.DiskSpace) operationsDisk { return operationsDisk{d.Name, known(d.Free), known(d.Size)} }),
		PDF: operationsPDF{
			Problem: orNull(n.PDF.Problem), Workers: n.PDF.Workers, Busy: n.PDF.Busy, Waiting: n.PDF.Waiting, Starts: n.PDF.Starts,
			Stopped: n.PDF.Stopped, Poison: n.PDF.Poison,
		},
	}
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }
