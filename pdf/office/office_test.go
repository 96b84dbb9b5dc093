package office_test

import (
	"os"
	"testing"

	"platen/pdf/office"
	"platen/pdf/pdftest"
)

func TestMain(m *testing.M) {
	office.Misbehave(misbehave)
	office.Worker(os.Args)
	if dir, ok := os.LookupEnv(parentFolder); ok {
		os.Exit(beParent(dir))
	}
	os.Exit(m.Run())
}

// newOfficeIn returns an Office with its folder in the given one.
func newOfficeIn(tb testing.TB, folder string) *office.Office {
	tb.Helper()
	return newOffice(tb, office.Config{Folder: folder})
}

// newOffice returns an Office that uses this binary as its workers.
func newOffice(tb testing.TB, cfg office.Config) *office.Office {
	tb.Helper()
	if cfg.Folder == "" {
		cfg.Folder = tb.TempDir()
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Worker = self
	engine, err := office.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := engine.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := engine.Available(); err != nil {
		tb.Skip(err)
	}
	return engine
}

func TestOffice(t *testing.T) {
	pdftest.TestEngine(t, newOffice(t, office.Config{Workers: 2, Recycle: 7}))
}
