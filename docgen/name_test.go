package docgen_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"platen/docgen"
)

func asError(t testing.TB, err error) *docgen.Error {
	t.Helper()
	var e *docgen.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want one that a caller can understand", err)
	}
	return e
}

func TestNames(t *testing.T) {
	tests := map[string]struct {
		name string
		want docgen.Code
	}{
		"plain":                       {"Letter.docx", ""},
		"of one character":            {"a", ""},
		"with blanks and dots inside": {"a b..c d", ""},
		"beginning with dots":         {"...x", ""},
		"of other scripts":            {"Übersicht 契約書 🙂", ""},
		"as long as may be":           {strings.Repeat("ä", docgen.MaxNameLength), ""},
		"too long":                    {strings.Repeat("a", docgen.MaxNameLength+1), docgen.CodeNameTooLong},
		"empty":                       {"", docgen.CodeNameInvalid},
		"one dot":                     {".", docgen.CodeNameInvalid},
		"two dots":                    {"..", docgen.CodeNameInvalid},
		"slash":                       {"a/b", docgen.CodeNameInvalid},
		"backslash":                   {`a\b`, docgen.CodeNameInvalid},
		"blank first":                 {" a", docgen.CodeNameInvalid},
		"blank last":                  {"a ", docgen.CodeNameInvalid},
		"another script's blank last": {"a\u3000", docgen.CodeNameInvalid},
		"blanks alone":                {"  ", docgen.CodeNameInvalid},
		"NUL":                         {"a\x00b", docgen.CodeNameInvalid},
		"line feed":                   {"a\nb", docgen.CodeNameInvalid},
		"delete":                      {"a\x7fb", docgen.CodeNameInvalid},
		"no UTF-8":                    {"a\xff", docgen.CodeNameInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := docgen.CheckName(tt.name)
			wantCode(t, err, tt.want)
			if tt.want != "" && asError(t, err).Problems[0].Name != "name" {
				t.Errorf("problems = %+v, want one with the name", asError(t, err).Problems)
			}
		})
	}
}

// TestTolerantNames checks names with spaces at their beginning, which a service can accept.
func TestTolerantNames(t *testing.T) {
	long := strings.Repeat("a", docgen.MaxNameLength)
	for name, want := range map[string]docgen.Code{
		" a": "", "  a b": "", "   ": docgen.CodeNameInvalid, " ..": docgen.CodeNameInvalid, "a ": docgen.CodeNameInvalid,
		" " + long: docgen.CodeNameTooLong, " " + long[1:]: "", "\u3000a": docgen.CodeNameInvalid, "\ta": docgen.CodeNameInvalid,
	} {
		wantCode(t, docgen.CheckTolerantName(name), want)
	}
}

func TestFoldKey(t *testing.T) {
	same := map[string][2]string{
		"case":                         {"Letter.DOCX", "lETTER.docx"},
		"composition":                  {"caf\u00e9", "cafe\u0301"},
		"case and composition":         {"CAF\u00c9", "cafe\u0301"},
		"sharp s":                      {"Straße", "STRASSE"},
		"the three sigmas":             {"ΣΟΦΟΣ", "σοφος"},
		"marks that only fold apart":   {"\u0390", "\u03aa\u0301"}, // ΐ, whose capital is Ϊ with another mark
		"a capital without own letter": {"\u01f0", "J\u030c"},
	}
	for name, pair := range same {
		t.Run(name+" does not count", func(t *testing.T) {
			if a, b := docgen.FoldKey(pair[0]), docgen.FoldKey(pair[1]); a != b {
				t.Errorf("keys of %q and %q = %s and %s, want the same", pair[0], pair[1], a, b)
			}
		})
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a", "ä"}, {"a", "a."}, {"1", "①"}, {"o", "ο"}} {
		if docgen.FoldKey(pair[0]) == docgen.FoldKey(pair[1]) {
			t.Errorf("%q and %q have the same key", pair[0], pair[1])
		}
	}
	if !(docgen.FoldKey("a") < docgen.FoldKey("aa") && docgen.FoldKey("aa") < docgen.FoldKey("b") &&
		docgen.FoldKey("z") < docgen.FoldKey("é")) {
		t.Error("keys do not sort as the bytes of the names do")
	}
}

func TestNumberedName(t *testing.T) {
	long := strings.Repeat("é", docgen.MaxNameLength)
	tests := map[string]struct {
		kind docgen.Kind
		name string
		n    int
		want string
	}{
		"before the extension":            {docgen.File, "Letter.docx", 2, "Letter (2).docx"},
		"without an extension":            {docgen.File, "Letter", 1, "Letter (1)"},
		"before the last extension":       {docgen.File, "a.tar.gz", 10, "a.tar (10).gz"},
		"nothing but an extension":        {docgen.File, ".docx", 1, "(1).docx"},
		"the stem gives way":              {docgen.File, long[:2*250] + ".docx", 1, long[:2*246] + " (1).docx"},
		"no blank is left before another": {docgen.File, strings.Repeat("a", 245) + "  bbb.docx", 1, strings.Repeat("a", 245) + " (1).docx"},
		"a folder has no extension":       {docgen.Folder, "Version 1.2", 1, "Version 1.2 (1)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := docgen.NumberedName(tt.kind, tt.name, tt.n); got != tt.want {
				t.Errorf("NumberedName(%q, %d) = %q, want %q", tt.name, tt.n, got, tt.want)
			}
		})
	}
	for _, name := range []string{
		long, "a." + long[:2*253], "." + long[:2*254], "a." + strings.Repeat("x", 246), long[:2*240] + "." + long[:2*14], " .x"[1:], "x" +
			strings.Repeat(".", 254),
	} {
		seen := map[string]bool{}
		for _, n := range []int{1, 2, 9, 10, 99, 100, 12345, 1 << 30} {
			got := docgen.NumberedName(docgen.File, name, n)
			if err := docgen.CheckName(got); err != nil {
				t.Errorf("NumberedName of %d characters, %d = %q: %v", utf8.RuneCountInString(name), n, got, err)
			}
			if seen[docgen.FoldKey(got)] {
				t.Errorf("NumberedName(%q, %d) = %q, which another number has", name, n, got)
			}
			seen[docgen.FoldKey(got)] = true
		}
	}
}

// TestNamesOfHiddenItems: a user with whom one file is shared learns about other files in its folder only that a name is taken.
func TestNamesOfHiddenItems(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.upload(w.alice, 0, "Secret.txt", "secret")
		file := w.upload(w.alice, 0, "shared.txt", "x")
		w.share(docgen.File, file.ID, w.bob, docgen.RoleEditor)
		for _, tt := range []struct {
			caller *docgen.Caller
			shown  int
		}{{w.alice, 1}, {w.bob, 0}} {
			_, renamed := w.UpdateFile(ctx, tt.caller, file.ID, docgen.ItemChange{Name: new("secret.TXT")})
			_, uploaded := w.CreateVersion(ctx, tt.caller, docgen.NewVersion{FileID: file.ID, Name: "secret.TXT"}, unread{t})
			for _, err := range []error{renamed, uploaded} {
				wantCode(t, err, docgen.CodeNameInUse)
				if e := asError(t, err); len(e.Conflicts) != tt.shown || tt.shown == 0 && strings.Contains(fmt.Sprint(e), "Secret") {
					t.Errorf("%s gets %+v, want %d items", tt.caller.User.Name, e, tt.shown)
				}
			}
		}
		must(t, w.TrashFile(ctx, w.bob, file.ID, ""))
		_, err := w.Restore(ctx, w.bob, docgen.File, file.ID, docgen.Restoration{Name: "secret.txt"})
		wantCode(t, err, docgen.CodeNameInUse)
		if e := asError(t, err); len(e.Conflicts) != 0 {
			t.Errorf("bob, who restores, sees %+v", e.Conflicts)
		}
	})
}
