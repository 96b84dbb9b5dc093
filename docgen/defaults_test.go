package docgen_test

import (
	"slices"
	"testing"

	"platen/docgen"
)

// TestDefaults creates batches with fewer and fewer options: those of the batch take precedence over the template's,
// and those of the template over the server's. A batch keeps the options from its creation.
func TestDefaults(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		service, err := docgen.New(ctx, docgen.Config{
			Store: w.db, Blobs: w.blobs, Now: w.clock.now, Defaults: docgen.Defaults{Missing: "blank", Locale: "de", TimeZone: "Europe/Berlin"},
		})
		must(t, err)
		file := w.template(w.alice, 0, "t.docx")
		made := func(options docgen.BatchOptions) string {
			t.Helper()
			b := batchOf(file.ID, 0, `{}`)
			b.Options = options
			id, err := service.CreateBatch(ctx, w.alice, b)
			must(t, err)
			return id
		}
		wantOptions := func(batch string, want docgen.BatchOptions) {
			t.Helper()
			got, err := service.Batch(ctx, w.alice, batch)
			if err != nil || got.Options != want {
				t.Errorf("the batch has the options %+v, %v, want %+v", got.Options, err, want)
			}
			claim, err := w.ClaimBatch(ctx, batch)
			if err != nil || claim.Options != want {
				t.Errorf("its documents have the options %+v, %v, want %+v", claim.Options, err, want)
			}
		}
		update := func(change docgen.TemplateChange, want docgen.Defaults) {
			t.Helper()
			got, err := service.UpdateTemplate(ctx, w.alice, file.ID, change)
			if err != nil || got.Defaults != want || got.FileName != "t.docx" {
				t.Errorf("UpdateTemplate = %+v, %v, want the defaults %+v", got, err, want)
			}
			listed, err := service.Templates(ctx, w.alice, docgen.PageRequest{})
			if err != nil || listed.Entries[0] != got {
				t.Errorf("the list has %+v, %v, want %+v", listed.Entries, err, got)
			}
		}
		ofServer := made(docgen.BatchOptions{})
		update(docgen.TemplateChange{Locale: new("fr-CH"), Missing: new("error")}, docgen.Defaults{Locale: "fr-CH", Missing: "error"})
		ofTemplate, own := made(docgen.BatchOptions{}), made(docgen.BatchOptions{Missing: "tag", Locale: "en", TimeZone: "UTC", Strict: true})
		update(docgen.TemplateChange{Locale: new(""), TimeZone: new("Asia/Tokyo")}, docgen.Defaults{Missing: "error", TimeZone: "Asia/Tokyo"})
		changed := made(docgen.BatchOptions{Locale: "it"})

		wantOptions(ofServer, docgen.BatchOptions{Missing: "blank", Locale: "de", TimeZone: "Europe/Berlin"})
		wantOptions(ofTemplate, docgen.BatchOptions{Missing: "error", Locale: "fr-CH", TimeZone: "Europe/Berlin"})
		wantOptions(own, docgen.BatchOptions{Missing: "tag", Locale: "en", TimeZone: "UTC", Strict: true})
		wantOptions(changed, docgen.BatchOptions{Missing: "error", Locale: "it", TimeZone: "Asia/Tokyo"})

		t.Run("that cannot be", func(t *testing.T) {
			_, err := service.UpdateTemplate(ctx, w.alice, file.ID, docgen.TemplateChange{Missing: new("nothing"), Locale: new("?"),
				TimeZone: new("Mars/Olympus")})
			got := problemNames(t, err)
			if slices.Sort(got); !slices.Equal(got, []string{"defaults.locale", "defaults.missing", "defaults.time_zone"}) {
				t.Errorf("problems with %q", got)
			}
			_, err = service.UpdateTemplate(ctx, w.alice, w.upload(w.alice, 0, "plain.docx", "x").ID, docgen.TemplateChange{})
			wantCode(t, err, docgen.CodeNotFound)
		})
	})
}
