package cli

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"platen/blob"
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

// disks returns the file systems that a server stores data on: for the data folder, file contents, and each storage policy.
func (c *config) disks() []docgen.Disk {
	at := func(name, folder string) docgen.Disk {
		return docgen.Disk{Name: name, Free: func() (int64, error) {
			disk, err := diskOf(folder)
			return disk.free, err
		}, Size: func() (int64, error) {
			disk, err := diskOf(folder)
			return disk.size, err
		}}
	}
	disks := []docgen.Disk{at("data", c.Data)}
	for i, place := range c.places() {
		name := place.name
		if i == 0 {
			name = "blobs" // as metrics and alerts know the default policy
		}
		if folder, ok := blob.Folder(place.location); ok {
			disks = append(disks, at(name, folder))
		}
	}
	return disks
}

// diskMetrics registers metrics for the free space of each disk and the required minimum.
func diskMetrics(registry prometheus.Registerer, disks []docgen.Disk, minimum int64) {
	for _, disk := range disks {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "platen_disk_free_bytes", Help: "Free space of the file systems with the server's data; -1 if unknown.",
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
		Name: "platen_disk_min_free_bytes",
		Help: "Free space below which the server is not ready and rejects uploads and batches; 0 if disabled.",
	})
	least.Set(float64(minimum))
	registry.MustRegister(least)
}
