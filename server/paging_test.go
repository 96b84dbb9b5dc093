package server_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

// walkByMarker follows a list to its end. It returns the ids in order of appearance, and the path of every page.
func (w *world) walkByMarker(path string) (ids []string, pages []object) {
	w.t.Helper()
	marker := ""
	for {
		address := path
		if marker != "" {
			address += "&marker=" + url.QueryEscape(marker)
		}
		page := w.do("GET "+address, request{}).want(w.t, 200)
		pages = append(pages, page)
		for _, e := range page["entries"].([]any) {
			ids = append(ids, fmt.Sprint(e.(object)["id"]))
		}
		next, ok := page["next_marker"].(string)
		if !ok {
			return ids, pages
		}
		marker = next
	}
}

func TestFolderPagingModes(t *testing.T) {
	run(t, func(w *world) {
		ctx := w.t.Context()
		folder, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: "big"})
		must(w.t, err)
		var want []string
		for i := range 250 {
			if i < 120 {
				made, err := w.CreateFolder(ctx, w.owner, docgen.NewFolder{Name: fmt.Sprintf("folder %03d", i), ParentID: folder.ID})
				must(w.t, err)
				want = append(want, id(made.ID))
				continue
			}
			made, err := w.CreateFile(ctx, w.owner, docgen.NewFile{Name: fmt.Sprintf("file %03d", i), ParentID: folder.ID}, strings.NewReader("x"))
			must(w.t, err)
			want = append(want, id(made.ID))
		}
		path := "/folders/" + id(folder.ID) + "/items"

		w.t.Run("by marker", func(t *testing.T) {
			got, pages := w.walkByMarker(path + "?usemarker=true&limit=7")
			if !slices.Equal(got, want) || len(pages) != 36 {
				t.Errorf("%d ids on %d pages, want the 250 of the folder on 36", len(got), len(pages))
			}
			for i, page := range pages {
				if page["limit"] != 7.0 || (page["prev_marker"] == nil) != (i == 0) {
					t.Errorf("page %d: limit %v, prev_marker %v", i, page["limit"], page["prev_marker"])
				}
				for _, name := range []string{"total_count", "offset", "order"} {
					if _, ok := page[name]; ok {
						t.Errorf("page %d by marker has %s", i, name)
					}
				}
			}
			back := w.do("GET "+path+"?usemarker=true&limit=7&marker="+url.QueryEscape(pages[2]["prev_marker"].(string)), request{}).want(t, 200)
			if fmt.Sprint(back["entries"]) != fmt.Sprint(pages[1]["entries"]) {
				t.Error("prev_marker does not lead to the page before")
			}
		})
		w.t.Run("by offset", func(t *testing.T) {
			var got []string
			offset, total := 0, 1
			for offset <= total {
				page := w.do(fmt.Sprintf("GET %s?limit=7&offset=%d", path, offset), request{}).want(t, 200)
				for _, e := range page["entries"].([]any) {
					got = append(got, fmt.Sprint(e.(object)["id"]))
				}
				if page["offset"] != float64(offset) || page["limit"] != 7.0 || page["total_count"] != 250.0 {
					t.Fatalf("offset %v, limit %v, total_count %v at offset %d", page["offset"], page["limit"], page["total_count"], offset)
				}
				if _, ok := page["next_marker"]; ok {
					t.Error("a page by offset has next_marker")
				}
				total = int(page["total_count"].(float64))
				offset += int(page["limit"].(float64))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d ids, want the 250 of the folder in the order of their names", len(got))
			}
		})
		w.t.Run("sorted the other way", func(t *testing.T) {
			page := w.do("GET "+path+"?limit=1&sort=name&direction=DESC", request{}).want(t, 200)
			order := fmt.Sprint(page["order"])
			if name := page["entries"].([]any)[0].(object)["name"]; name != "folder 119" || !strings.Contains(order, "DESC") {
				t.Errorf("first %v, order %s", name, order)
			}
		})
		w.t.Run("in a folder's own answer", func(t *testing.T) {
			items := w.do(fmt.Sprintf("GET /folders/%d?limit=3&offset=119", folder.ID), request{}).want(t, 200)["item_collection"].(object)
			first := items["entries"].([]any)[0].(object)
			if len(items["entries"].([]any)) != 3 || first["name"] != "folder 119" || items["total_count"] != 250.0 {
				t.Errorf("item_collection %v", items)
			}
		})
	})
}

func TestPagesOfJobs(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		documents := make([]object, 20)
		for i := range documents {
			documents[i] = object{"generated_file_name": fmt.Sprint("Letter ", i), "user_input": object{}}
		}
		made := w.do("POST /docgen_batches", request{body: with(batch(s), object{"document_generation_data": documents})}).want(w.t, 202)
		for path, count := range map[string]int{
			"/docgen_batch_jobs/" + made["id"].(string) + "?limit=3": 20,
			at("/docgen_template_jobs/{template_id}?limit=3", s):     21,
			"/docgen_jobs?limit=3&usemarker=true":                    21,
		} {
			got, _ := w.walkByMarker(path)
			if slices.Sort(got); len(slices.Compact(got)) != count {
				w.t.Errorf("%s: %d jobs, want %d", path, len(got), count)
			}
		}
	})
}

func TestLimitsAndMarkers(t *testing.T) {
	run(t, func(w *world) {
		s := w.scene()
		w.scene()
		marker := func(path string) string {
			next, _ := w.do("GET "+path, request{}).want(w.t, 200)["next_marker"].(string)
			if next == "" {
				w.t.Fatalf("%s has no next page", path)
			}
			return next
		}
		ofJobs, ofTemplates := marker("/docgen_jobs?limit=1"), marker("/docgen_templates?limit=1")
		items := at("/folders/{folder_id}/items", s)
		tests := []struct {
			name, path string
			status     int
			code       string
			limit      float64 // in the response
		}{
			{"no limit", "/docgen_jobs", 200, "", 100},
			{"an empty limit", "/docgen_jobs?limit=", 200, "", 100},
			{"limit 1000", "/docgen_jobs?limit=1000", 200, "", 1000},
			{"limit 10^9", "/docgen_jobs?limit=1000000000", 200, "", 1000},
			{"limit 10^30", "/docgen_jobs?limit=1000000000000000000000000000000", 200, "", 1000},
			{"limit 0", "/docgen_jobs?limit=0", 400, "invalid_limit", 0},
			{"limit -1", "/docgen_jobs?limit=-1", 400, "invalid_limit", 0},
			{"limit abc", "/docgen_jobs?limit=abc", 400, "invalid_limit", 0},
			{"limit 1.5", "/docgen_jobs?limit=1.5", 400, "invalid_limit", 0},
			{"limit by offset", items + "?limit=abc", 400, "invalid_limit", 0},
			{"limit by marker", items + "?limit=0&usemarker=true", 400, "invalid_limit", 0},
			{"marker 0", "/docgen_jobs?marker=0", 200, "", 100},
			{"a marker without usemarker", "/docgen_jobs?marker=" + ofJobs, 200, "", 100},
			{"a marker with usemarker", "/docgen_jobs?usemarker=true&marker=" + ofJobs, 200, "", 100},
			{"a marker that was cut", "/docgen_jobs?marker=" + ofJobs[:len(ofJobs)-3], 400, "bad_request", 0},
			{"a marker of another list", "/docgen_jobs?marker=" + ofTemplates, 400, "bad_request", 0},
			{"a marker of another list, the other way", "/docgen_templates?marker=" + ofJobs, 400, "bad_request", 0},
			{"an invented marker", "/docgen_jobs?marker=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 400, "bad_request", 0},
			{"a marker that is no text for one", "/docgen_jobs?marker=%ff%00'--", 400, "bad_request", 0},
			{"offset 300000", items + "?offset=300000", 200, "", 100},
			{"offset 300001", items + "?offset=300001", 400, "invalid_offset", 0},
			{"offset -1", items + "?offset=-1", 400, "invalid_offset", 0},
			{"offset abc", items + "?offset=abc", 400, "invalid_offset", 0},
			{"an unknown sort key", items + "?sort=colour", 400, "bad_request", 0},
			{"an invalid direction", items + "?direction=up", 400, "bad_request", 0},
			{"usemarker that is no boolean", items + "?usemarker=perhaps", 400, "bad_request", 0},
			{"a tag list", at("/docgen_templates/{template_id}/tags?limit=5", s), 200, "", 5},
			{"a version that is no number", at("/docgen_templates/{template_id}/tags?template_version_id=x", s), 400, "bad_request", 0},
			{"an unknown version", at("/docgen_templates/{template_id}/tags?template_version_id=7", s), 404, "not_found", 0},
		}
		for _, tt := range tests {
			w.t.Run(tt.name, func(t *testing.T) {
				v := w.do("GET "+tt.path, request{}).want(t, tt.status)
				if code, _ := v["code"].(string); code != tt.code {
					t.Errorf("code %s, want %s", code, tt.code)
				}
				if limit, _ := v["limit"].(float64); limit != tt.limit {
					t.Errorf("limit %v, want %v", limit, tt.limit)
				}
				if tt.status == 400 && len(problems(v)) != 1 {
					t.Errorf("problems %q, want the one", problems(v))
				}
			})
		}
		w.t.Run("a marker of another caller", func(t *testing.T) {
			w.do("GET /docgen_jobs?marker="+ofJobs, request{as: "other"}).want(t, 400, "bad_request")
		})
	})
}
