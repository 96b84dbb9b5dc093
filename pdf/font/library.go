// Package font lists the installed fonts, chooses substitutes for missing ones, and lists the fonts in a PDF.
//
// A Library is read from folders of font files. Library.Report has the family that is used for each font that a document asks for
// (docx/fonts), and the characters that no font can draw. Report.Warnings explains it to the author of a template. Library.WriteConfig
// writes a configuration for fontconfig, so that LibreOffice chooses the same families. Used returns the fonts in a PDF.
package font

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// SystemFolders are the folders in which Linux keeps the fonts of all users. The fonts of the user who starts the program are left out:
// documents must not depend on that user.
var SystemFolders = []string{"/usr/share/fonts", "/usr/local/share/fonts"}

// Folders are where fonts are looked for, with their folders.
type Folders struct {
	Operator string   // whose fonts are preferred to all others; "" for none
	System   []string // missing folders are ignored
}

// Library is the fonts that are installed. It is safe for use by several goroutines at once.
type Library struct {
	folders    []string
	faces      []*Face
	families   map[string][]*Face // by folded name
	postScript map[string]*Face   // by folded PostScript name
	rejected   []string           // files whose faces other files have better, and links to what is read anyway
	skipped    []Skipped

	order [][]*Face // in which a character is looked for, by the language of East Asia

	mu        sync.Mutex
	fallbacks map[textRune]string // families for characters that a font lacks, "" for none
}

// Skipped is a file that has the name of a font file and cannot be used.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Limits of what is read of the folders.
const (
	maxFiles = 50_000
	maxDepth = 16 // of folders
)

// Open reads the fonts in folders. Of two faces with the same name and style it uses the operator's, or else the one with the higher
// version. The error is about the operator's folder, or says that no font was found.
func Open(folders Folders) (*Library, error) {
	l := &Library{families: map[string][]*Face{}, postScript: map[string]*Face{}, fallbacks: map[textRune]string{}}
	seen := map[string]string{}
	if folders.Operator != "" {
		if _, err := os.ReadDir(folders.Operator); err != nil {
			return nil, fmt.Errorf("the folder of fonts: %w", err)
		}
		l.read(folders.Operator, true, seen)
	}
	for _, folder := range folders.System {
		l.read(folder, false, seen)
	}
	if len(l.faces) == 0 {
		return nil, errors.New("there is no font in the folders of fonts")
	}
	l.choose()
	for i := range eastAsian {
		l.order = append(l.order, l.orderFor(eastAsian[i].language))
	}
	return l, nil
}

// orderFor is the order in which a character is looked for that the font of its text has not: in the families that the
// configuration names, then in all.
func (l *Library) orderFor(language string) []*Face {
	var order []*Face
	for _, name := range slices.Concat(l.lastFamilies(), l.eastAsianFamilies(language)) {
		if face := regular(l.Family(name)); !slices.Contains(order, face) {
			order = append(order, face)
		}
	}
	return append(order, l.faces...)
}

// Skipped are the font files that could not be read.
func (l *Library) Skipped() []Skipped { return slices.Clone(l.skipped) }

// Faces are all that documents are set in, in the order they were found.
func (l *Library) Faces() []*Face { return slices.Clone(l.faces) }

// Family gives the faces of a family, by any of its names, or none.
func (l *Library) Family(name string) []*Face { return l.families[fold(name)] }

// FamilyOf is the family of a font by its PostScript name, or that name if the library has no such font.
func (l *Library) FamilyOf(postScript string) string {
	if face := l.postScript[fold(postScript)]; face != nil {
		return face.Families[0]
	}
	return postScript
}

// read reads a folder. seen are those that were read, by where links lead, with the names they were read by.
func (l *Library) read(folder string, own bool, seen map[string]string) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return
	}
	if _, err := os.Stat(folder); err != nil {
		return
	}
	l.folders = append(l.folders, folder)
	l.readFolder(folder, own, seen, maxDepth)
}

// readFolder reads a folder and those in it. Links are followed, as fontconfig does, and no folder is read twice.
func (l *Library) readFolder(folder string, own bool, seen map[string]string, depth int) {
	target, err := filepath.EvalSymlinks(folder)
	if err != nil || depth == 0 {
		return
	}
	if first, ok := seen[target]; ok {
		if first != folder {
			l.rejected = append(l.rejected, filepath.Join(folder, "*")) // fontconfig would read it again
		}
		return
	}
	seen[target] = folder
	entries, err := os.ReadDir(folder)
	if err != nil {
		l.skip(folder, err)
		return
	}
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		mode := entry.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(name)
			if err != nil {
				continue
			}
			mode = info.Mode().Type()
		}
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case mode.IsDir():
			l.readFolder(name, own, seen, depth-1)
		case mode.IsRegular() && isFontFile(name):
			l.readFile(name, own)
		}
	}
}

func isFontFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ttf", ".otf", ".ttc", ".otc":
		return true
	}
	return false
}

func (l *Library) readFile(name string, own bool) {
	if len(l.faces) >= maxFiles {
		l.skip(name, errors.New("there are too many fonts"))
		return
	}
	faces, err := readFaces(onDisk(name))
	if err != nil {
		l.skip(name, err)
		return
	}
	for _, face := range faces {
		face.File, face.own = name, own
		l.faces = append(l.faces, face)
	}
}

func (l *Library) skip(file string, err error) {
	l.skipped = append(l.skipped, Skipped{file, err.Error()})
}

// choose keeps the best of the faces that are versions of one another, and lists them by name.
func (l *Library) choose() {
	best := map[string]*Face{}
	for _, face := range l.faces {
		if other := best[face.key]; other == nil || face.beats(other) {
			best[face.key] = face
		}
	}
	used := map[string]bool{}
	lost := func(face *Face) bool { return best[face.key] != face }
	for _, face := range l.faces {
		used[face.File] = used[face.File] || !lost(face)
	}
	for _, face := range l.faces {
		if !used[face.File] && !slices.Contains(l.rejected, face.File) {
			l.rejected = append(l.rejected, face.File)
		}
	}
	l.faces = slices.DeleteFunc(l.faces, lost)
	for _, face := range l.faces {
		for _, name := range face.Families {
			key := fold(name)
			if !slices.Contains(l.families[key], face) {
				l.families[key] = append(l.families[key], face)
			}
		}
		if key := fold(face.PostScript); key != "" && l.postScript[key] == nil {
			l.postScript[key] = face
		}
	}
}

// beats reports whether a face is used instead of another that was found before.
func (f *Face) beats(other *Face) bool {
	if f.own != other.own {
		return f.own
	}
	return compareVersion(f, other) > 0
}

// fold makes names equal that fontconfig takes for the same: it looks at neither case nor blanks.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
