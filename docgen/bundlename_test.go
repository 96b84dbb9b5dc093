package docgen

import (
	"fmt"
	"testing"
)

func TestPortableNames(t *testing.T) {
	for name, want := range map[string]string{
		"Letter.docx": "Letter.docx", "con": "_con", "Con.docx": "_Con.docx", "CON .docx": "_CON .docx", "console": "console",
		"lpt9.x.y": "_lpt9.x.y", "COM².txt": "_COM².txt",
		`a<b>c:d"e/f\g|h?i*j`: "a_b_c_d_e_f_g_h_i_j", "a\x01b": "a_b", "dot.": "dot_", "blank ": "blank_", "..": "_", ".": "_", "": "",
		"日本.pdf": "日本.pdf", "../../etc/passwd": ".._.._etc_passwd", `..\x`: ".._x", "/root": "_root", "C:": "C_",
	} {
		if got := portableName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// TestBundleNames makes names unique that differ only in what some systems ignore, and many that are equal.
func TestBundleNames(t *testing.T) {
	names := bundleNames{}
	for _, tt := range [][2]string{
		{"a.txt", "a.txt"}, {"A.TXT", "A (1).TXT"}, {"a (1).txt", "a (1) (1).txt"}, {"a.txt", "a (2).txt"}, {"é", "é"},
		{"e\u0301", "e\u0301 (1)"}, {"a:b", "a_b"}, {"a?b", "a_b (1)"},
	} {
		if got := names.unique(File, tt[0]); got != tt[1] {
			t.Errorf("%q becomes %q, want %q", tt[0], got, tt[1])
		}
	}
	const many = 100_000 // would take minutes if each looked at all others
	for i := range many {
		want := "same"
		if i > 0 {
			want = fmt.Sprintf("same (%d)", i)
		}
		if got := names.unique(Folder, "same"); got != want {
			t.Fatalf("name %d becomes %q", i, got)
		}
	}
}
