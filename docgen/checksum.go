package docgen

import (
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"syscall"

	"platen/blob"
	"platen/store"
)

// Every byte of stored content is checked before a caller gets it. Content of up to one block is read completely and compared with its
// SHA-1. Larger content is checked block by block, so that a range costs only the blocks that it touches.

// blockSize is the number of bytes that each checksum in the table content_blocks covers. It is part of the schema.
const blockSize = 256 << 10

// checksumDigits is the length of one checksum in the table content_blocks.
const checksumDigits = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kinds of damage to stored content.
const (
	DamageMissing    = "missing"    // the store has no object under the key
	DamageChanged    = "changed"    // the object differs from the stored content
	DamageUnreadable = "unreadable" // the storage device reports an I/O error
)

// checksums are the CRC-32C of the consecutive blocks of one content; the last block may be shorter.
type checksums []uint32

// text encodes checksums for the database.
func (c checksums) text() string {
	data := make([]byte, 0, 4*len(c))
	for _, sum := range c {
		data = binary.BigEndian.AppendUint32(data, sum)
	}
	return hex.EncodeToString(data)
}

// parseChecksums decodes the checksums of content with a size in bytes.
func parseChecksums(text string, size int64) (checksums, error) {
	blocks := (size + blockSize - 1) / blockSize
	if int64(len(text)) != blocks*checksumDigits {
		return nil, fmt.Errorf("row of content_blocks has %d digits, want %d", len(text), blocks*checksumDigits)
	}
	data, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("row of content_blocks: %w", err)
	}
	sums := make(checksums, blocks)
	for i := range sums {
		sums[i] = binary.BigEndian.Uint32(data[4*i:])
	}
	return sums, nil
}

// A digester computes the digests of the content written to it.
type digester struct {
	sha1   hash.Hash
	sums   checksums
	sum    uint32 // of the current block
	filled int    // bytes in the current block
}

func newDigester() *digester { return &digester{sha1: sha1.New()} }

// Write never fails.
func (d *digester) Write(p []byte) (int, error) {
	d.sha1.Write(p)
	for rest := p; len(rest) > 0; {
		n := min(blockSize-d.filled, len(rest))
		d.sum = crc32.Update(d.sum, castagnoli, rest[:n])
		d.filled += n
		rest = rest[n:]
		if d.filled == blockSize {
			d.endBlock()
		}
	}
	return len(p), nil
}

func (d *digester) endBlock() {
	d.sums = append(d.sums, d.sum)
	d.sum, d.filled = 0, 0
}

func (d *digester) hexSHA1() string { return hex.EncodeToString(d.sha1.Sum(nil)) }

// blocks ends the content, and returns its checksums. They are nil for content of at most one block, which is checked with its SHA-1.
func (d *digester) blocks() checksums {
	if d.filled > 0 {
		d.endBlock()
	}
	if len(d.sums) <= 1 {
		return nil
	}
	return d.sums
}

// openChecked opens content at the place in the version's row. It checks the first bytes, and Read checks the others before returning them.
// Both fail with blob.ErrNotExist if there is no object, with blob.ErrRange if offset is outside the content, and with an Error of
// CodeContentDamaged if the content is damaged.
func (s *Service) openChecked(ctx context.Context, version store.FileVersion, offset, length int64) (io.ReadCloser, error) {
	rest := version.Size - offset
	if offset < 0 || rest < 0 {
		return nil, fmt.Errorf("%w: from %d of %d", blob.ErrRange, offset, version.Size)
	}
	if length < 0 || length > rest {
		length = rest
	}
	blobs, err := s.blobsOf(version.StoragePolicyID)
	if err != nil {
		return nil, err
	}
	if version.Size <= blockSize {
		data, err := s.readSmall(ctx, blobs, version)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data[offset : offset+length])), nil
	}
	sums, err := s.checksumsOf(ctx, blobs, version)
	if err != nil {
		return nil, err
	}
	first := offset / blockSize
	end := min(version.Size, (offset+length+blockSize-1)/blockSize*blockSize)
	stored, err := blobs.Open(ctx, version.BlobKey, first*blockSize, end-first*blockSize)
	if errors.Is(err, blob.ErrRange) {
		return nil, s.damaged(ctx, version, DamageChanged, "it is shorter than when it was stored")
	}
	if err != nil {
		return nil, s.readFailure(ctx, version, err)
	}
	r := &checkedReader{ctx: ctx, service: s, version: version, stored: stored, sums: sums, next: first, left: length}
	if err := r.begin(offset - first*blockSize); err != nil {
		return nil, errors.Join(err, stored.Close())
	}
	return r, nil
}

// readSmall reads and checks content of up to one block.
func (s *Service) readSmall(ctx context.Context, blobs blob.Store, version store.FileVersion) ([]byte, error) {
	stored, err := blobs.Open(ctx, version.BlobKey, 0, version.Size+1)
	if err != nil {
		return nil, s.readFailure(ctx, version, err)
	}
	defer stored.Close()
	data := make([]byte, version.Size+1)
	n, err := io.ReadFull(stored, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, s.readFailure(ctx, version, err)
	}
	if int64(n) != version.Size {
		return nil, s.damaged(ctx, version, DamageChanged, "its size has changed")
	}
	if sum := sha1.Sum(data[:n]); hex.EncodeToString(sum[:]) != strings.ToLower(version.Sha1) {
		return nil, s.damaged(ctx, version, DamageChanged, "its SHA-1 has changed")
	}
	return data[:n], nil
}

// A checkedReader reads content block by block and verifies each block before it returns any of it.
type checkedReader struct {
	ctx     context.Context
	service *Service
	version store.FileVersion
	stored  io.ReadCloser // from the start of the block next
	sums    checksums
	next    int64 // index of the next block to read
	buffer  []byte
	ready   []byte // verified but not yet returned
	left    int64  // bytes still to return, including those in ready
	failure error
}

// begin reads the first block and skips the bytes before the range.
func (r *checkedReader) begin(skip int64) error {
	if r.left == 0 {
		return nil
	}
	r.buffer = make([]byte, blockSize)
	if err := r.fill(); err != nil {
		return err
	}
	r.ready = r.ready[skip:]
	return nil
}

// Read returns verified bytes.
func (r *checkedReader) Read(p []byte) (int, error) {
	if r.failure != nil {
		return 0, r.failure
	}
	if r.left == 0 {
		return 0, io.EOF
	}
	if len(r.ready) == 0 {
		if r.failure = r.fill(); r.failure != nil {
			return 0, r.failure
		}
	}
	n := copy(p, r.ready[:min(int64(len(r.ready)), r.left)])
	r.ready = r.ready[n:]
	r.left -= int64(n)
	return n, nil
}

// fill reads and verifies the next block.
func (r *checkedReader) fill() error {
	block := r.buffer[:min(blockSize, r.version.Size-r.next*blockSize)]
	_, err := io.ReadFull(r.stored, block)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.service.damaged(r.ctx, r.version, DamageChanged, "it is shorter than when it was stored")
	}
	if err != nil {
		return r.service.readFailure(r.ctx, r.version, err)
	}
	if crc32.Checksum(block, castagnoli) != r.sums[r.next] {
		reason := fmt.Sprintf("the %d bytes from offset %d have changed", len(block), r.next*blockSize)
		return r.service.damaged(r.ctx, r.version, DamageChanged, reason)
	}
	r.next++
	r.ready = block
	return nil
}

// Close releases the stored object.
func (r *checkedReader) Close() error { return r.stored.Close() }

// checksumsOf returns the checksums of content that is larger than a block. For content stored by a release without
// checksums, it reads the content once, compares it with its SHA-1, and stores the checksums.
func (s *Service) checksumsOf(ctx context.Context, blobs blob.Store, version store.FileVersion) (checksums, error) {
	sums, err := s.keptChecksums(ctx, version)
	if !errors.Is(err, sql.ErrNoRows) {
		return sums, err
	}
	select {
	case s.indexing <- struct{}{}: // reading a large content is expensive, and another request may be reading this one now
		defer func() { <-s.indexing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if sums, err = s.keptChecksums(ctx, version); !errors.Is(err, sql.ErrNoRows) {
		return sums, err
	}
	d, err := s.readDigests(ctx, blobs, version)
	if err != nil {
		return nil, err
	}
	sums = d.blocks()
	err = s.db.WriteAsync(ctx, func(tx *store.Tx) error { return tx.InsertContentBlocks(ctx, version.BlobKey, sums.text()) })
	if err != nil { // the content is valid, and can be read even if the disk is full
		s.log.WarnContext(ctx, "the checksums of a content could not be stored and will be computed again", "version", version.ID, "error", err)
	}
	return sums, nil
}

func (s *Service) keptChecksums(ctx context.Context, version store.FileVersion) (sums checksums, err error) {
	var text string
	err = s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		text, err = q.ContentBlocks(ctx, version.BlobKey)
		return err
	})
	if err != nil {
		return nil, err
	}
	return parseChecksums(text, version.Size)
}

// readDigests reads a content completely and compares it with the size and SHA-1 of its version.
func (s *Service) readDigests(ctx context.Context, blobs blob.Store, version store.FileVersion) (*digester, error) {
	stored, err := blobs.Open(ctx, version.BlobKey, 0, -1)
	if err != nil {
		return nil, s.readFailure(ctx, version, err)
	}
	defer stored.Close()
	d := newDigester()
	size, err := io.Copy(d, stored)
	if err != nil {
		return nil, s.readFailure(ctx, version, err)
	}
	if size != version.Size {
		return nil, s.damaged(ctx, version, DamageChanged, "its size has changed")
	}
	if d.hexSHA1() != strings.ToLower(version.Sha1) {
		return nil, s.damaged(ctx, version, DamageChanged, "its SHA-1 has changed")
	}
	return d, nil
}

// readFailure returns an Error that wraps an I/O error of the storage device. It returns all other errors unchanged.
func (s *Service) readFailure(ctx context.Context, version store.FileVersion, err error) error {
	if errors.Is(err, syscall.EIO) {
		return fmt.Errorf("%w (%w)", s.damaged(ctx, version, DamageUnreadable, err.Error()), err)
	}
	return err
}

// damaged logs and counts damaged content for the operator, and returns the Error for the caller.
func (s *Service) damaged(ctx context.Context, version store.FileVersion, kind, reason string) error {
	s.log.ErrorContext(ctx, "stored content is damaged", "kind", kind, "reason", reason, "file", version.FileID, "version", version.ID,
		"object", version.BlobKey, "storage_policy", version.StoragePolicyID)
	s.countDamage(kind)
	return failf(CodeContentDamaged, "The stored content of version %d of file %d is %s. Ask the operator to restore it from a backup.",
		version.ID, version.FileID, damageWords[kind])
}

// damageWords complete the sentence "The content is".
var damageWords = map[string]string{DamageMissing: "missing", DamageChanged: "damaged", DamageUnreadable: "unreadable"}
