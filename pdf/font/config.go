package font

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/template"
)

// WriteConfig writes a configuration for fontconfig. A process that is started with FONTCONFIG_FILE set to its path sees only the library's
// fonts, and chooses among them as Match does. cache is the folder for fontconfig's own cache.
func (l *Library) WriteConfig(w io.Writer, cache string) error {
	var out bytes.Buffer
	if err := configTemplate.Execute(&out, l.config(cache)); err != nil {
		return fmt.Errorf("the configuration of fonts: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

type config struct {
	Cache     string
	Folders   []string
	Rejected  []string
	Aliases   []alias
	Fallback  []string
	Languages []languageFamilies
	EastAsian []string
}

type alias struct{ Name, Used string }

type languageFamilies struct {
	Language string
	Families []string
}

func (l *Library) config(cache string) config {
	c := config{
		Cache: cache, Folders: l.folders, Rejected: slices.Clone(l.rejected), Fallback: l.lastFamilies(),
		EastAsian: l.eastAsianFamilies(""),
	}
	for _, skipped := range l.skipped {
		c.Rejected = append(c.Rejected, skipped.File)
	}
	for i := len(eastAsian) - 1; i >= 0; i-- { // the language of a country before the language in general
		language := eastAsian[i].language
		if families := l.installed(eastAsian[i].families()); len(families) > 0 {
			c.Languages = append(c.Languages, languageFamilies{language, families})
		}
	}
	known := knownStandIns()
	for _, key := range slices.Sorted(maps.Keys(known)) {
		name := known[key].name
		if m := l.Match(name); m.Status != Installed && m.Used != c.Fallback[0] {
			c.Aliases = append(c.Aliases, alias{name, m.Used})
		}
	}
	return c
}

// lastFamilies returns the families of last resort: the default family, then those with characters that it lacks.
func (l *Library) lastFamilies() []string {
	families := []string{l.fallback().Used}
	for _, name := range l.installed(slices.Concat(sansFallback, serifFallback, monoFallback, signFallback)) {
		if !slices.Contains(families, name) {
			families = append(families, name)
		}
	}
	return families
}

// eastAsianFamilies returns the families for East Asian characters. Those of the given language come first.
func (l *Library) eastAsianFamilies(language string) []string {
	var names []string
	first := eastAsianIndex(language)
	if first > 0 {
		names = eastAsian[first].families()
	}
	for i := range eastAsian {
		names = append(names, eastAsian[i].families()...)
	}
	return l.installed(names)
}

func (l *Library) installed(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return len(l.Family(name)) == 0 })
}

// The configuration hides bitmap fonts and PostScript fonts, because LibreOffice cannot embed them in a PDF. A name that is appended with
// the binding "same" precedes the fonts of a language.
var configTemplate = template.Must(template.New("fonts.conf").Funcs(template.FuncMap{"xml": escapeXML}).Parse(
	`<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<!-- Written by platen, and written again when it starts. -->
<fontconfig>
{{- range .Folders}}
  <dir>{{xml .}}</dir>
{{- end}}
  <cachedir>{{xml .Cache}}</cachedir>
  <selectfont>
    <rejectfont>
      <pattern><patelt name="scalable"><bool>false</bool></patelt></pattern>
      <glob>*.pfa</glob>
      <glob>*.pfb</glob>
{{- range .Rejected}}
      <glob>{{xml .}}</glob>
{{- end}}
    </rejectfont>
  </selectfont>
{{- range .Aliases}}
  <match target="pattern">
    <test name="family"><string>{{xml .Name}}</string></test>
    <edit name="family" mode="append" binding="same"><string>{{xml .Used}}</string></edit>
  </match>
{{- end}}
  <match target="pattern">
    <edit name="family" mode="append_last" binding="strong">
{{- range .Fallback}}
      <string>{{xml .}}</string>
{{- end}}
    </edit>
  </match>
{{- range .Languages}}
  <match target="pattern">
    <test name="lang" compare="contains"><string>{{.Language}}</string></test>
    <edit name="family" mode="append_last" binding="strong">
{{- range .Families}}
      <string>{{xml .}}</string>
{{- end}}
    </edit>
  </match>
{{- end}}
{{- if .EastAsian}}
  <match target="pattern">
    <edit name="family" mode="append_last" binding="strong">
{{- range .EastAsian}}
      <string>{{xml .}}</string>
{{- end}}
    </edit>
  </match>
{{- end}}
  <config>
    <rescan><int>0</int></rescan>
  </config>
</fontconfig>
`))

func escapeXML(text string) (string, error) {
	var b bytes.Buffer
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
}
