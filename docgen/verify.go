package docgen

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"platen/blob"
	"platen/store"
)

// The kinds of a Finding, in addition to DamageMissing, DamageChanged, and DamageUnreadable.
const (
	FindingDatabase = "database" // the database's own check failed
	FindingRow      = "row"      // rows contradict each other
	FindingStore    = "store"    // a blob store does not belong to the database
	FindingOrphaned = "orphaned" // an object that no version has; it takes room and does no harm
)

// Finding is one problem that Verify found.
type Finding struct {
	Kind    string `json:"kind"`
	Problem string `json:"problem"`                  // for a person
	Object  string `json:"object,omitempty"`         // key in the blob store
	Policy  string `json:"storage_policy,omitempty"` // name of the storage policy of the object
	File    int64  `json:"file_id,string,omitempty"`
	Version int64  `json:"file_version_id,string,omitempty"`
	Path    string `json:"path,omitempty"`  // of the file, from its owner's root folder
	Owner   string `json:"owner,omitempty"` // login, or name, of the file's owner
}

// Verification has the counts of what Verify checked, and of its findings.
type Verification struct {
	Contents int64          `json:"contents"`
	Bytes    int64          `json:"bytes"` // of the contents
	Findings map[string]int `json:"findings"`
	Unsaved  int            `json:"unsaved"` // objects without a version that may belong to uploads in progress
}

// Wrong reports whether there was any finding other than orphaned objects.
func (v *Verification) Wrong() bool {
	for kind, n := range v.Findings {
		if kind != FindingOrphaned && n > 0 {
			return true
		}
	}
	return false
}

// VerifyConfig selects what to verify.
type VerifyConfig struct {
	Store    *store.DB
	Policies []NewStoragePolicy // the default policy, named "Default", and all others
	Settled  bool               // no server is running: an object without a version is an orphan, regardless of its age
	Progress func(done, total int64)
}

const (
	verifyPortion  = 500    // contents read from the database at once
	verifyRows     = 100    // findings for each rule about rows
	verifyVersions = 100    // findings for each damaged content
	verifyUnnamed  = 10_000 // orphans that are reported individually
	verifyBuffer   = 256 << 10
)

// Verify checks the database itself, its rows against each other, each content against its size and SHA-1, and each object against the
// versions that refer to it. It calls report for each finding, one at a time. It changes nothing, uses bounded memory, and can run while
// servers work, whose changes are not findings.
func Verify(ctx context.Context, cfg VerifyConfig, report func(Finding)) (*Verification, error) {
	v := &verifier{VerifyConfig: cfg, policies: map[int64]NewStoragePolicy{}, report: report}
	v.sum.Findings = map[string]int{}
	for _, step := range []func(context.Context) error{v.database, v.stores, v.contents, v.orphans} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return &v.sum, nil
}

type verifier struct {
	VerifyConfig
	policies map[int64]NewStoragePolicy
	mu       sync.Mutex
	report   func(Finding)
	sum      Verification
}

func (v *verifier) found(f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sum.Findings[f.Kind]++
	v.report(f)
}

func (v *verifier) foundAll(findings []Finding) {
	for _, f := range findings {
		v.found(f)
	}
}

// database checks the database itself.
func (v *verifier) database(ctx context.Context) error {
	problems, err := v.Store.CheckDatabase(ctx)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		v.found(Finding{Kind: FindingDatabase, Problem: problem})
	}
	var broken []store.BrokenRow
	err = v.Store.Read(ctx, func(q *store.Queries) (err error) {
		broken, err = q.BrokenRows(ctx, verifyRows)
		return err
	})
	for _, b := range broken {
		what, rule, _ := strings.Cut(b.Rule, ": ")
		v.found(Finding{Kind: FindingRow, Problem: fmt.Sprintf("%s %d: %s (have %d, want %d)", what, b.ID, rule, b.Have, b.Want)})
	}
	return err
}

// stores matches the configured policies with those in the database, and checks that each store belongs to the database.
func (v *verifier) stores(ctx context.Context) error {
	var found []Finding
	err := v.Store.Read(ctx, func(q *store.Queries) error {
		found = nil
		name, err := q.Setting(ctx, settingContents)
		if errors.Is(err, sql.ErrNoRows) {
			return errors.New("no server has used the database yet")
		}
		if err != nil {
			return err
		}
		rows, err := q.StoragePolicies(ctx)
		if err != nil {
			return err
		}
		for _, p := range v.Policies {
			i := slices.IndexFunc(rows, func(row store.StoragePolicy) bool { return row.NameKey == foldKey(p.Name) })
			if i < 0 {
				return fmt.Errorf("the database has no storage policy %q", p.Name)
			}
			v.policies[rows[i].ID] = p
			problem, err := checkStore(ctx, q, rows[i].ID, p.Blobs, name)
			if err != nil {
				return err
			}
			if problem != "" {
				found = append(found, Finding{Kind: FindingStore, Policy: p.Name, Problem: problem})
			}
		}
		return nil
	})
	v.foundAll(found)
	return err
}

// checkStore compares the identity in a store with that in the database, and returns a description of the difference.
func checkStore(ctx context.Context, q *store.Queries, id int64, blobs blob.Store, name string) (problem string, err error) {
	marker, err := blob.ReadAll(ctx, blobs, contentsName, maxContentsName)
	if err != nil && !errors.Is(err, blob.ErrNotExist) && !errors.Is(err, blob.ErrTooLarge) {
		return "", err
	}
	if string(marker) != markerName(name, id) {
		return "the store belongs to another database or storage policy, or to none", nil
	}
	claimed, err := q.Setting(ctx, identitySetting(id))
	if errors.Is(err, sql.ErrNoRows) { // no server has claimed a store yet
		return "", nil
	}
	if err != nil {
		return "", err
	}
	identity, err := identityOf(ctx, blobs)
	if err != nil && !errors.Is(err, blob.ErrNotExist) && !errors.Is(err, blob.ErrTooLarge) {
		return "", err
	}
	if identity != claimed {
		return "the servers on this database use another store", nil
	}
	return "", nil
}

// contents reads every content once.
func (v *verifier) contents(ctx context.Context) error {
	var total, done int64
	err := v.Store.Read(ctx, func(q *store.Queries) (err error) {
		total, err = q.CountVersions(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		var contents []store.StoredContent
		err := v.Store.Read(ctx, func(q *store.Queries) (err error) {
			contents, err = q.ContentsAfter(ctx, last, verifyPortion)
			return err
		})
		if err != nil || len(contents) == 0 {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(runtime.GOMAXPROCS(0))
		for _, c := range contents {
			group.Go(func() error { return v.content(ctx, c) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		last = contents[len(contents)-1].VersionID
		if done += int64(len(contents)); v.Progress != nil {
			v.Progress(min(done, total), total)
		}
	}
}

// content checks one content. If it is damaged, it reports each version that has it.
func (v *verifier) content(ctx context.Context, c store.StoredContent) error {
	kind, problem, err := v.check(ctx, c)
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.sum.Contents++
	v.sum.Bytes += c.Size
	v.mu.Unlock()
	if kind == "" {
		return nil
	}
	// Rows change before objects are deleted: a content that no version has anymore was deleted or relocated just now.
	var found []Finding
	err = v.Store.Read(ctx, func(q *store.Queries) error {
		found = nil
		versions, err := q.VersionsOf(ctx, c.Place, verifyVersions)
		for _, version := range versions {
			f := Finding{Kind: kind, Problem: problem, Object: c.Place.Key, Policy: v.policies[c.Place.PolicyID].Name, File: version.FileID,
				Version: version.VersionID}
			if f.Path, f.Owner, err = whereIs(ctx, q, version.FileID); err != nil {
				return err
			}
			found = append(found, f)
		}
		return err
	})
	v.foundAll(found)
	return err
}

// check returns the kind of damage of a content and the problem, or "" for undamaged content.
func (v *verifier) check(ctx context.Context, c store.StoredContent) (kind, problem string, err error) {
	p, known := v.policies[c.Place.PolicyID]
	if !known {
		return DamageMissing, fmt.Sprintf("it is stored by storage policy %d, which is missing in --storage-policy", c.Place.PolicyID), nil
	}
	r, err := p.Blobs.Open(ctx, c.Place.Key, 0, -1)
	if errors.Is(err, blob.ErrNotExist) {
		return DamageMissing, "the object does not exist", nil
	}
	if err != nil {
		return DamageUnreadable, err.Error(), ctx.Err()
	}
	defer r.Close()
	digest := sha1.New()
	size, err := io.CopyBuffer(digest, struct{ io.Reader }{r}, make([]byte, verifyBuffer))
	if err != nil {
		return DamageUnreadable, err.Error(), ctx.Err()
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	switch {
	case size != c.Size:
		return DamageChanged, fmt.Sprintf("the object has %d bytes, want %d", size, c.Size), nil
	case !strings.EqualFold(sum, c.Sha1):
		return DamageChanged, fmt.Sprintf("the SHA-1 of the object is %s, want %s", sum, c.Sha1), nil
	}
	return "", "", nil
}

// whereIs returns the path of a file and its owner.
func whereIs(ctx context.Context, q *store.Queries, fileID int64) (path, owner string, err error) {
	chain, err := q.ItemChain(ctx, fileID, 0, 0)
	if err != nil || len(chain) == 0 {
		return "", "", err
	}
	for _, row := range chain[:max(1, len(chain)-1)] {
		path = "/" + row.Item.Name + path
	}
	user, err := q.User(ctx, chain[0].Item.OwnerID)
	if err != nil {
		return path, "", err
	}
	owner = user.User.Login
	if owner == "" {
		owner = user.User.Name
	}
	return path, owner, nil
}

// orphans finds objects that no version has. It checks those found again at the end, because a task may be deleting
// them.
func (v *verifier) orphans(ctx context.Context) error {
	var found []Finding
	objects := map[string]blob.Store{}
	for id, p := range v.policies {
		objects[p.Name] = p.Blobs
		for info, err := range p.Blobs.List(ctx, blobPrefix) {
			if err != nil {
				return err
			}
			var named bool
			err := v.Store.ReadOne(ctx, func(q *store.Queries) (err error) {
				named, err = q.IsContentNamed(ctx, info.Key, id)
				return err
			})
			if err != nil {
				return err
			}
			switch {
			case named:
			case !v.Settled && time.Since(info.Modified) < sweepAge:
				v.sum.Unsaved++
			case len(found) < verifyUnnamed:
				found = append(found, Finding{Kind: FindingOrphaned, Object: info.Key, Policy: p.Name,
					Problem: fmt.Sprintf("no version has this object of %d bytes; the server removes it when it is a day old", info.Size)})
			default:
				v.sum.Findings[FindingOrphaned]++
			}
		}
	}
	for _, f := range found {
		_, err := objects[f.Policy].Stat(ctx, f.Object)
		if err == nil {
			v.found(f)
		} else if !errors.Is(err, blob.ErrNotExist) && !errors.Is(err, blob.ErrKey) {
			return err
		}
	}
	return nil
}
