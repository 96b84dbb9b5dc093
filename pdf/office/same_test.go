package office_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"platen/pdf"
	"platen/pdf/fidelitytest"
	"platen/pdf/font"
	"platen/pdf/office"
	"platen/pdf/pdftest"
)

// The pages are the same whether LibreOffice is warm, cold, or restarted.
func TestSamePages(t *testing.T) {
	// This document has tracked changes. LibreOffice chooses their color by the documents that it converted before;
	// the engine must not.
	const changed = "58067.docx"
	engine := newOffice(t, office.Config{Recycle: 2})
	documents := map[string][]byte{"letter": pdftest.Letter("Amara Okafor"), "invoice": pdftest.Invoice(40), "contract": pdftest.Contract(5)}
	for i, path := range corpus(t) {
		switch name := filepath.Base(path); {
		case i%80 == 7 && !testing.Short(), name == changed, name == "898.docx": // has comments
			documents[name] = read(t, path)
		}
	}
	cold := convertCold(t, documents, font.SystemFolders...)
	if document, ok := documents[changed]; ok {
		maps.Copy(cold, convertCold(t, map[string][]byte{changed: document}, font.SystemFolders...))
	}
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			if cold[name] == "" {
				t.Skip("LibreOffice cannot convert it")
			}
			for _, what := range []string{"warm", "just before a restart", "just after a restart", "isolated"} {
				result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: document, Again: what == "isolated"})
				if err != nil {
					t.Fatal(err)
				}
				score, err := fidelitytest.Compare(t.Context(), cold[name], pdftest.Save(t, result.PDF))
				if err != nil {
					t.Fatal(err)
				}
				if difference := score.Difference(); difference != "" {
					t.Errorf("cold and %s: %v\n%s", what, score, difference)
				}
			}
		})
	}
}

// A substitute font with the same widths preserves lines and pages; other fonts do not.
func TestFontsKeepLines(t *testing.T) {
	text := pdftest.Contract(6) // in Calibri, which is not installed
	engine := newOffice(t, office.Config{})
	result, err := engine.Convert(t.Context(), pdf.Request{Document: text})
	if err != nil {
		t.Fatal(err)
	}
	with := pdftest.Save(t, result.PDF)
	without := convertCold(t, map[string][]byte{"text": text}, "/usr/share/fonts/truetype/dejavu")["text"]
	// Carlito has the widths of Calibri, so a document in Carlito has the same lines as one in Calibri.
	same := convertCold(t, map[string][]byte{"text": pdftest.Replace(text, "Calibri", "Carlito")}, font.SystemFolders...)["text"]
	improved, err := fidelitytest.Compare(t.Context(), same, with)
	if err != nil {
		t.Fatal(err)
	}
	worse, err := fidelitytest.Compare(t.Context(), same, without)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("with substitutes %v\nwithout %v", improved, worse)
	if improved.LineBreaks < 1 || improved.PageBreaks < 1 || worse.LineBreaks > 0.5 {
		t.Errorf("with substitutes %v\nwithout %v", improved, worse)
	}
}

var wholeCorpus = flag.Bool("corpus", false, "convert all documents of the corpus, not one in twelve")

// Convert either converts or rejects, with a reason, each document of the corpus.
func TestCorpus(t *testing.T) {
	const deadline = 30 * time.Second
	engine := newOffice(t, office.Config{Workers: 2, Deadline: deadline})
	var all sync.WaitGroup
	var mu sync.Mutex
	made, refused := 0, map[string]string{}
	work := make(chan string)
	for range 4 {
		all.Go(func() {
			for path := range work {
				result, err := pdf.Convert(t.Context(), engine, pdf.Request{Document: read(t, path)})
				why, isRefused := errors.AsType[*pdf.DocumentError](err)
				mu.Lock()
				switch {
				case isRefused:
					refused[path] = why.Reason
				case err != nil:
					t.Errorf("%s: %v", path, err)
				case !strings.HasPrefix(string(result.PDF), "%PDF-"):
					t.Errorf("%s: the PDF starts with %q", path, result.PDF[:min(len(result.PDF), 20)])
				default:
					made++
				}
				mu.Unlock()
			}
		})
	}
	for i, path := range corpus(t) {
		if *wholeCorpus || i%12 == 0 {
			work <- path
		}
	}
	close(work)
	all.Wait()
	t.Logf("generated %d PDFs", made)
	for path, reason := range refused {
		t.Logf("%s: %s", filepath.Base(path), reason)
	}
	if made == 0 {
		t.Error("generated no PDF")
	}
}

// corpus returns the paths of real documents from other projects.
func corpus(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../../shared/corpus/*/*.docx")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("there is no corpus in ../shared/corpus")
	}
	return paths
}

// convertCold converts documents with LibreOffice's command line, which sees only the fonts in the given folders.
func convertCold(t *testing.T, documents map[string][]byte, fonts ...string) map[string]string {
	t.Helper()
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	library, err := font.Open(font.Folders{System: fonts})
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.Create(filepath.Join(folder, "fonts.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(library.WriteConfig(config, filepath.Join(folder, "cache")), config.Close()); err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless", "-env:UserInstallation=file://" + folder + "/profile", "--convert-to", "pdf", "--outdir", folder}
	names := map[string]string{}
	for name, document := range documents {
		names[name] = filepath.Join(folder, fmt.Sprint(len(names), ".docx"))
		if err := os.WriteFile(names[name], document, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, names[name])
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, soffice, args...)
	command.Env = append(os.Environ(), "FONTCONFIG_FILE="+config.Name())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, out)
	}
	made := map[string]string{}
	for name, input := range names {
		if file := strings.TrimSuffix(input, ".docx") + ".pdf"; exists(file) {
			made[name] = file
		}
	}
	return made
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return content
}
