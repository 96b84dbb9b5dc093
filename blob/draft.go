package blob

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// draft is the file of an object during Put. If the system supports it, the file has no name: it disappears with the process, and ext4
// syncs it at a third of the cost. Otherwise, it is a temporary file.
type draft struct {
	*os.File
	name string // "" for an unnamed file
}

// newDraft creates the draft of an object in a folder.
func (d *disk) newDraft(folder string) (draft, error) {
	f, err := d.openDraft(path.Join(temporaryDir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.makeFolder(folder); err != nil {
			return draft{}, err
		}
		f, err = d.openDraft(path.Join(temporaryDir, folder))
	}
	return f, err
}

func (d *disk) openDraft(dir string) (draft, error) {
	if d.unnamed {
		f, err := openUnnamed(d.root, dir)
		return draft{File: f}, err
	}
	name := path.Join(dir, rand.Text())
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	return draft{f, name}, err
}

// publish gives a finished draft the name of its object, and makes the name durable. Unlike renaming, linking does not replace an object
// that another Put has created in the meantime.
func (d *disk) publish(f draft, name string) error {
	dir, err := d.root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	if f.name == "" {
		err = linkUnnamed(f.File, dir, path.Base(name))
	} else {
		err = d.root.Link(f.name, name)
	}
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	if err := syncAndClose(dir, nil); err != nil {
		return errors.Join(err, d.remove(name))
	}
	return nil
}

// drop closes a draft, published or not.
func (d *disk) drop(f draft) error {
	err := f.Close()
	if f.name != "" {
		err = errors.Join(err, d.remove(f.name))
	}
	return err
}

// hasUnnamed tests whether the file system supports unnamed files that can be given a name.
func (d *disk) hasUnnamed() bool {
	d.unnamed = true
	f, err := d.newDraft(checkFolder)
	if err != nil {
		return false
	}
	name := path.Join(temporaryDir, checkFolder, strings.ToLower(rand.Text()))
	err = d.publish(f, name)
	return errors.Join(err, d.drop(f), d.root.Remove(name)) == nil
}
