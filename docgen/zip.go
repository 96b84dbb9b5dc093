package docgen

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"platen/store"
)

// Files and folders can be downloaded together, as one ZIP file. CreateZip checks the items and gives a ticket for the download. The
// download walks through the folders while it is sent, and counts in its row what it has sent, where every server of a cluster finds it.

// Limits of ZIP downloads.
const (
	ZipTTL       = TicketTTL      // from the creation of a ZIP download to its start
	ZipStatusTTL = 12 * time.Hour // how long the status can be read after the start

	maxZipItems   = 1000     // items in a request
	maxZipFiles   = 10_000   // files in a ZIP file
	maxZipFolders = 10_000   // folders in a ZIP file
	maxZipBytes   = 32 << 30 // bytes of all files in a ZIP file
	maxZipPath    = 1024     // bytes of a path in a ZIP file: some systems open no longer ones
	maxZips       = 100      // ZIP downloads of a user that are kept; the oldest make room for new ones
	maxZipStreams = 5        // ZIP downloads of a user that are in progress

	zipBeat  = 10 * time.Second // between reports of progress
	zipLease = 5 * time.Minute  // without a report, after which a download has failed
)

// The states of a ZIP download.
const (
	zipCreated    = "created"
	ZipInProgress = "in_progress"
	ZipSucceeded  = "succeeded"
	ZipFailed     = "failed"
)

// The file types of a ZIP download: a ZIP file with all files, or one PDF of all PDFs.
const (
	OutputZip = "zip"
	zipOrPDF  = "output_type must be zip or pdf"
)

// NewZip describes a ZIP download.
type NewZip struct {
	Items      []ZipItem
	Name       string // of the file; empty for the name of the only item, or a general one
	OutputType string // OutputZip or OutputPDF; empty for OutputZip
}

// A ZipItem is a requested file or folder. Its Name is the one in the ZIP file, if that was promised, and otherwise empty.
type ZipItem struct {
	Kind Kind
	ID   int64
	Name string `json:",omitempty"`
}

// ZipDownload is a ZIP download that has not started.
type ZipDownload struct {
	ID        int64
	Ticket    string // allows the start
	ExpiresAt time.Time
	Conflicts [][2]ZipName // requested items with equal names, of which the second has another name in the ZIP file
}

// ZipName is the name of an item in a ZIP file.
type ZipName struct {
	Kind     Kind
	ID       int64
	Original string
	Download string
}

// ZipStatus is the progress of a ZIP download.
type ZipStatus struct {
	Files, Downloaded, Skipped, SkippedFolders int64
	State                                      string
}

// CreateZip prepares a download of files and folders with everything in them. The caller must be permitted to download all items.
func (s *Service) CreateZip(ctx context.Context, c *Caller, n NewZip) (ZipDownload, error) {
	if err := c.require(ScopeRead); err != nil {
		return ZipDownload{}, err
	}
	n.OutputType = cmp.Or(n.OutputType, OutputZip)
	n.Name = withoutExtension(n.Name, "."+n.OutputType)
	if err := s.checkZip(n); err != nil {
		return ZipDownload{}, err
	}
	made, now := ZipDownload{ID: s.newID()}, s.now()
	row := store.InsertZipDownloadParams{
		ID: made.ID, UserID: c.User.ID, OutputType: n.OutputType, CreatedAt: now.UnixMicro(), ExpiresAt: now.Add(ZipTTL).UnixMicro(),
	}
	made.ExpiresAt = timeOf(row.ExpiresAt)
	err := s.db.Read(ctx, func(q *store.Queries) error {
		names, files, err := s.measureZip(ctx, q, c, n.Items)
		if err != nil {
			return err
		}
		if row.Name = n.Name; row.Name == "" {
			row.Name = zipName(names, n.OutputType)
		}
		made.Conflicts = nameZip(n.Items, names)
		row.Files = files
		return nil
	})
	if err == nil && n.OutputType == OutputPDF {
		err = s.checkPDFs(ctx, c, n.Items)
	}
	if err != nil {
		return ZipDownload{}, err
	}
	items, err := json.Marshal(n.Items)
	if err != nil {
		return ZipDownload{}, err
	}
	row.Items = string(items)
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		if err := tx.DropZipDownloads(ctx, c.User.ID, maxZips-1); err != nil {
			return err
		}
		return tx.InsertZipDownload(ctx, row)
	})
	made.Ticket = s.signTicket(Ticket{ZipID: made.ID, userID: c.User.ID, tokenID: c.TokenID, expiresAt: row.ExpiresAt})
	return made, err
}

// checkPDFs returns an Error unless all files are PDFs that can be merged.
func (s *Service) checkPDFs(ctx context.Context, c *Caller, items []ZipItem) error {
	z := &zipWalk{service: s, caller: c, items: items, names: bundleNames{}, seen: s.now(), quiet: true}
	_, err := z.bundle(ctx).Parts()
	return err
}

// withoutExtension returns the name of a file without an extension.
func withoutExtension(name, extension string) string {
	if cut := len(name) - len(extension); cut > 0 && strings.EqualFold(name[cut:], extension) {
		return name[:cut]
	}
	return name
}

// checkZip checks what can be checked without the items.
func (s *Service) checkZip(n NewZip) error {
	if n.Name != "" {
		if err := s.checkName(n.Name); err != nil {
			return err
		}
	}
	if n.OutputType != OutputZip && n.OutputType != OutputPDF {
		return Invalid(invalidField("output_type", zipOrPDF))
	}
	if len(n.Items) == 0 || len(n.Items) > maxZipItems {
		return Invalid(invalidField("items", "items must list 1 to %d files and folders", maxZipItems))
	}
	var problems []Problem
	seen := map[ZipItem]int{}
	for i, item := range n.Items {
		path := fmt.Sprintf("items[%d]", i)
		if first, again := seen[item]; again {
			problems = append(problems, invalidField(path, "%s repeats items[%d]", path, first))
		} else {
			seen[item] = i
		}
		if item.Kind == Folder && item.ID == rootID {
			problems = append(problems, invalidField(path+".id", "the root folder cannot be downloaded: list the items in it"))
		}
	}
	return Invalid(problems...)
}

// measureZip finds the requested items, and checks how much they have in total. It returns their names and the number of files.
func (s *Service) measureZip(ctx context.Context, q *store.Queries, c *Caller, items []ZipItem) (names []string, files int64, err error) {
	var total store.MeasureTreeRow
	for _, item := range items {
		p, err := s.find(ctx, q, c, item.Kind, item.ID, MayDownload)
		if err != nil {
			return nil, 0, err
		}
		names = append(names, p.row.Name)
		more := store.MeasureTreeRow{Files: 1, Bytes: p.row.Size}
		if item.Kind == Folder {
			most := max(1, maxZipFiles+maxZipFolders+1-total.Files-total.Folders)
			if more, err = q.MeasureTree(ctx, parentOf(item.ID), int32(most)); err != nil { //nolint:gosec // a small number
				return nil, 0, err
			}
			more.Folders++
		}
		total = store.MeasureTreeRow{Files: total.Files + more.Files, Folders: total.Folders + more.Folders, Bytes: total.Bytes + more.Bytes}
		if err := checkZipSize(total); err != nil {
			return nil, 0, err
		}
	}
	return names, total.Files, nil
}

// checkZipSize returns an Error for a ZIP file that would be too large.
func checkZipSize(total store.MeasureTreeRow) error {
	const advice = "Download fewer items at a time."
	switch {
	case total.Files > maxZipFiles:
		return failf(CodeZipFiles, "The ZIP file would have more than %d files. %s", maxZipFiles, advice)
	case total.Folders > maxZipFolders:
		return failf(CodeZipFiles, "The ZIP file would have more than %d folders. %s", maxZipFolders, advice)
	case total.Bytes > maxZipBytes:
		return failf(CodeZipFiles, "The files of the ZIP file would have more than %d bytes. %s", int64(maxZipBytes), advice)
	}
	return nil
}

// zipName returns the name of a ZIP file or PDF that the caller has not named.
func zipName(items []string, outputType string) string {
	if len(items) == 1 {
		return withoutExtension(portableName(items[0]), "."+outputType)
	}
	return "Files"
}

// nameZip gives requested items with equal names different ones, and returns the conflicts.
func nameZip(items []ZipItem, originals []string) (conflicts [][2]ZipName) {
	names, first := bundleNames{}, map[uint64]int{}
	download := make([]string, len(items))
	of := func(i int) ZipName { return ZipName{items[i].Kind, items[i].ID, originals[i], download[i]} }
	for i, original := range originals {
		download[i] = names.unique(items[i].Kind, original)
		if taken, conflict := first[nameHash(portableName(original))]; conflict {
			conflicts = append(conflicts, [2]ZipName{of(taken), of(i)})
			items[taken].Name, items[i].Name = download[taken], download[i]
		}
		first[nameHash(download[i])] = i
	}
	return conflicts
}

// ZipStatus returns the progress of a download of the caller that has started. It is identified by its ticket, which may have expired.
func (s *Service) ZipStatus(ctx context.Context, c *Caller, ticket string) (ZipStatus, error) {
	if err := c.require(ScopeRead); err != nil {
		return ZipStatus{}, err
	}
	t, ok := s.parseTicket(ticket)
	if !ok || t.ZipID == 0 {
		return ZipStatus{}, errNoZip()
	}
	var row store.ZipDownload
	err := s.db.ReadOne(ctx, func(q *store.Queries) (err error) {
		row, err = s.findZip(ctx, q, c, t.ZipID)
		return err
	})
	if err != nil {
		return ZipStatus{}, err
	}
	if row.State == zipCreated {
		return ZipStatus{}, failf(CodeNotFound, "The download has not started. Request the download_url first.")
	}
	return ZipStatus{Files: row.Files, Downloaded: row.Downloaded, Skipped: row.Skipped, SkippedFolders: row.SkippedFolders,
		State: s.zipState(row)}, nil
}

// zipState returns the state of a download. One that has not reported its progress for long has failed: its server has crashed.
func (s *Service) zipState(row store.ZipDownload) string {
	if row.State == ZipInProgress && row.SeenAt <= s.zipsSeen() {
		return ZipFailed
	}
	return row.State
}

// zipsSeen returns the time after which a download that is in progress must have reported its progress.
func (s *Service) zipsSeen() int64 { return s.now().Add(-zipLease).UnixMicro() }

// findZip returns an unexpired download of the caller.
func (s *Service) findZip(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.ZipDownload, error) {
	row, err := q.ZipDownload(ctx, id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (row.UserID != c.User.ID || row.ExpiresAt <= s.micros()) {
		return row, errNoZip()
	}
	return row, err
}

func errNoZip() error {
	return failf(CodeNotFound, "There is no such ZIP download, or it has expired. Create another one.")
}

// startable returns a download of the caller that can start: it has not been started, or has failed.
func (s *Service) startable(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.ZipDownload, error) {
	row, err := s.findZip(ctx, q, c, id)
	if err != nil {
		return row, err
	}
	if state := s.zipState(row); state == ZipInProgress || state == ZipSucceeded {
		return row, failf(CodeNotFound, "The ZIP file was already requested. Create another ZIP download.")
	}
	return row, nil
}

// FindZip returns a download without starting it, or the Error with which StartZip would currently fail. The Bundle has no files.
func (s *Service) FindZip(ctx context.Context, c *Caller, id int64) (*Bundle, error) {
	row, _, err := s.findItems(ctx, c, id)
	return &Bundle{Name: row.Name, PDF: row.OutputType == OutputPDF}, err
}

// findItems returns a download that can start, with its items, of which the caller may download at least one.
func (s *Service) findItems(ctx context.Context, c *Caller, id int64) (row store.ZipDownload, items []ZipItem, err error) {
	if err := c.require(ScopeRead); err != nil {
		return row, nil, err
	}
	err = s.db.Read(ctx, func(q *store.Queries) (err error) {
		if row, err = s.startable(ctx, q, c, id); err != nil {
			return err
		}
		items = nil
		if err := json.Unmarshal([]byte(row.Items), &items); err != nil {
			return fmt.Errorf("items of ZIP download %d: %w", id, err)
		}
		return s.anyLeft(ctx, q, c, items)
	})
	return row, items, err
}

// anyLeft returns an Error if the caller may no longer download any of the items.
func (s *Service) anyLeft(ctx context.Context, q *store.Queries, c *Caller, items []ZipItem) (first error) {
	for _, item := range items {
		_, err := s.find(ctx, q, c, item.Kind, item.ID, MayDownload)
		if err == nil || !isLost(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// StartZip starts a download. It leaves out what the caller may no longer download. The caller of StartZip must End the Bundle.
func (s *Service) StartZip(ctx context.Context, c *Caller, id int64) (*Bundle, error) {
	row, items, err := s.findItems(ctx, c, id)
	if err != nil {
		return nil, err
	}
	z := &zipWalk{service: s, caller: c, row: row, items: items, names: bundleNames{}, seen: s.now()}
	if z.row.Attempt, err = s.beginZip(ctx, c, id); err != nil {
		return nil, err
	}
	z.row.Downloaded, z.row.Skipped, z.row.SkippedFolders = 0, 0, 0
	for _, item := range z.items {
		if item.Name != "" {
			z.names.take(item.Name)
		}
	}
	return z.bundle(ctx), nil
}

// beginZip marks a download as in progress, and returns the number of the attempt.
func (s *Service) beginZip(ctx context.Context, c *Caller, id int64) (attempt int64, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockUser(ctx, c.User.ID); err != nil {
			return err
		}
		if _, err = s.startable(ctx, tx.Queries, c, id); err != nil {
			return err
		}
		streams, err := tx.CountZipDownloads(ctx, c.User.ID, s.zipsSeen())
		if err != nil {
			return err
		}
		if streams >= maxZipStreams {
			return &Error{Code: CodeZipStreams, RetryAfter: time.Minute, Message: fmt.Sprintf("You are downloading %d ZIP files, the "+
				"maximum. Wait until one is complete.", maxZipStreams)}
		}
		now := s.now()
		attempt, err = tx.StartZipDownload(ctx, id, now.UnixMicro(), now.Add(ZipStatusTTL).UnixMicro())
		return err
	})
	return attempt, err
}

// sweepZips deletes expired downloads.
func (s *Service) sweepZips(ctx context.Context) error {
	for {
		var removed int64
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			removed, err = tx.DeleteExpiredZipDownloads(ctx, s.micros(), sweepPortion)
			return err
		})
		if err != nil {
			return fmt.Errorf("sweep ZIP downloads: %w", err)
		}
		if removed < sweepPortion {
			return nil
		}
	}
}
