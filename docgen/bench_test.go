package docgen_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// depth is the number of jobs in the list that BenchmarkJobPages reads.
const depth = 1_000_000

// BenchmarkJobPages reads a page of 100 jobs at the beginning and at the end of a list of a million.
func BenchmarkJobPages(b *testing.B) {
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			service, caller, batch := millionJobs(b, storetest.Open(b, config(b)))
			last := docgen.PageRequest{Limit: docgen.MaxPageLimit}
			for seen := 0; seen < depth-docgen.MaxPageLimit; seen += docgen.MaxPageLimit {
				last.Marker = readPage(b, service, caller, batch, last).Next
			}
			last.Limit = 100
			var spent [2]time.Duration
			for range b.N {
				for i, request := range []docgen.PageRequest{{Limit: 100}, last} {
					begun := time.Now()
					readPage(b, service, caller, batch, request)
					spent[i] += time.Since(begun)
				}
			}
			b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N), "first-µs")
			b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N), "deep-µs")
			b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "times-first")
		})
	}
}

func readPage(b *testing.B, s *docgen.Service, c *docgen.Caller, batch string, r docgen.PageRequest) docgen.Page[docgen.Job] {
	b.Helper()
	page, err := s.Jobs(b.Context(), c, docgen.JobFilter{BatchID: new(batch)}, r)
	if err != nil {
		b.Fatal(err)
	}
	if len(page.Entries) != r.Limit {
		b.Fatalf("a page of %d jobs has %d", r.Limit, len(page.Entries))
	}
	return page
}

// millionJobs creates a batch of one document and adds a million jobs to it.
func millionJobs(b *testing.B, db *store.DB) (*docgen.Service, *docgen.Caller, string) {
	b.Helper()
	ctx := b.Context()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	blobs, err := blob.Open(b.TempDir())
	check(err)
	service, err := docgen.New(ctx, docgen.Config{Store: db, Blobs: blobs})
	check(err)
	_, err = service.CreateUser(ctx, docgen.NewUser{Login: "ann@example.com", Name: "Ann"})
	check(err)
	token, err := service.CreateToken(ctx, docgen.NewToken{Login: "ann@example.com"})
	check(err)
	caller, err := service.Authenticate(ctx, token)
	check(err)
	file, err := service.CreateFile(ctx, caller, docgen.NewFile{Name: "T.docx"}, strings.NewReader("any"))
	check(err)
	_, err = service.MarkTemplate(ctx, caller, file.ID)
	check(err)
	batch, err := service.CreateBatch(ctx, caller, docgen.NewBatch{
		TemplateID: file.ID, InputSource: docgen.InputSource, OutputType: docgen.OutputDocx,
		Documents: []docgen.NewDocument{{Name: "x", Input: new(docgen.Inputs).Parse([]byte(`{}`))}},
	})
	check(err)
	const chunk = 10_000
	for from := int64(1); from < depth; from += chunk {
		jobs := make([]store.DocgenJob, chunk)
		for i := range jobs {
			jobs[i] = store.DocgenJob{
				ID: from + int64(i), BatchID: batch, TemplateFileID: file.ID, CreatedBy: caller.User.ID,
				FileName: fmt.Sprintf("Document %d.docx", i), Status: "pending",
			}
		}
		check(db.Write(ctx, func(tx *store.Tx) error { return tx.InsertJobs(ctx, jobs) }))
	}
	return service, caller, batch
}
