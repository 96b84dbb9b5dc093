package generate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"platen/docgen"
	"platen/store"
	"platen/store/storetest"
)

// user creates a user and returns a caller with a token of that user.
func (w *world) user(name string) *docgen.Caller {
	w.t.Helper()
	user, err := w.service.CreateUser(w.t.Context(), docgen.NewUser{Login: name + "@example.com", Name: name})
	must(w.t, err)
	token, err := w.service.CreateToken(w.t.Context(), docgen.NewToken{Login: user.Login})
	must(w.t, err)
	c, err := w.service.Authenticate(w.t.Context(), token)
	must(w.t, err)
	return c
}

// share gives a user a role on a file of the world's caller.
func (w *world) share(file int64, with *docgen.Caller, role docgen.Role) *docgen.Collaboration {
	w.t.Helper()
	given, err := w.service.CreateCollaboration(w.t.Context(), w.caller,
		docgen.NewCollaboration{ItemKind: docgen.File, ItemID: file, UserID: with.User.ID, Role: role})
	must(w.t, err)
	return given
}

func (w *world) upload(name string, paragraphs ...string) *docgen.Item {
	w.t.Helper()
	file, err := w.service.CreateFile(w.t.Context(), w.caller, docgen.NewFile{Name: name}, bytes.NewReader(docxOf(w.t, paragraphs...)))
	must(w.t, err)
	return file
}

func (w *world) version(c *docgen.Caller, file int64, paragraphs ...string) *docgen.Item {
	w.t.Helper()
	item, err := w.service.CreateVersion(w.t.Context(), c, docgen.NewVersion{FileID: file}, bytes.NewReader(docxOf(w.t, paragraphs...)))
	must(w.t, err)
	return item
}

// views are the operations that show a caller the reading of a template. The bool reports whether it has been read.
var views = map[string]func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error){
	"tags": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error) {
		return ready(s.Tags(ctx, c, template, 0, docgen.PageRequest{}))
	},
	"contract": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error) {
		return ready(s.Contract(ctx, c, template, 0))
	},
	"template": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error) {
		found, err := s.Template(ctx, c, template)
		return found, true, err
	},
	"list of templates": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, _ int64) (any, bool, error) {
		found, err := s.Templates(ctx, c, docgen.PageRequest{})
		return found.Entries, true, err
	},
	"samples": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error) {
		found, err := s.SampleReport(ctx, c, template, 0)
		return found, found.State != docgen.SamplesProcessing, err
	},
	"dry run": func(ctx context.Context, s *docgen.Service, c *docgen.Caller, template int64) (any, bool, error) {
		found, err := s.TryBatch(ctx, c, docgen.NewBatch{
			TemplateID: template, InputSource: docgen.InputSource, OutputType: docgen.OutputDocx,
			Documents: []docgen.NewDocument{{Name: "x", Input: new(docgen.Inputs).Parse([]byte(`{}`))}},
		})
		if docgen.IsCode(err, docgen.CodeConflict) {
			return nil, false, nil
		}
		if docgen.IsCode(err, docgen.CodeBadRequest) {
			return err.Error(), true, nil
		}
		return found, true, err
	},
}

func ready[T any](found T, ready bool, err error) (any, bool, error) { return found, ready, err }

// seen returns everything that a caller sees of a template in one view, once it has been read.
func (w *world) seen(way string, c *docgen.Caller, template int64) string {
	w.t.Helper()
	var text []byte
	waitFor(w.t, "the "+way, func() bool {
		found, ready, err := views[way](w.t.Context(), w.service, c, template)
		must(w.t, err)
		text, err = json.Marshal(found)
		must(w.t, err)
		return ready
	})
	return string(text)
}

// wantSeen checks that a caller sees a word of an included file in each of the given views, or in none of them.
func (w *world) wantSeen(c *docgen.Caller, template int64, word string, want bool, ways ...string) {
	w.t.Helper()
	w.seen("tags", c, template) // has the template read, again if that is necessary
	for _, way := range ways {
		if text := w.seen(way, c, template); strings.Contains(text, word) != want {
			w.t.Errorf("%s shows %q: %t, want %t:\n%s", way, word, !want, want, text)
		}
	}
}

var (
	waysOfTags     = []string{"tags", "contract", "dry run"}
	waysOfProblems = []string{"tags", "contract", "dry run", "template", "list of templates"}
)

// Users who may not download all files that a template includes at that moment see none of its content.
func TestVisibilityOfIncludedFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		ctx := t.Context()
		bob := w.user("bob")

		inner := w.upload("inner.docx", "{{hush}}")
		outer := w.upload("outer.docx", `{{include "inner.docx"}}`)
		template := w.template("T.docx", docxOf(t, "nothing"))
		w.share(template.ID, bob, docgen.RoleEditor)
		changed := w.version(bob, template.ID, `{{include "outer.docx"}}`)
		w.version(w.caller, template.ID, "nothing again")
		_, err := w.service.PromoteVersion(ctx, w.caller, template.ID, changed.VersionID) // now the owner is the uploader
		must(t, err)
		w.wantSeen(w.caller, template.ID, "hush", true, waysOfTags...)
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
		w.wantSeen(bob, template.ID, "include", true, waysOfProblems...) // which is why

		first := w.share(outer.ID, bob, docgen.RoleViewer)
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
		second := w.share(inner.ID, bob, docgen.RolePreviewer)
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
		_, err = w.service.UpdateCollaboration(ctx, w.caller, second.ID, docgen.CollaborationChange{Role: docgen.RoleViewer})
		must(t, err)
		w.wantSeen(bob, template.ID, "hush", true, waysOfTags...)
		must(t, w.service.DeleteCollaboration(ctx, w.caller, first.ID))
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)

		w.version(w.caller, inner.ID, "{{hush :: nope}}") // a mistake, which is shown with its tag
		w.wantSeen(w.caller, template.ID, "hush", true, waysOfProblems...)
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
	})
}

// The changes between two versions reveal nothing about the files that the older one included.
func TestChangesOfIncludedFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		bob := w.user("bob")
		w.upload("secret.docx", "{{hush}}")
		template := w.template("T.docx", docxOf(t, `{{include "secret.docx"}}`))
		w.share(template.ID, bob, docgen.RoleViewer)
		w.wantSeen(w.caller, template.ID, "hush", true, "contract")
		w.version(w.caller, template.ID, "{{plain}}")
		w.wantSeen(w.caller, template.ID, "hush", true, "contract") // it is no longer read
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
		w.wantSeen(bob, template.ID, "plain", true, waysOfTags...)
	})
}

// A template is read again when one of its included files has changed, was deleted, or was restored.
func TestTemplatesAreReadAgainAfterIncludeChange(t *testing.T) {
	storetest.Run(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, newBlobs(t))
		w.start()
		ctx := t.Context()
		terms := w.upload("terms.docx", "{{first}}")
		template := w.template("T.docx", docxOf(t, `{{include "terms.docx"}}`))
		w.wantSeen(w.caller, template.ID, "first", true, waysOfTags...)
		w.version(w.caller, terms.ID, "{{second}}")
		w.wantSeen(w.caller, template.ID, "second", true, waysOfTags...)
		w.wantSeen(w.caller, template.ID, "first", false, waysOfTags...)

		must(t, w.service.TrashFile(ctx, w.caller, terms.ID, ""))
		w.wantSeen(w.caller, template.ID, "second", false, waysOfTags...)
		w.wantSeen(w.caller, template.ID, "is not in the folder", true, waysOfProblems...)
		_, err := w.service.Restore(ctx, w.caller, docgen.File, terms.ID, docgen.Restoration{})
		must(t, err)
		found, err := w.service.Template(ctx, w.caller, template.ID)
		must(t, err)
		if !strings.Contains(found.Problem, "read again") {
			t.Errorf("before it is read again the template has the problem %q", found.Problem)
		}
		w.wantSeen(w.caller, template.ID, "second", true, waysOfTags...)
		w.wantSeen(w.caller, template.ID, "is not in the folder", false, waysOfProblems...)
	})
}

// A reading by an earlier release is not shown, because the files that it was read with are unknown: the template is
// read again.
func TestTemplatesOfEarlierReleaseAreReadAgain(t *testing.T) {
	storetest.RunConfig(t, func(t *testing.T, cfg store.Config) {
		db := storetest.Open(t, cfg)
		w := newWorld(t, db, newBlobs(t))
		bob := w.user("bob")
		w.upload("secret.docx", "{{hush :: nope}}")
		template := w.template("T.docx", docxOf(t, `{{include "secret.docx"}}`))
		w.share(template.ID, bob, docgen.RoleViewer)
		w.start()
		w.wantSeen(w.caller, template.ID, "hush", true, waysOfProblems...)
		_, err := storetest.Raw(t, cfg).ExecContext(t.Context(), "UPDATE docgen_tag_readings SET includes = ''")
		must(t, err)
		for _, way := range []string{"template", "list of templates"} {
			if text := w.seen(way, bob, template.ID); strings.Contains(text, "hush") {
				t.Errorf("%s before it is read again: %s", way, text)
			}
		}
		w.wantSeen(bob, template.ID, "hush", false, waysOfProblems...)
		w.wantSeen(w.caller, template.ID, "hush", true, waysOfProblems...)
	})
}
