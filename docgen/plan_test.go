package docgen_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"platen/blob"
	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// planningDB records the plan of each statement that goes through it.
type planningDB struct {
	store.DBTX
	t       testing.TB
	dialect store.Dialect
	plans   []string
}

func (p *planningDB) plan(ctx context.Context, statement string, args []any) {
	p.t.Helper()
	explain := "EXPLAIN "
	if p.dialect == store.SQLite {
		explain = "EXPLAIN QUERY PLAN "
	}
	rows, err := p.DBTX.QueryContext(ctx, explain+statement, args...)
	must(p.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(p.t, err)
	lines := []string{statement}
	for rows.Next() {
		values, to := make([]string, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		must(p.t, rows.Scan(to...))
		lines = append(lines, values[len(values)-1]) // the others are numbers from SQLite
	}
	must(p.t, rows.Err())
	p.plans = append(p.plans, strings.Join(lines, "\n"))
}

func (p *planningDB) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	p.plan(ctx, statement, args)
	return p.DBTX.ExecContext(ctx, statement, args...)
}

func (p *planningDB) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	p.plan(ctx, statement, args)
	return p.DBTX.QueryContext(ctx, statement, args...)
}

func (p *planningDB) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	p.plan(ctx, statement, args)
	return p.DBTX.QueryRowContext(ctx, statement, args...)
}

// plans returns the plans of the statements of some queries, which are rolled back.
func (w *world) plans(queries func(q *store.Queries) error) []string {
	w.t.Helper()
	db := w.raw()
	defer db.Close()
	tx, err := db.BeginTx(w.t.Context(), nil)
	must(w.t, err)
	planning := &planningDB{DBTX: tx, t: w.t, dialect: w.db.Dialect()}
	must(w.t, queries(store.New(planning)))
	must(w.t, tx.Rollback())
	return planning.plans
}

// backlog inserts waiting jobs of alice directly into the database, in batches of the given number of documents each.
// It returns one of the batches.
func (w *world) backlog(jobs, documents int64) (batch string) {
	w.t.Helper()
	ctx := w.t.Context()
	template := w.template(w.alice, 0, "T.docx")
	batch, err := w.CreateBatch(ctx, w.alice, docgen.NewBatch{
		TemplateID: template.ID, InputSource: docgen.InputSource, OutputType: docgen.OutputDocx,
		Documents: []docgen.NewDocument{{Name: "x", Input: new(docgen.Inputs).Parse([]byte(`{}`))}},
	})
	must(w.t, err)
	const n = `WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2) `
	must(w.t, w.exec(n+`INSERT INTO docgen_batches (id, template_file_id, template_version_id, destination_id, output_type, source,
		created_at, created_by,
			enterprise_id, application_id, options, shape, global_content)
		SELECT 'batch ' || n.i, template_file_id, template_version_id, destination_id, output_type, source, created_at, created_by,
			enterprise_id, application_id, options, shape, global_content FROM n JOIN docgen_batches ON docgen_batches.id = $3`, 0,
		jobs/documents-1, batch))
	must(w.t, w.exec(n+`INSERT INTO docgen_turns (id, user_id, lane, batch_id, documents, turn, due_at)
		SELECT n.i + 1, user_id, lane, 'batch ' || n.i, $4, 0, 0 FROM n JOIN docgen_turns ON docgen_turns.batch_id = $3`, 0,
		jobs/documents-1, batch, documents))
	must(w.t, w.exec(n+`INSERT INTO docgen_jobs (id, batch_id, template_file_id, created_by, file_name, status, attempt, output_file_id,
		output_version_id,
			failures, finished_at, waiting)
		SELECT n.i + 1, 'batch ' || (n.i / $4), template_file_id, created_by, file_name, status, attempt, output_file_id, output_version_id,
			failures, finished_at, waiting FROM n JOIN docgen_jobs ON docgen_jobs.batch_id = $3`, 0, jobs-1, batch, documents))
	w.recountBatches()
	must(w.t, w.exec("ANALYZE"))
	return "batch 0"
}

// No statement of a claim reads all jobs or all turns, however many wait.
func TestClaimsReadNoBacklog(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		batch := w.backlog(40_000, 10)
		ctx, now := t.Context(), noon.UnixMicro()
		plans := w.plans(func(q *store.Queries) error {
			turn, err := q.NextTurn(ctx, w.alice.User.ID, string(docgen.LaneDocx), now)
			if err != nil {
				return err
			}
			jobs, err := q.ClaimJobs(ctx, store.ClaimJobsParams{BatchID: batch, DueAt: now, Limit: 2, Slot: "docx/0"})
			if err != nil || len(jobs) != 2 {
				return fmt.Errorf("%d jobs were claimed: %w", len(jobs), err)
			}
			if _, err := q.FirstDue(ctx, batch, false); err != nil {
				return err
			}
			if _, err := q.CountDueTurns(ctx, w.alice.User.ID, string(docgen.LaneDocx), now); err != nil {
				return err
			}
			if _, err := q.WeightAndHeld(ctx, w.alice.User.ID, "docx/0"); err != nil {
				return err
			}
			return q.LeaveTurns(ctx, turn.ID)
		})
		if len(plans) != 6 {
			t.Errorf("%d plans, want 6", len(plans))
		}
		for _, plan := range plans {
			if whole := strings.NewReplacer("SCAN next", "", "SCAN CONSTANT ROW", "").Replace(plan); strings.Contains(whole,
				"Seq Scan on docgen_") || strings.Contains(whole, "SCAN ") {
				t.Errorf("a statement reads the whole table:\n%s", plan)
			}
		}
	})
}

// BenchmarkClaim claims documents of one user while few or very many wait, in one batch or in batches of a hundred.
func BenchmarkClaim(b *testing.B) {
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for _, batches := range []string{"one", "many"} {
			for _, jobs := range []int64{1_000, 1_000_000} {
				b.Run(fmt.Sprintf("%s/batches=%s/jobs=%d", name, batches, jobs), func(b *testing.B) {
					blobs, err := blob.Open(b.TempDir())
					must(b, err)
					w := newWorld(b, config(b), blobs, docgen.Limits{})
					documents := int64(100)
					if batches == "one" {
						documents = jobs
					}
					w.backlog(jobs, documents)
					var spent time.Duration
					claims := 0
					for b.Loop() {
						began := time.Now()
						claim := w.claim(w.docxSlot(claims))
						spent += time.Since(began)
						if claims++; len(claim.Jobs) == 0 {
							b.Fatal("nothing waits any more: use -benchtime=50x")
						}
					}
					b.ReportMetric(float64(spent.Microseconds())/float64(claims), "claim-µs")
				})
			}
		}
	}
}
