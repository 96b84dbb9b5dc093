package docgen

import (
	"context"
	"sync"
	"time"

	"platen/store"
)

// Operations is a summary of the server for its operators. Everything but Node and Disks is the same for all servers on the database.
type Operations struct {
	At       time.Time // when it was read
	Hours    []Hour    // the last 24, the oldest first
	Failed   []FailedDocuments
	Lanes    map[Lane]LaneBacklog
	Batches  int64 // that have not ended, up to CountedBacklog
	Webhooks Backlog
	Resting  int64 // receivers of webhooks to which nothing is sent for a while
	Node     Node
	Disks    []DiskSpace
	MinFree  int64   // bytes that must be free on each disk; 0 if that is not checked
	Alerts   []Alert // the most urgent first
}

// Node describes one server, in what is not in the database.
type Node struct {
	Name      string // of the machine
	Version   string
	StartedAt time.Time
	PDF       PDFEngine
}

// PDFEngine describes the processes of LibreOffice of a server.
type PDFEngine struct {
	Problem string // why it converts nothing, for people; empty if it does
	Workers int    // documents that it converts at once
	Busy    int    // of them, those with a document; spare and isolated ones count too, so that it can be more than Workers
	Waiting int    // documents that wait for a worker
	Starts  int64  // processes since the start of the server
	Stopped int64  // documents that crashed a process, or delayed others, since the start of the server
	Poison  int64  // those that did so again in isolation
}

// DiskSpace is the space on a file system. A negative number is unknown.
type DiskSpace struct {
	Name       string
	Free, Size int64
}

// Limits of reading the part of a summary that is in the database. All requests to a server share what it has read.
const (
	operationsEvery   = 5 * time.Second
	operationsTimeout = 5 * time.Second
)

// operations is the part of the summary that is in the database, as last read. Its lock is held while it is read.
type operations struct {
	mu   sync.Mutex
	last *summary
}

// summary is what the database knows.
type summary struct {
	at        time.Time
	ended     ended
	lanes     map[Lane]LaneBacklog
	batches   int64
	shortages []string
	webhooks  Backlog
	receivers store.CountReceiversRow
}

// Operations returns the summary, with what node returns for this server. It reads counters and bounded numbers of rows, at most once in
// operationsEvery.
func (s *Service) Operations(ctx context.Context, c *Caller, node func() Node) (Operations, error) {
	if err := c.require(ScopeEnterprise); err != nil {
		return Operations{}, err
	}
	read, err := s.summary(ctx)
	if err != nil {
		return Operations{}, err
	}
	o := Operations{
		At: read.at, Hours: read.ended.hours, Failed: read.ended.failed, Lanes: read.lanes, Batches: read.batches, Webhooks: read.webhooks,
		Resting: read.receivers.Resting,
		Node:    node(), Disks: s.room.spaces(), MinFree: s.room.minimum,
	}
	o.Alerts = alertsOf(&o, read, s.Ready(ctx))
	return o, nil
}

// summary returns what the database knows, which may be a few seconds old. A slow database delays the requests for a summary, but gets only
// one query at a time for all of them.
func (s *Service) summary(ctx context.Context) (*summary, error) {
	o := &s.operations
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last != nil {
		if age := s.now().Sub(o.last.at); age >= 0 && age < operationsEvery {
			return o.last, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), operationsTimeout) // other callers wait for the result
	defer cancel()
	read := &summary{at: s.now()}
	var err error
	if read.lanes, err = s.DocumentBacklog(ctx); err != nil {
		return nil, err
	}
	if read.webhooks, err = s.Backlog(ctx); err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		if read.ended, err = s.endedDocuments(ctx, q); err != nil {
			return err
		}
		if read.batches, err = q.CountBatchesInProgress(ctx, CountedBacklog); err != nil {
			return err
		}
		if read.shortages, err = q.ShortagesOfBatches(ctx); err != nil {
			return err
		}
		now := s.now()
		read.receivers, err = q.CountReceivers(ctx, now.UnixMicro(), now.Add(-receiversFailing).UnixMicro(), CountedBacklog)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.last = read
	return read, nil
}

// spaces returns the space on each disk.
func (r *room) spaces() []DiskSpace {
	spaces := make([]DiskSpace, len(r.disks))
	for i, disk := range r.disks {
		spaces[i] = DiskSpace{Name: disk.Name, Free: sizeOrUnknown(disk.Free), Size: sizeOrUnknown(disk.Size)}
	}
	return spaces
}

func sizeOrUnknown(size func() (int64, error)) int64 {
	if size == nil {
		return -1
	}
	n, err := size()
	if err != nil {
		return -1
	}
	return n
}
