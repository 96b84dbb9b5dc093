package ooxml

// Limits bounds what Open accepts. A zero field means its default.
type Limits struct {
	PackageBytes int64 // size of the file
	TotalBytes   int64 // all parts together, unpacked
	PartBytes    int64 // one part, unpacked
	XMLBytes     int64 // one part that is read as XML
	Entries      int   // zip entries
	NameBytes    int   // one entry's name
	Ratio        int64 // unpacked : packed, for parts larger than ratioFloor
	XMLDepth     int   // nested elements
}

// The defaults of Limits: far above any real document, and far below what harms a server.
const (
	DefaultPackageBytes = 100 << 20
	DefaultTotalBytes   = 512 << 20
	DefaultPartBytes    = 256 << 20
	DefaultXMLBytes     = 128 << 20
	DefaultEntries      = 5000
	DefaultNameBytes    = 512
	DefaultRatio        = 250
	DefaultXMLDepth     = 500

	// ratioFloor exempts small parts from Ratio: a short repetitive part compresses very well and harms nobody.
	ratioFloor = 4 << 20
)

func (l Limits) withDefaults() Limits {
	return Limits{
		PackageBytes: or(l.PackageBytes, DefaultPackageBytes),
		TotalBytes:   or(l.TotalBytes, DefaultTotalBytes),
		PartBytes:    or(l.PartBytes, DefaultPartBytes),
		XMLBytes:     or(l.XMLBytes, DefaultXMLBytes),
		Entries:      or(l.Entries, DefaultEntries),
		NameBytes:    or(l.NameBytes, DefaultNameBytes),
		Ratio:        or(l.Ratio, DefaultRatio),
		XMLDepth:     or(l.XMLDepth, DefaultXMLDepth),
	}
}

func or[T int | int64](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
