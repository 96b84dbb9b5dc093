package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"platen/docgen"
)

// sizeOrNone is a size, or none, which is 0.
type sizeOrNone int64

func (n *sizeOrNone) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*n = 0
		return nil
	}
	var size byteSize
	if err := size.UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or none", err)
	}
	*n = sizeOrNone(size)
	return nil
}

func (n sizeOrNone) String() string {
	if n == 0 {
		return "none"
	}
	return byteSize(n).String()
}

// disks returns the file systems that a server stores data on: of the data folder, of contents, and of each storage policy.
func (c *config) disks() []docgen.Disk {
	at := func(name, folder string) docgen.Disk {
		return docgen.Disk{Name: name, Free: func() (int64, error) {
			disk, err := diskOf(folder)
			return disk.free, err
		}}
	}
	disks := []docgen.Disk{
		at("data", c.Data),
		at("blobs", folderOf(cmp.Or(c.Blobs, filepath.Join(c.Data, "blobs")))),
	}
	for _, policy := range c.StoragePolicies {
		disks = append(disks, at(policy.name, folderOf(policy.location)))
	}
	return disks
}

// folderOf returns the folder of a blob store's location, which is a path or a file URL; blob.Open has accepted it.
func folderOf(location string) string {
	if u, err := url.Parse(location); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return location
}

// diskMetrics shows how much space is left on each disk, and how much must be.
func diskMetrics(registry prometheus.Registerer, disks []docgen.Disk, minimum int64) {
	for _, disk := range disks {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platen_disk_free_bytes", Help: "Free space of the file systems that data is stored on; -1 when unknown.",
			ConstLabels: prometheus.Labels{"store": disk.Name},
		}, func() float64 {
			free, err := disk.Free()
			if err != nil {
				return -1
			}
			return float64(free)
		}))
	}
	least := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "platen_disk_min_free_bytes", Help: "Free space below which the server is not ready and accepts no uploads and batches; 0 when that is off.",
	})
	least.Set(float64(minimum))
	registry.MustRegister(least)
}
