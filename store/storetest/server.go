package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"platen/store"
)

const (
	environment  = "PLATEN_TEST_POSTGRES"
	startTimeout = 30 * time.Second
	retryPause   = 10 * time.Millisecond
	dirPrefix    = "platen-pg-"
)

// errMissing says what to do if PostgreSQL is missing.
var errMissing = errors.New("the tests need PostgreSQL: run `make test-deps` (on Debian: apt-get install postgresql), " +
	"or set PLATEN_TEST_POSTGRES to the postgres:// URL of a server, or to off to go without")

// server is a PostgreSQL server with a migrated database to copy for each test.
type server struct {
	admin    *url.URL      // of the database "postgres"
	pool     *pgxpool.Pool // connections to that database
	template string
	copying  string       // the strategy for copying a database, in SQL
	count    atomic.Int64 // the number of databases created for tests
	drops    errgroup.Group
	stop     func() error
}

// shared is the server of this test process. The first test that needs it starts it, and Main stops it.
var shared struct {
	sync.Mutex
	server *server
	err    error
}

// Main runs the tests of a package, then stops what they started, and fails if a goroutine is still running. Every package that uses
// storetest calls it:
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
// Without it, the kernel stops the server when the test process ends.
func Main(m *testing.M) {
	code := m.Run()
	if err := errors.Join(Stop(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = cmp.Or(code, 1)
	}
	os.Exit(code)
}

// Stop stops the server that the tests share. It is for a TestMain that does more than [Main].
func Stop() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	err := errors.Join(shared.server.drops.Wait(), shared.server.stop())
	shared.server = nil
	return err
}

func sharedServer(t testing.TB) *server {
	t.Helper()
	setting := os.Getenv(environment)
	if setting == "off" {
		t.Skipf("%s=off", environment)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = newServer(setting)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

func newServer(setting string) (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	srv := &server{stop: func() error { return nil }}
	var err error
	if setting != "" {
		srv.admin, err = url.Parse(setting)
	} else {
		srv.admin, srv.stop, err = startServer(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	if srv.pool, err = pgxpool.New(ctx, srv.admin.String()); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), srv.stop())
	}
	stop := srv.stop
	srv.stop = func() error {
		srv.pool.Close()
		return stop()
	}
	if err := srv.makeTemplate(ctx); err != nil {
		return nil, errors.Join(err, srv.stop())
	}
	return srv, nil
}

// makeTemplate migrates one database, so that each test can copy its files.
func (s *server) makeTemplate(ctx context.Context) error {
	s.template = fmt.Sprintf("platen_test_%d_template", os.Getpid())
	var version int
	if err := s.pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return fmt.Errorf("ask PostgreSQL for its version: %w", err)
	}
	if version >= 150_000 {
		s.copying = " STRATEGY FILE_COPY" // faster, and the only way in older versions
	}
	if err := s.exec(ctx, "CREATE DATABASE "+s.template); err != nil {
		return err
	}
	stop := s.stop
	s.stop = func() error {
		return errors.Join(s.exec(context.Background(), "DROP DATABASE "+s.template), stop())
	}
	db, err := store.Open(ctx, store.Config{URL: s.url(s.template)})
	if err != nil {
		return err
	}
	return db.Close()
}

func (s *server) createDatabase(ctx context.Context, template string) (string, error) {
	name := fmt.Sprintf("platen_test_%d_%d", os.Getpid(), s.count.Add(1))
	if err := s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+s.copying); err != nil {
		return "", err
	}
	return s.url(name), nil
}

// dropDatabase drops a database while the next test runs, because PostgreSQL waits for 100 ms if a connection is not closed yet. Stop
// returns the error.
func (s *server) dropDatabase(databaseURL string) {
	s.drops.Go(func() error {
		u, err := url.Parse(databaseURL)
		if err != nil {
			return err
		}
		return s.exec(context.Background(), "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)")
	})
}

func (s *server) url(database string) string {
	u := *s.admin
	u.Path = "/" + database
	return u.String()
}

func (s *server) exec(ctx context.Context, query string) error {
	if _, err := s.pool.Exec(ctx, query); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// startServer creates a cluster in a temporary directory, and starts it. The cluster sorts text by ICU and not by bytes, as most servers
// do, so that tests fail for code that relies on the order of bytes.
func startServer(ctx context.Context) (admin *url.URL, stop func() error, err error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, nil, err
	}
	parent := clusterParent()
	removeStale(parent)
	dir, err := os.MkdirTemp(parent, dirPrefix+strconv.Itoa(os.Getpid())+"-") // short, because the path of a socket has at most 107 bytes
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	credential, err := ordinaryUser(dir)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", data, "--username=platen", "--auth=trust",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=und", "--no-sync", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: credential}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), remove())
	}
	// The server listens on a socket in a separate directory, because another test process could take a free port meanwhile.
	admin = &url.URL{Scheme: "postgres", User: url.User("platen"), Path: "/postgres", RawQuery: "host=" + url.QueryEscape(dir)}
	proc, err := startPostgres(filepath.Join(bin, "postgres"), dir, data, credential)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	stop = func() error { return errors.Join(proc.stop(), remove()) }
	if err := proc.waitReady(ctx, admin); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return admin, stop, nil
}

// findBinaries searches the directories where Debian installs each version of PostgreSQL, newest first, and then PATH.
func findBinaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if the name is not a number
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errMissing
	}
	return filepath.Dir(path), nil
}

// memoryDir is the file system in memory that Linux provides. Clusters are created there if it has at least memoryRoom bytes free.
const (
	memoryDir  = "/dev/shm"
	memoryRoom = 2 << 30
)

// clusterParent returns the directory for clusters. It is in memory if there is enough space, because a new database has some 300 files,
// which takes five times as long on a disk.
func clusterParent() string {
	var fs syscall.Statfs_t
	err := syscall.Statfs(memoryDir, &fs)
	if err == nil && fs.Bavail*uint64(fs.Bsize) >= memoryRoom && unix.Access(memoryDir, unix.W_OK|unix.X_OK) == nil {
		return memoryDir
	}
	return os.TempDir()
}

// removeStale removes the directories that killed test processes left.
func removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*-*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		n, err := strconv.Atoi(pid)
		if err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir) // another test process may be doing the same
		}
	}
}

// ordinaryUser makes another user the owner of dir, if this process runs as root, because PostgreSQL refuses to run as root.
func ordinaryUser(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("find a user other than root to run PostgreSQL: %w", err)
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

// process is a running PostgreSQL.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read it only after exited is closed
	exited chan struct{}
	err    error // the reason why it ended
}

// startPostgres starts the server with settings for many small, temporary databases. The kernel stops the server with this process: it
// signals the server when the thread that started it ends, so that thread lives until the server has ended.
func startPostgres(binary, dir, data string, credential *syscall.Credential) (*process, error) {
	p := &process{exited: make(chan struct{})}
	p.cmd = exec.Command(binary, "-D", data, "-k", dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
		"-c", "jit=off", "-c", "shared_buffers=32MB", "-c", "max_connections=200", "-c", "autovacuum=off")
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Pdeathsig: syscall.SIGQUIT}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

func (p *process) waitReady(ctx context.Context, admin *url.URL) error {
	for {
		conn, err := pgx.Connect(ctx, admin.String())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-p.exited:
			return fmt.Errorf("postgres ended: %w\n%s", p.err, &p.output)
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		case <-time.After(retryPause):
		}
	}
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil { // immediate shutdown, because no data is kept
		return fmt.Errorf("stop postgres: %w", err)
	}
	<-p.exited
	return nil
}
