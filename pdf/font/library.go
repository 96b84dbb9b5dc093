// Package font lists the installed fonts, chooses substitutes for missing ones, and lists the fonts in a PDF.
//
// A [Library] is read from folders of font files. [Library.Report] returns the family that is used for each font that a document asks for
// (see docx/fonts), and the characters that no font can draw. [Report.Warnings] explains them to the author of a template.
// [Library.WriteConfig] writes a configuration for fontconfig, so that LibreOffice chooses the same families. [Used] returns the fonts in a
// PDF.
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

// SystemFolders are the folders where Linux keeps the fonts of all users. The fonts of the user who runs the program are left out, because
// documents must not depend on that user.
var SystemFolders = []string{"/usr/share/fonts", "/usr/local/share/fonts"}

// Folders are the folders with fonts. Their subfolders are read too.
type Folders struct {
	Operator string   // its fonts take precedence; "" for none
	System   []string // missing folders are ignored
}

// Library is the set of installed fonts. It is safe for concurrent use.
type Library struct {
	folders    []string
	faces      []*Face
	families   map[string][]*Face // by folded name
	postScript map[string]*Face   // by folded PostScript name
	rejected   []string           // files whose faces other files have in a better version, and links to files that are read anyway
	skipped    []Skipped

	order [][]*Face // in which faces are searched for a character, by East Asian language

	mu        sync.Mutex
	fallbacks map[textRune]string // families for characters that a font lacks; "" if there is none
}

// Skipped is a file that has the name of a font file but cannot be used.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Limits on reading folders.
const (
	maxFiles = 50_000
	maxDepth = 16 // of folders
)

// Open reads the fonts in folders. If two faces have the same name and style, it uses the operator's, or else the one with the higher
// version. It returns an error if the operator's folder cannot be read or no font is found.
func Open(folders Folders) (*Library, error) {
	l := &Library{families: map[string][]*Face{}, postScript: map[string]*Face{}, fallbacks: map[textRune]string{}}
	seen := map[string]string{}
	if folders.Operator != "" {
		if _, err := os.ReadDir(folders.Operator); err != nil {
			return nil, fmt.Errorf("read the font folder: %w", err)
		}
		l.read(folders.Operator, true, seen)
	}
	for _, folder := range folders.System {
		l.read(folder, false, seen)
	}
	if len(l.faces) == 0 {
		return nil, errors.New("no font found in the font folders")
	}
	l.choose()
	for i := range eastAsian {
		l.order = append(l.order, l.orderFor(eastAsian[i].language))
	}
	return l, nil
}

// orderFor returns the order in which faces are searched for a character that the font of its text lacks: first the families that the
// configuration names, then all faces.
func (l *Library) orderFor(language string) []*Face {
	var order []*Face
	for _, name := range slices.Concat(l.lastFamilies(), l.eastAsianFamilies(language)) {
		if face := regular(l.Family(name)); !slices.Contains(order, face) {
			order = append(order, face)
		}
	}
	return append(order, l.faces...)
}

// Skipped returns the font files that could not be read.
func (l *Library) Skipped() []Skipped { return slices.Clone(l.skipped) }

// Faces returns all faces, in the order in which they were found.
func (l *Library) Faces() []*Face { return slices.Clone(l.faces) }

// Family returns the faces of a family, by any of its names, or nil.
func (l *Library) Family(name string) []*Face { return l.families[fold(name)] }

// FamilyOf returns the family of the font with a PostScript name, or that name if the library does not have the font.
func (l *Library) FamilyOf(postScript string) string {
	if face := l.postScript[fold(postScript)]; face != nil {
		return face.Families[0]
	}
	return postScript
}

// read reads a folder. seen maps the folders read so far, without symbolic links, to the names by which they were read.
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

// readFolder reads a folder and its subfolders. It follows symbolic links, as fontconfig does, and reads no folder twice.
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

// choose keeps the best version of each face, and indexes the faces by name.
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

// beats reports whether a face is used instead of another version of it that was found earlier.
func (f *Face) beats(other *Face) bool {
	if f.own != other.own {
		return f.own
	}
	return compareVersion(f, other) > 0
}

// fold maps names to the same string if fontconfig considers them equal. It ignores case and spaces.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
