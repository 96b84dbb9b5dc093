package blob

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// draft is the file of an object that is being put: where the system can, one without a name, which is gone with the
// process and which ext4 syncs at a third of the cost; otherwise a temporary one.
type draft struct {
	*os.File
	name string // empty of a file without one
}

// newDraft makes the draft of an object in a folder.
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

// publish gives a finished draft its object's name, and makes the name durable. Linking does not replace an object that
// another Put has made meanwhile, as renaming would.
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

// drop ends a draft, published or not.
func (d *disk) drop(f draft) error {
	err := f.Close()
	if f.name != "" {
		err = errors.Join(err, d.remove(f.name))
	}
	return err
}

// hasUnnamed tries whether files without a name can be made here and given one.
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
