package docgen_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"platen/docgen"
)

func secret(text string) *docgen.Secret { return new(docgen.Secret(text)) }

// pdfBatch returns a batch of PDFs with options.
func pdfBatch(o docgen.PDFOptions) docgen.NewBatch {
	b := batchOf(1, 0, "{}")
	b.OutputType, b.Options.PDF = docgen.OutputPDF, &o
	return b
}

func TestPDFProblems(t *testing.T) {
	no, yes := new(false), new(true)
	for name, tt := range map[string]struct {
		options docgen.PDFOptions
		want    []string // fields below options.pdf
	}{
		"nothing asked for": {docgen.PDFOptions{}, nil},
		"everything of an ordinary PDF": {docgen.PDFOptions{Tagged: yes, Bookmarks: no, Watermark: "DRAFT – „Entwurf“",
			Pictures: &docgen.PDFPictures{Quality: new(int64(1)), MaxDPI: new(int64(36))}, Password: secret("é 密"),
			OwnerPassword: secret("owner"), Permissions: &docgen.PDFPermissions{Print: docgen.PrintLowQuality, Copy: no},
			Merged: &docgen.MergedFile{Name: "All"}}, nil},
		"a standard": {docgen.PDFOptions{Standard: docgen.PDFA2b, Tagged: yes, Watermark: "DRAFT"}, nil},
		"a standard with permissions for all": {docgen.PDFOptions{Standard: docgen.PDFA2b,
			Permissions: &docgen.PDFPermissions{Copy: yes}}, nil},
		"attached data":     {docgen.PDFOptions{Standard: docgen.PDFA3b, AttachData: true}, nil},
		"permissions alone": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{Print: docgen.PrintNone}}, nil},
		"permissions with an owner": {docgen.PDFOptions{OwnerPassword: secret("owner"),
			Permissions: &docgen.PDFPermissions{Copy: no}}, nil},
		"permissions that forbid nothing": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{}}, nil},
		"every permission taken": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{Print: docgen.PrintNone, Copy: no,
			Change: no, Comment: no, FillForms: no, Assemble: no}}, nil},
		"a merged file with a password": {docgen.PDFOptions{Password: secret("x"), Merged: &docgen.MergedFile{Name: "All.PDF"}}, nil},
		"an unknown standard":           {docgen.PDFOptions{Standard: "PDF/A-1b"}, []string{"standard"}},
		"data in an ordinary PDF":       {docgen.PDFOptions{AttachData: true}, []string{"attach_data"}},
		"data in another standard":      {docgen.PDFOptions{Standard: docgen.PDFA2b, AttachData: true}, []string{"attach_data"}},
		"a standard without tags":       {docgen.PDFOptions{Standard: docgen.PDFA2b, Tagged: no}, []string{"tagged"}},
		"a standard that is merged": {docgen.PDFOptions{Standard: docgen.PDFA3b, Merged: &docgen.MergedFile{Name: "All"}},
			[]string{"merged"}},
		"a standard that is encrypted": {docgen.PDFOptions{Standard: docgen.PDFA2b, Password: secret("x"),
			OwnerPassword: secret("y"), Permissions: &docgen.PDFPermissions{Copy: no}}, []string{"password", "owner_password", "permissions"}},
		"a standard with less than all allowed": {docgen.PDFOptions{Standard: docgen.PDFA3b,
			Permissions: &docgen.PDFPermissions{Comment: no}}, []string{"permissions"}},
		"a watermark too long":     {docgen.PDFOptions{Watermark: strings.Repeat("é", 101)}, []string{"watermark"}},
		"a watermark of two lines": {docgen.PDFOptions{Watermark: "DRAFT\nonly"}, []string{"watermark"}},
		"pictures lossless with a quality": {docgen.PDFOptions{Pictures: &docgen.PDFPictures{Lossless: true,
			Quality: new(int64(90))}}, []string{"pictures.lossless"}},
		"pictures of no quality": {docgen.PDFOptions{Pictures: &docgen.PDFPictures{Quality: new(int64(0)),
			MaxDPI: new(int64(35))}}, []string{"pictures.quality", "pictures.max_dpi"}},
		"pictures of too much": {docgen.PDFOptions{Pictures: &docgen.PDFPictures{Quality: new(int64(101)),
			MaxDPI: new(int64(2401))}}, []string{"pictures.quality", "pictures.max_dpi"}},
		"empty passwords":            {docgen.PDFOptions{Password: secret(""), OwnerPassword: secret("x")}, []string{"password"}},
		"a password too long":        {docgen.PDFOptions{Password: secret(strings.Repeat("é", 64))}, []string{"password"}},
		"a password with a NUL":      {docgen.PDFOptions{Password: secret("a\x00b")}, []string{"password"}},
		"a password that is no text": {docgen.PDFOptions{Password: secret("\xff")}, []string{"password"}},
		"equal passwords": {docgen.PDFOptions{Password: secret("x"), OwnerPassword: secret("x")},
			[]string{"owner_password"}},
		"passwords that look equal": {docgen.PDFOptions{Password: secret("caf\u00e9"), OwnerPassword: secret("cafe\u0301")},
			[]string{"owner_password"}},
		"a password of nothing that counts":      {docgen.PDFOptions{Password: secret("\u00ad")}, []string{"password"}},
		"a password for private use":             {docgen.PDFOptions{Password: secret("a\ue000")}, []string{"password"}},
		"a password in both directions":          {docgen.PDFOptions{Password: secret("שלוםabc")}, []string{"password"}},
		"a password from right to left":          {docgen.PDFOptions{Password: secret("שלום")}, nil},
		"an owner password without restrictions": {docgen.PDFOptions{OwnerPassword: secret("x")}, []string{"owner_password"}},
		"printing that is unknown": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{Print: "colour"}},
			[]string{"permissions.print"}},
		"forms forbidden but comments allowed": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{FillForms: no}},
			[]string{"permissions.fill_forms"}},
		"assembling forbidden but changes allowed": {docgen.PDFOptions{Permissions: &docgen.PDFPermissions{Assemble: no}},
			[]string{"permissions.assemble"}},
		"a merged file without a name":       {docgen.PDFOptions{Merged: &docgen.MergedFile{}}, []string{"merged.name"}},
		"a merged file with an invalid name": {docgen.PDFOptions{Merged: &docgen.MergedFile{Name: "a/b"}}, []string{"merged.name"}},
		"a merged file with a name too long": {docgen.PDFOptions{Merged: &docgen.MergedFile{Name: strings.Repeat("a", 252)}},
			[]string{"merged.name"}},
		"everything wrong at once": {
			docgen.PDFOptions{Standard: "A", Watermark: "\x01", Pictures: &docgen.PDFPictures{Quality: new(int64(-1))}, Password: secret(""),
				Merged: &docgen.MergedFile{Name: ".."}},
			[]string{"standard", "watermark", "pictures.quality", "password"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range pdfBatch(tt.options).Problems(docgen.Limits{Documents: 1, InputBytes: 10}) {
				got = append(got, strings.TrimPrefix(p.Name, "options.pdf."))
				for _, text := range []*docgen.Secret{tt.options.Password, tt.options.OwnerPassword} {
					if text != nil && len(*text) > 1 && strings.Contains(p.Message, string(*text)) {
						t.Errorf("%q quotes a password", p.Message)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("problems with %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("another type of output", func(t *testing.T) {
		b := pdfBatch(docgen.PDFOptions{Watermark: "DRAFT"})
		b.OutputType = docgen.OutputDocx
		if p := b.Problems(docgen.Limits{Documents: 1, InputBytes: 10}); len(p) != 1 || p[0].Name != "options.pdf" {
			t.Errorf("problems %+v, want one of options.pdf", p)
		}
	})
}

func TestPDFDefaults(t *testing.T) {
	var none *docgen.PDFOptions
	for _, o := range []*docgen.PDFOptions{none, {}, {Permissions: &docgen.PDFPermissions{Print: docgen.PrintAll, Copy: new(true)}}} {
		if !o.IsTagged() || !o.HasBookmarks() || o.Protection() != nil {
			t.Errorf("%+v: tagged %v, bookmarks %v, protection %+v, want both, and none", o, o.IsTagged(), o.HasBookmarks(), o.Protection())
		}
	}
	all := docgen.Protection{Print: docgen.PrintAll, Copy: true, Change: true, Comment: true, FillForms: true, Assemble: true}
	opened, owned, unprinted := all, all, all
	opened.Password = "x"
	owned.OwnerPassword, owned.Copy = "y", false
	unprinted.Print = docgen.PrintNone
	for _, tt := range []struct {
		options docgen.PDFOptions
		want    docgen.Protection
	}{
		{docgen.PDFOptions{Password: secret("x")}, opened},
		{docgen.PDFOptions{OwnerPassword: secret("y"), Permissions: &docgen.PDFPermissions{Copy: new(false)}}, owned},
		{docgen.PDFOptions{Permissions: &docgen.PDFPermissions{Print: docgen.PrintNone}}, unprinted},
	} {
		if got := tt.options.Protection(); got == nil || *got != tt.want {
			t.Errorf("protection %+v, want %+v", got, tt.want)
		}
	}
}

// TestSecretsAreHidden prints, logs, and encodes a secret in every way.
func TestSecretsAreHidden(t *testing.T) {
	const text = "correct horse"
	var out strings.Builder
	p := docgen.Protection{Password: text, OwnerPassword: text}
	o := docgen.PDFOptions{Password: secret(text)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&out, verb+verb+verb, p, docgen.Secret(text), o)
	}
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("text", "protection", p, "secret", docgen.Secret(text))
	log = slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("json", "options", o, "protection", p, "secret", docgen.Secret(text))
	if err := json.NewEncoder(&out).Encode(o); err != nil {
		t.Error(err)
	}
	if strings.Contains(out.String(), "horse") || !strings.Contains(out.String(), `"password":""`) {
		t.Errorf("a secret is shown, or not even that there is one:\n%s", out.String())
	}
}
