package docgen_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"platen/docgen"
)

// templateNames pages through all of a caller's templates in both directions, and returns their names.
func (w *world) templateNames(c *docgen.Caller, limit int) []string {
	w.t.Helper()
	names := []string{}
	marker := ""
	for {
		page, err := w.Templates(w.t.Context(), c, docgen.PageRequest{Limit: limit, Marker: marker})
		must(w.t, err)
		for _, template := range page.Entries {
			names = append(names, template.FileName)
		}
		if page.Prev != "" {
			before, err := w.Templates(w.t.Context(), c, docgen.PageRequest{Limit: limit, Marker: page.Prev})
			must(w.t, err)
			if n := len(names) - len(page.Entries); before.Entries[len(before.Entries)-1].FileName != names[n-1] {
				w.t.Errorf("the page before %v ends with %v", page.Entries, before.Entries)
			}
		}
		if marker = page.Next; marker == "" {
			return names
		}
	}
}

func TestTemplates(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.upload(w.alice, 0, "a.docx", "random bytes \x00\x01")
		t.Run("any file can be marked, and stays so", func(t *testing.T) {
			for range 2 {
				got, err := w.MarkTemplate(ctx, w.alice, file.ID)
				if want := (docgen.Template{FileID: file.ID, FileName: "a.docx"}); err != nil || got != want {
					t.Errorf("MarkTemplate = %+v, %v, want %+v", got, err, want)
				}
			}
			if got, err := w.Template(ctx, w.alice, file.ID); err != nil || got.FileName != "a.docx" {
				t.Errorf("Template = %+v, %v", got, err)
			}
			if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'read_tags'"); n != 1 {
				t.Errorf("%d tasks to read the tags, want 1", n)
			}
		})
		t.Run("a file that is not marked is no template", func(t *testing.T) {
			plain := w.upload(w.alice, 0, "plain.docx", "x")
			_, err := w.Template(ctx, w.alice, plain.ID)
			wantCode(t, err, docgen.CodeNotFound)
			wantCode(t, w.UnmarkTemplate(ctx, w.alice, plain.ID), docgen.CodeNotFound)
			_, _, err = w.Tags(ctx, w.alice, plain.ID, 0, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.Jobs(ctx, w.alice, docgen.JobFilter{TemplateID: new(plain.ID)}, docgen.PageRequest{})
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.CreateBatch(ctx, w.alice, batchOf(plain.ID, 0, "{}"))
			wantCode(t, err, docgen.CodeNotFound)
			_, err = w.MarkTemplate(ctx, w.alice, w.folder(w.alice, 0, "folder"))
			wantCode(t, err, docgen.CodeNotFound)
		})
		t.Run("unmarked it is a plain file again", func(t *testing.T) {
			must(t, w.UnmarkTemplate(ctx, w.alice, file.ID))
			wantCode(t, w.UnmarkTemplate(ctx, w.alice, file.ID), docgen.CodeNotFound)
			_, err := w.File(ctx, w.alice, file.ID)
			must(t, err)
			if names := w.templateNames(w.alice, 10); len(names) != 0 {
				t.Errorf("templates = %q, want none", names)
			}
		})
	})
}

func TestTemplateTooLarge(t *testing.T) {
	runWith(t, docgen.Limits{TemplateBytes: 10}, func(t *testing.T, w *world) {
		_, err := w.MarkTemplate(t.Context(), w.alice, w.upload(w.alice, 0, "a.docx", "eleven byte").ID)
		wantCode(t, err, docgen.CodeBadRequest)
		_, err = w.MarkTemplate(t.Context(), w.alice, w.upload(w.alice, 0, "b.docx", "ten bytes!").ID)
		wantCode(t, err, "")
	})
}

func TestListOfTemplates(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		shared := w.folder(w.alice, 0, "shared")
		deep := w.folder(w.alice, w.folder(w.alice, shared, "a"), "b")
		names := numbered("%d.docx", 9)
		files := map[string]*docgen.Item{}
		for i, name := range names {
			files[name] = w.template(w.alice, []int64{0, shared, deep}[i%3], name)
		}
		bobs := w.template(w.bob, 0, "bob's.docx")
		viewer, editor := w.user("viewer"), w.user("editor")
		w.share(docgen.Folder, shared, viewer, docgen.RoleViewer)
		w.share(docgen.File, files["1.docx"].ID, editor, docgen.RoleEditor)
		w.share(docgen.Folder, deep, editor, docgen.RolePreviewer)
		for name, tt := range map[string]struct {
			caller *docgen.Caller
			want   []string
		}{
			"all that are one's own":                 {w.alice, names},
			"no others":                              {w.bob, []string{bobs.Name}},
			"those of a shared folder, however deep": {viewer, []string{"2.docx", "3.docx", "5.docx", "6.docx", "8.docx", "9.docx"}},
			"those of several shares":                {editor, []string{"1.docx", "3.docx", "6.docx", "9.docx"}},
		} {
			t.Run("has "+name, func(t *testing.T) {
				for _, limit := range []int{1, 2, 3, 100} {
					if got := w.templateNames(tt.caller, limit); !slices.Equal(got, tt.want) {
						t.Errorf("by %d: %q, want %q", limit, got, tt.want)
					}
				}
			})
		}
		t.Run("omits templates in the trash or in trashed folders", func(t *testing.T) {
			must(t, w.TrashFile(ctx, w.alice, files["1.docx"].ID, ""))
			must(t, w.TrashFolder(ctx, w.alice, deep, true, ""))
			for c, want := range map[*docgen.Caller][]string{w.alice: {"2.docx", "4.docx", "5.docx", "7.docx", "8.docx"}, editor: {}} {
				if got := w.templateNames(c, 2); !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
			_, err := w.Template(ctx, w.alice, files["1.docx"].ID)
			wantCode(t, err, docgen.CodeTrashed)
		})
		t.Run("shows names as they are now", func(t *testing.T) {
			_, err := w.UpdateFile(ctx, w.alice, files["2.docx"].ID, docgen.ItemChange{Name: new("renamed.docx")})
			must(t, err)
			if got := w.templateNames(w.alice, 100)[0]; got != "renamed.docx" {
				t.Errorf("first template = %q", got)
			}
		})
	})
}

// TestTemplatesAreListedInBoundedPages lists templates for which each page could cost thousands of look-ups.
func TestTemplatesAreListedInBoundedPages(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		reading := docgen.Reading{Tags: []docgen.Tag{}}
		for i := range 100 {
			reading.Includes = append(reading.Includes, docgen.Inclusion{Name: fmt.Sprintf("%s%d.docx", strings.Repeat("a/", 20), i)})
		}
		var want []int64
		for i := range 8 {
			file := w.template(w.alice, 0, fmt.Sprintf("%d.docx", i))
			must(t, w.SaveReading(ctx, file.VersionID, reading))
			want = append(want, file.ID)
		}
		var got []int64
		var sizes []int
		var marker, prev string
		for {
			page, err := w.Templates(ctx, w.alice, docgen.PageRequest{Limit: 1000, Marker: marker})
			must(t, err)
			for _, template := range page.Entries {
				got = append(got, template.FileID)
			}
			sizes, prev = append(sizes, len(page.Entries)), page.Prev
			if marker = page.Next; marker == "" {
				break
			}
		}
		if !slices.Equal(sizes, []int{2, 2, 2, 2}) || !slices.Equal(got, want) {
			t.Errorf("the pages have %d templates: %d, want %d, two on each page", sizes, got, want)
		}
		page, err := w.Templates(ctx, w.alice, docgen.PageRequest{Limit: 1000, Marker: prev})
		must(t, err)
		if len(page.Entries) != 2 || page.Entries[0].FileID != want[4] {
			t.Errorf("the page before the last is %+v, want the templates %d", page.Entries, want[4:6])
		}
	})
}

func TestTags(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		file := w.template(w.alice, 0, "a.docx")
		read := func(version int64, r docgen.PageRequest) (docgen.Page[docgen.Tag], bool) {
			t.Helper()
			page, ready, err := w.Tags(ctx, w.alice, file.ID, version, r)
			must(t, err)
			return page.Page, ready
		}
		tags := []docgen.Tag{{Content: "{{ a }}", Type: "text", JSONPaths: []string{"a"}}, {Content: "{{for x in b}}", Type: "for-loop",
			JSONPaths: []string{"b", "b.x"}}}
		for i := range 5 {
			tags = append(tags, docgen.Tag{Content: fmt.Sprintf("{{c%d}}", i), Type: "text", JSONPaths: []string{}})
		}
		t.Run("are unavailable while they are being read", func(t *testing.T) {
			if page, ready := read(0, docgen.PageRequest{}); ready || len(page.Entries) != 0 {
				t.Errorf("Tags = %+v, %v, want none yet", page, ready)
			}
		})
		t.Run("are listed in the order of the document", func(t *testing.T) {
			must(t, w.SaveReading(ctx, file.VersionID, docgen.Reading{Tags: tags}))
			for _, limit := range []int{1, 3, 7, 1000} {
				var got []docgen.Tag
				marker := ""
				for {
					page, ready := read(0, docgen.PageRequest{Limit: limit, Marker: marker})
					if !ready || page.Limit != limit {
						t.Fatalf("by %d: page = %+v, %v", limit, page, ready)
					}
					got = append(got, page.Entries...)
					if marker = page.Next; marker == "" {
						break
					}
					if back, _ := read(0, docgen.PageRequest{Limit: limit, Marker: page.Prev}); page.Prev != "" && back.Next == "" {
						t.Errorf("by %d: the page before has none after it", limit)
					}
				}
				if diff := cmp.Diff(tags, got); diff != "" {
					t.Errorf("by %d: -want +got:\n%s", limit, diff)
				}
			}
		})
		t.Run("are kept once", func(t *testing.T) {
			must(t, w.SaveReading(ctx, file.VersionID, docgen.Reading{Tags: tags[:1]}))
			must(t, w.SaveReading(ctx, file.VersionID, docgen.Reading{Problem: "too late"}))
			if page, ready := read(0, docgen.PageRequest{}); !ready || len(page.Entries) != len(tags) {
				t.Errorf("%d tags, ready %v, want %d", len(page.Entries), ready, len(tags))
			}
		})
		t.Run("of a new version are read again, and those of the old version stay", func(t *testing.T) {
			newer := w.version(w.alice, file.ID, "newer")
			if _, ready := read(0, docgen.PageRequest{}); ready {
				t.Error("the new version's tags are ready before they were read")
			}
			if n := w.count("SELECT COUNT(*) FROM river_job WHERE kind = 'read_tags'"); n != 2 {
				t.Errorf("%d tasks to read tags, want one for each version", n)
			}
			must(t, w.SaveReading(ctx, newer.VersionID, docgen.Reading{Tags: tags[:2]}))
			if page, ready := read(0, docgen.PageRequest{}); !ready || len(page.Entries) != 2 {
				t.Errorf("new version: %+v, %v, want 2 tags", page, ready)
			}
			if page, ready := read(file.VersionID, docgen.PageRequest{}); !ready || len(page.Entries) != len(tags) {
				t.Errorf("old version: %+v, %v, want %d tags", page, ready, len(tags))
			}
		})
		t.Run("of a version from before the file was marked are read when they are asked for", func(t *testing.T) {
			late := w.upload(w.alice, 0, "late.docx", "one")
			w.version(w.alice, late.ID, "two")
			_, err := w.MarkTemplate(ctx, w.alice, late.ID)
			must(t, err)
			for range 2 {
				if _, ready, err := w.Tags(ctx, w.alice, late.ID, late.VersionID, docgen.PageRequest{}); err != nil || ready {
					t.Errorf("ready = %v, %v, want not yet", ready, err)
				}
			}
			must(t, w.SaveReading(ctx, late.VersionID, docgen.Reading{Tags: tags}))
			if page, ready, err := w.Tags(ctx, w.alice, late.ID, late.VersionID, docgen.PageRequest{}); err != nil || !ready ||
				len(page.Entries) != len(tags) {
				t.Errorf("Tags = %+v, %v, %v", page, ready, err)
			}
		})
		t.Run("of another file's version are not found", func(t *testing.T) {
			other := w.template(w.alice, 0, "other.docx")
			for _, version := range []int64{other.VersionID, 12345, -1} {
				_, _, err := w.Tags(ctx, w.alice, file.ID, version, docgen.PageRequest{})
				wantCode(t, err, docgen.CodeNotFound)
			}
		})
		t.Run("of a file that is not a template do not exist", func(t *testing.T) {
			broken := w.template(w.alice, 0, "broken.docx")
			must(t, w.SaveReading(ctx, broken.VersionID, docgen.Reading{Tags: tags, Problem: "it is no Word file"}))
			page, ready, err := w.Tags(ctx, w.alice, broken.ID, 0, docgen.PageRequest{})
			if err != nil || !ready || len(page.Entries) != 0 || page.Limit != docgen.DefaultPageLimit || page.Problem != "it is no Word file" {
				t.Errorf("Tags = %+v, %v, %v, want an empty list", page, ready, err)
			}
		})
		t.Run("are kept whatever bytes are in them", func(t *testing.T) {
			hostile := w.template(w.alice, 0, "hostile.docx")
			must(t, w.SaveReading(ctx, hostile.VersionID,
				docgen.Reading{Tags: []docgen.Tag{{Content: "{{a\x00\xff}}", Type: "text", JSONPaths: []string{"a\x00\xff"}}}}))
			page, ready, err := w.Tags(ctx, w.alice, hostile.ID, 0, docgen.PageRequest{})
			if err != nil || !ready || len(page.Entries) != 1 || page.Entries[0].Content != "{{a\uFFFD\uFFFD}}" {
				t.Errorf("Tags = %+v, %v, %v", page, ready, err)
			}
			unreadable := w.template(w.alice, 0, "unreadable.docx")
			must(t, w.SaveReading(ctx, unreadable.VersionID, docgen.Reading{Problem: "what is \x00\xff?"}))
		})
		t.Run("of a marker from another version are refused", func(t *testing.T) {
			page, _ := read(file.VersionID, docgen.PageRequest{Limit: 1})
			_, _, err := w.Tags(ctx, w.alice, file.ID, 0, docgen.PageRequest{Marker: page.Next})
			wantCode(t, err, docgen.CodeBadRequest)
		})
	})
}

// TestFilesThatAreNotTemplates marks files that cannot be Word documents, on a service that accepts only Word documents,
// and on one that accepts any file.
func TestFilesThatAreNotTemplates(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		strict, err := docgen.New(ctx, docgen.Config{Store: w.db, Blobs: w.blobs, Now: w.clock.now, WordTemplates: true})
		must(t, err)
		pdf := w.upload(w.alice, 0, "a.docx", "%PDF-1.7")
		_, err = strict.MarkTemplate(ctx, w.alice, pdf.ID)
		wantCode(t, err, docgen.CodeBadRequest)
		if names := problemNames(t, err); !slices.Equal(names, []string{"file.id"}) ||
			!strings.Contains(err.Error(), "not a Word document but a PDF") {
			t.Errorf("error %v with problems %q", err, names)
		}
		_, err = strict.Template(ctx, w.alice, pdf.ID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = strict.MarkTemplate(ctx, w.bob, pdf.ID)
		wantCode(t, err, docgen.CodeNotFound)
		_, err = strict.MarkTemplate(ctx, w.alice, w.upload(w.alice, 0, "empty.docx", "").ID)
		wantCode(t, err, docgen.CodeBadRequest)

		var word bytes.Buffer
		z := zip.NewWriter(&word)
		for _, name := range []string{"[Content_Types].xml", "word/document.xml"} {
			_, err := z.Create(name)
			must(t, err)
		}
		must(t, z.Close())
		good := w.upload(w.alice, 0, "good.docx", word.String())
		_, err = strict.MarkTemplate(ctx, w.alice, good.ID)
		must(t, err)

		_, err = w.MarkTemplate(ctx, w.alice, pdf.ID)
		must(t, err)
		_, err = strict.MarkTemplate(ctx, w.alice, pdf.ID) // it stays marked
		must(t, err)
		states := func() []string {
			page, err := w.Templates(ctx, w.alice, docgen.PageRequest{})
			must(t, err)
			var states []string
			for _, entry := range page.Entries {
				one, err := w.Template(ctx, w.alice, entry.FileID)
				if err != nil || one != entry {
					t.Errorf("Template = %+v, %v, want %+v as in the list", one, err, entry)
				}
				states = append(states, entry.FileName+" "+entry.State+" "+entry.Problem)
			}
			return states
		}
		if got := states(); !slices.Equal(got, []string{"a.docx processing ", "good.docx processing "}) {
			t.Errorf("templates %q", got)
		}
		problem := strings.Repeat("é", 2000)
		must(t, w.SaveReading(ctx, pdf.VersionID, docgen.Reading{Problem: problem}))
		must(t, w.SaveReading(ctx, good.VersionID, docgen.Reading{Schema: []byte("{}")}))
		if got := states(); !slices.Equal(got, []string{"a.docx failed " + problem[:2000], "good.docx ready "}) {
			t.Errorf("templates %q", got)
		}
		if tags, _, err := w.Tags(ctx, w.alice, pdf.ID, 0, docgen.PageRequest{}); err != nil || tags.Problem != problem[:2000] {
			t.Errorf("tags %+v, %v", tags, err)
		}
		if contract, _, err := w.Contract(ctx, w.alice, pdf.ID, 0); err != nil || !slices.Equal(contract.Errors, []string{problem}) {
			t.Errorf("contract %+v, %v", contract, err)
		}
		_, err = w.CreateVersion(ctx, w.alice, docgen.NewVersion{FileID: good.ID}, reader("%PDF-1.7"))
		must(t, err)
		if got := states(); got[1] != "good.docx processing " {
			t.Errorf("after a new version: %q", got)
		}
	})
}

// Reading the templates of users with many of them comes after those of users with few.
func TestReadingsOfManyTemplates(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		const many = 70
		ben := w.user("ben")
		for i := range many {
			w.template(w.alice, 0, fmt.Sprintf("%d.docx", i))
		}
		w.template(ben, 0, "only.docx")
		tasks := query[string](w, "SELECT queue || ' ' || priority FROM river_job WHERE kind = 'read_tags' ORDER BY id")
		if len(tasks) != many+1 || tasks[0] != "tags 1" || tasks[4] != "tags_many 1" || tasks[many-1] != "tags_many 3" ||
			tasks[many] != "tags 1" {
			t.Errorf("the tasks are %q", tasks)
		}
	})
}

// TestTemplatesAmongMany lists a few templates among thousands that are in the trash or not shared, which takes several
// steps.
func TestTemplatesAmongMany(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		shared := w.folder(w.alice, 0, "shared")
		w.share(docgen.Folder, shared, w.bob, docgen.RoleViewer)
		hidden := map[*docgen.Caller]int64{w.bob: w.folder(w.bob, 0, "trash"), w.alice: w.folder(w.alice, 0, "not shared")}
		var want []string
		add := func(c *docgen.Caller, folder int64, name string) int64 {
			want = append(want, name)
			return w.template(c, folder, name).ID
		}
		last := add(w.bob, 0, "first.docx")
		for i, c := range []*docgen.Caller{w.bob, w.alice, w.bob} {
			w.fill(hidden[c], last+1, 1100)
			must(t, w.exec(`INSERT INTO docgen_templates (file_id, marked_at, marked_by, owner_id)
				SELECT id, 0, owner_id, owner_id FROM items WHERE id > $1 AND kind = 1`, last))
			w.clock.advance(2 * time.Second) // ids grow with the time
			add(w.alice, shared, fmt.Sprintf("alice's %d.docx", i))
			last = add(w.bob, 0, fmt.Sprintf("%d.docx", i))
		}
		w.recount()
		must(t, w.TrashFolder(t.Context(), w.bob, hidden[w.bob], true, ""))
		for _, limit := range []int{1, 3, 1000} {
			if got := w.templateNames(w.bob, limit); !slices.Equal(got, want) {
				t.Errorf("by %d: %q, want %q", limit, got, want)
			}
		}
	})
}
