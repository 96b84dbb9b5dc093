package blob

// OpenDiskNamed opens a store on a disk as if files without a name could not be made there.
func OpenDiskNamed(dir string) (Store, error) {
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	d.unnamed = false
	return d, nil
}
