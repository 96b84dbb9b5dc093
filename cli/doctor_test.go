package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"platen/store/storetest"
)

// The doctor reports the state of a PostgreSQL database, and changes nothing.
func TestDoctorWithPostgres(t *testing.T) {
	t.Parallel()
	cfg := storetest.EmptyPostgres(t)
	db, err := sql.Open("pgx", cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	args := []string{"--data=" + t.TempDir(), "--database=" + cfg.URL}
	for range 2 {
		wantDatabase(t, args, isOK, "responds and is empty")
	}
	var tables int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil ||
		tables != 0 {
		t.Errorf("the database has %d tables (%v), want none", tables, err)
	}
	if err := runServer(t, args...).stop(); err != nil {
		t.Fatal(err)
	}
	wantDatabase(t, args, isOK, "has the schema of this version")

	var newest int64
	if err := db.QueryRowContext(t.Context(),
		"DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version) RETURNING "+
			"version_id").Scan(&newest); err != nil {
		t.Fatal(err)
	}
	wantDatabase(t, args, isWarning, "belongs to an older version of platen; the next start")
	for _, version := range []int64{newest, 99999} {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)", version); err != nil {
			t.Fatal(err)
		}
	}
	wantDatabase(t, args, isProblem, "belongs to a newer version of platen")
}

// wantDatabase runs the doctor, without LibreOffice, and checks its report on the database.
func wantDatabase(t *testing.T, args []string, want state, message string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "platen", append([]string{"doctor", "--json", "--libreoffice=/nowhere"}, args...)...).Output()
	var report doctorReport
	if decodeErr := json.NewDecoder(bytes.NewReader(out)).Decode(&report); decodeErr != nil {
		t.Fatalf("platen doctor: %v, and its report: %v", err, decodeErr)
	}
	at := slices.IndexFunc(report.Findings, func(f finding) bool { return f.Check == "database" })
	if at < 0 {
		t.Fatal("nothing is said of the database")
	}
	if found := report.Findings[at]; found.State != want || !strings.Contains(found.Message, message) {
		t.Errorf("the database is %s: %s; want %s: … %s …", found.State, found.Message, want, message)
	}
}
