package cli

import (
	"strings"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

func TestMemoryIsDivided(t *testing.T) {
	asked := func(change func(*memoryAsked)) memoryAsked {
		a := memoryAsked{Total: 16 * gib, Workers: 2, WorkerMemory: gib, MaxBatch: 64 * mib}
		change(&a)
		return a
	}
	for _, tt := range []struct {
		name   string
		asked  memoryAsked
		want   memoryPlan // Notes and fields with the value 0 are not compared
		notes  string
		failed string
	}{
		{name: "a large machine", asked: asked(func(*memoryAsked) {}),
			want: memoryPlan{Workers: 2, Office: 6 * gib, Server: 10 * gib, TemplateCache: 256 * mib, InFlight: gib}},
		{name: "without LibreOffice", asked: asked(func(a *memoryAsked) { a.Total, a.Workers = gib, 0 }),
			want: memoryPlan{Server: gib, TemplateCache: 966367641 / 8, InFlight: 966367641 / 4, GoLimit: 966367641}},
		{name: "fewer workers where more do not fit", asked: asked(func(a *memoryAsked) { a.Total, a.Workers = 8*gib, 16 }),
			want: memoryPlan{Workers: 2, Office: 6 * gib, Server: 2 * gib}, notes: "2 LibreOffice processes instead of 16"},
		{name: "a small machine", asked: asked(func(a *memoryAsked) { a.Total = 2 * gib }),
			want: memoryPlan{Workers: 1, Server: gib}, notes: "LibreOffice can take 4.5 GiB of 2.0 GiB"},
		{name: "workers that the operator wants, on a small machine",
			asked: asked(func(a *memoryAsked) { a.Total, a.FixedWorkers = 4*gib, true }),
			want:  memoryPlan{Workers: 2, Server: 2 * gib}, notes: "lower --pdf-workers or --pdf-memory"},
		{name: "GOMEMLIMIT counts", asked: asked(func(a *memoryAsked) { a.GoLimit = 800 * mib }),
			want: memoryPlan{Workers: 2, GoLimit: 800 * mib, TemplateCache: 100 * mib, InFlight: 200 * mib}, notes: "GOMEMLIMIT"},
		{name: "a template cache that the operator wants", asked: asked(func(a *memoryAsked) { a.TemplateCache = 2 * gib }),
			want: memoryPlan{Workers: 2, TemplateCache: 2 * gib}},
		{name: "a large batch on a small machine", asked: asked(func(a *memoryAsked) { a.Total, a.Workers, a.MaxBatch = gib, 0, gib }),
			want: memoryPlan{Server: gib}, notes: "lower --max-batch"},

		{name: "connections of a large machine", asked: asked(func(a *memoryAsked) { a.OpenFiles = 20_000 }),
			want: memoryPlan{Connections: 4096}},
		{name: "connections of a small machine", asked: asked(func(a *memoryAsked) { a.Total, a.Workers = gib, 0 }),
			want: memoryPlan{Connections: 1843}},
		{name: "connections that the operator wants", asked: asked(func(a *memoryAsked) { a.Connections, a.OpenFiles = 9000, 20_000 }),
			want: memoryPlan{Connections: 9000}},
		{name: "connections of a process that may open few files", asked: asked(func(a *memoryAsked) { a.OpenFiles = 1024 }),
			want: memoryPlan{Connections: 512}, notes: "512 connections instead of 4096"},

		{name: "--memory too small for the workers", asked: asked(func(a *memoryAsked) {
			a.Total, a.Explicit, a.FixedWorkers = 4*gib, true,
				true
		}),
			failed: "--memory 4GiB is not enough: 2 LibreOffice processes of --pdf-memory, a spare one,"},
		{name: "--memory too small for a batch", asked: asked(func(a *memoryAsked) {
			a.Total, a.Explicit, a.Workers, a.MaxBatch = gib,
				true, 0, gib
		}),
			failed: "--max-batch 1GiB takes up to 3.0 GiB"},
		{name: "a template cache larger than the memory", asked: asked(func(a *memoryAsked) { a.TemplateCache = 16 * gib }),
			failed: "--template-cache 16GiB is more than half"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := planMemory(tt.asked)
			if tt.failed != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failed) {
					t.Errorf("the error is %v, want %q in it", err, tt.failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				name      string
				got, want int64
			}{
				{"workers", int64(got.Workers), int64(tt.want.Workers)}, {"office", got.Office, tt.want.Office}, {"server", got.Server, tt.want.Server},
				{"GOMEMLIMIT", got.GoLimit, tt.want.GoLimit}, {"template cache", got.TemplateCache, tt.want.TemplateCache},
				{"in flight", got.InFlight, tt.want.InFlight},
				{"connections", int64(got.Connections), int64(tt.want.Connections)},
			} {
				if c.want != 0 && c.got != c.want {
					t.Errorf("%s = %v, want %v", c.name, byteSize(c.got), byteSize(c.want))
				}
			}
			if notes := strings.Join(got.Notes, "; "); !strings.Contains(notes, tt.notes) || tt.notes == "" && notes != "" {
				t.Errorf("notes %q, want %q in them", notes, tt.notes)
			}
			if got.GoLimit+got.Office > got.Total && len(got.Notes) == 0 {
				t.Errorf("the parts are more than the whole, and nothing is said of it")
			}
		})
	}
}
