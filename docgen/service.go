package docgen

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"platen/blob"
	"platen/store"
)

// Limits are the limits of one request. A zero field means its default.
type Limits struct {
	Documents     int   // documents of one batch; 10,000
	InputBytes    int   // bytes of one user_input; 5 MiB
	BatchBytes    int64 // bytes of the body of a batch request; 64 MiB
	UploadBytes   int64 // bytes of one uploaded file; 5 GiB
	TemplateBytes int64 // bytes of a file that can be read as a template; 100 MiB
	Pending       int   // pending notifications for the webhooks of one user; 100,000
	Keys          int   // idempotency keys of one user; 100,000

	StreamedDocuments int   // documents of one streamed batch; 1,000,000
	StreamedBytes     int64 // bytes of the data of one streamed batch; 8 GiB
	Waiting           int64 // documents that wait in the batches of one user, with those of a streamed batch; 2,000,000
}

func (l Limits) withDefaults() Limits {
	l.Documents = positive(l.Documents, 10_000)
	l.InputBytes = positive(l.InputBytes, 5<<20)
	l.BatchBytes = positive(l.BatchBytes, 64<<20)
	l.UploadBytes = positive(l.UploadBytes, 5<<30)
	l.TemplateBytes = positive(l.TemplateBytes, 100<<20)
	l.Pending = positive(l.Pending, 100_000)
	l.Keys = positive(l.Keys, 100_000)
	l.StreamedDocuments = positive(l.StreamedDocuments, 1_000_000)
	l.StreamedBytes = positive(l.StreamedBytes, 8<<30)
	l.Waiting = positive(l.Waiting, 2_000_000)
	return l
}

func positive[T int | int64](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// Config configures a Service.
type Config struct {
	Store  *store.DB
	Blobs  blob.Store // nil for a Service that does not access contents
	Limits Limits
	Quota  Quota            // of each user without a quota of their own
	Now    func() time.Time // time.Now if nil

	// Disks hold the data of the service. If one has less than MinFree bytes left, the service is not ready, and accepts no uploads and no
	// batches. A MinFree of 0 turns that off.
	Disks   []Disk
	MinFree int64

	Policies     []NewStoragePolicy // in addition to the default, which is Blobs
	KeepArchives bool               // archives cannot be deleted

	// FaultPause is how long a document waits after its first internal error. The pause doubles with each error. 0 means 1 s.
	FaultPause time.Duration

	Defaults      Defaults // of batches whose template sets none; New does not check them
	LeadingSpaces bool     // names of files and folders can start with spaces
	WordTemplates bool     // only files that can be Word documents can be marked as templates

	// Notification encodes a notification in ASCII, which every receiver reads the same way. If it is nil,
	// encoding/json is used, for a Service without receivers.
	Notification func(Notification) ([]byte, error)
	// CheckAddress returns the problem with the address of a webhook, for people. If it is nil, any address is
	// accepted.
	CheckAddress func(ctx context.Context, address string) error

	Log         *slog.Logger      // for the operator; nil discards messages
	CountDamage func(kind string) // is called for each read of damaged content, with one of the Damage constants; may be nil
}

// Service has the operations. It is safe for concurrent use, and several Services may share one database and one blob store.
type Service struct {
	db        *store.DB
	blobs     blob.Store
	limits    Limits
	now       func() time.Time
	ids       idSource
	markerKey []byte
	backlogs  backlogs
	watches   watches
	downloads downloads
	polls     polls
	keys      backlogs // idempotency keys

	firstPause time.Duration // of a document after a server error

	policies     []StoragePolicy  // by id, the default first
	identities   map[int64]string // of the blob stores, by policy
	keepArchives bool
	enterprise   enterprise
	ready        readiness
	room         room
	quota        Quota

	leadingSpaces bool
	wordTemplates bool
	defaults      Defaults

	notification func(Notification) ([]byte, error)
	checkAddress func(ctx context.Context, address string) error
	baseURL      atomic.Pointer[string] // see SetBaseURL

	log         *slog.Logger
	countDamage func(kind string)
	indexing    chan struct{} // held by the one goroutine that computes checksums of content stored without any
	uses        uses
	denials     denials
	acting      acting
	operations  operations
	passwords   *passwordHasher
	attempts    attempts

	linkPasswords linkPasswords
}

// enterprise is the enterprise of a server.
type enterprise struct {
	id        int64
	name      string
	accountID int64 // the user who owns the archives
	rootID    int64 // the folder that contains the archives
}

// New returns the Service on a database. On the first use it creates an enterprise, an application for tokens from platen token create, and
// the key for signing page markers.
func New(ctx context.Context, cfg Config) (*Service, error) {
	s := &Service{
		db: cfg.Store, blobs: cfg.Blobs, limits: cfg.Limits.withDefaults(), now: cfg.Now, keepArchives: cfg.KeepArchives,
		leadingSpaces: cfg.LeadingSpaces, wordTemplates: cfg.WordTemplates, defaults: cfg.Defaults,
		notification: cfg.Notification, checkAddress: cfg.CheckAddress, backlogs: backlogs{users: map[int64]*userBacklog{}},
		keys: backlogs{users: map[int64]*userBacklog{}},
		log:  cfg.Log, countDamage: cfg.CountDamage, indexing: make(chan struct{}, 1),
		identities: map[int64]string{}, passwords: newPasswordHasher(),
		firstPause: cmp.Or(cfg.FaultPause, time.Second),
	}
	s.quota = cfg.Quota
	s.room.disks, s.room.minimum = cfg.Disks, cfg.MinFree
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.countDamage == nil {
		s.countDamage = func(string) {}
	}
	if s.notification == nil {
		s.notification = func(n Notification) ([]byte, error) { return json.Marshal(n) }
	}
	if s.checkAddress == nil {
		s.checkAddress = func(context.Context, string) error { return nil }
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error { return s.prepare(ctx, tx, cfg.Policies) })
	if err != nil {
		return nil, fmt.Errorf("prepare the database: %w", err)
	}
	if s.blobs != nil {
		if err := s.checkContents(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// The names of settings.
const (
	settingMarkerKey    = "marker_key"       // the key of page markers; locked while the database is prepared
	settingTree         = "tree"             // has no value; locked by operations that move a folder
	settingInvitations  = "invitations"      // has no value; locked while an unknown login is invited, or a user gets a login
	settingTokenTTL     = "notice_token_ttl" // set until a server has warned of the default expiry of tokens, see TokenNotice
	settingAdmins       = "admins"           // has no value; locked by operations that could remove the last administrator
	settingRetention    = "retention"        // when the first server with retention periods started, in microseconds
	settingRetentionRun = "retention_run"    // when the retention periods were last applied, in microseconds
	settingRetentionGap = "retention_gap"    // when a long gap since that run was noticed, in microseconds; 0 if there was none
	settingContents     = "contents"         // name of the blob store that belongs to the database, which has the same name in it
	settingReady        = "ready"            // has no value; written to check whether the database is writable
	settingBaseURL      = "base_url"         // URL of the server for clients, which the last started server stored
)

func (s *Service) prepare(ctx context.Context, tx *store.Tx, policies []NewStoragePolicy) error {
	for _, name := range []string{settingTree, settingInvitations, settingAdmins, settingReady, settingBaseURL} {
		if _, err := tx.InsertSetting(ctx, name, ""); err != nil {
			return err
		}
	}
	if _, err := tx.InsertSetting(ctx, settingContents, rand.Text()); err != nil {
		return err
	}
	fresh := base64.StdEncoding.EncodeToString(randomBytes(32))
	if _, err := tx.InsertSetting(ctx, settingMarkerKey, fresh); err != nil {
		return err
	}
	if _, err := tx.LockSetting(ctx, settingMarkerKey); err != nil {
		return err
	}
	stored, err := tx.Setting(ctx, settingMarkerKey)
	if err != nil {
		return err
	}
	if s.markerKey, err = base64.StdEncoding.DecodeString(stored); err != nil {
		return fmt.Errorf("setting %s: %w", settingMarkerKey, err)
	}
	base, err := tx.Setting(ctx, settingBaseURL)
	if err != nil {
		return err
	}
	s.baseURL.Store(&base)
	if err := s.prepareNames(ctx, tx); err != nil {
		return err
	}
	if err := tx.BeginPositions(ctx, s.now()); err != nil {
		return err
	}
	if err := s.preparePolicies(ctx, tx, policies); err != nil {
		return err
	}
	return s.prepareEnterprise(ctx, tx)
}

// prepareEnterprise finds the enterprise, and the account that owns its archives. On the first use it creates both.
func (s *Service) prepareEnterprise(ctx context.Context, tx *store.Tx) error {
	row, err := tx.FirstEnterprise(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		row = store.Enterprise{ID: s.newID(), Name: "Platen"}
		err = tx.InsertEnterprise(ctx, row.ID, row.Name, s.micros())
	}
	if err != nil {
		return err
	}
	if row.AccountID == 0 {
		account, err := s.newUserRow(row.ID, KindService, NewUser{Name: row.Name})
		if err != nil {
			return err
		}
		account.LoginKey = "account " + strconv.FormatInt(account.ID, 10) // no login folds to this
		if _, err := s.insertUser(ctx, tx, account); err != nil {
			return err
		}
		row.AccountID = account.ID
		if err := tx.SetEnterpriseAccount(ctx, row.ID, account.ID); err != nil {
			return err
		}
	}
	account, err := tx.User(ctx, row.AccountID)
	s.enterprise = enterprise{id: row.ID, name: row.Name, accountID: row.AccountID, rootID: account.User.RootFolderID}
	return err
}

// prepareNames adds the folded names of users who were created by releases without them.
func (s *Service) prepareNames(ctx context.Context, tx *store.Tx) error {
	users, err := tx.UsersWithoutNameKey(ctx)
	if err != nil {
		return err
	}
	for _, user := range users {
		if err := tx.SetNameKey(ctx, user.ID, foldKey(user.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Limits returns the limits with their defaults.
func (s *Service) Limits() Limits { return s.limits }

func (s *Service) newID() int64 { return s.ids.next(s.now(), 1) }

// micros returns the current time in the format of the database.
func (s *Service) micros() int64 { return s.now().UnixMicro() }

// timeOf converts a time of the database. 0 is the zero time.
func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// microsOf returns a time in the form of the database, or otherwise if t is zero.
func microsOf(t time.Time, otherwise int64) int64 {
	if t.IsZero() {
		return otherwise
	}
	return cmp.Or(t.UnixMicro(), 1) // 0 stands for no time
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails, see crypto/rand
	return b
}
