package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"platen/client"
	"platen/pdf/office"
	"platen/pdf/pdftest"
	"platen/store"
	"platen/store/storetest"
)

// How often TestKilled kills a server, and the seed for choosing the moments: go test ./cli -run TestKilled -kills=200
// -seed=7. The same seed makes the same choices, but what a server has done by then depends on the machine.
var (
	killRounds = flag.Int("kills", 0, "how often TestKilled kills a server on SQLite, and a quarter of that on PostgreSQL; 0 for "+
		"20, or 4 with -short")
	killSeed = flag.Uint64("seed", 1, "seed of the moments at which TestKilled kills a server")
)

// TestKilled kills a server repeatedly, at random moments, while users work and receivers misbehave. In the end, every
// committed change has one event in the log, which was delivered at least once, and there are no other events. Every
// batch of PDFs has finished, and no process or file of LibreOffice is left.
func TestKilled(t *testing.T) {
	t.Parallel()
	rounds := *killRounds
	switch {
	case rounds == 0 && testing.Short():
		rounds = 4
	case rounds == 0:
		rounds = 20
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		k := newKilling(t, store.Config{Path: filepath.Join(data, "platen.db")}, "--data="+data)
		k.run(rounds)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database := storetest.Postgres(t)
		k := newKilling(t, database, "--data="+t.TempDir(), "--database="+database.URL)
		k.atLast = func() { t.Logf("%d tasks were held by servers that are dead", muchLater(t, database.URL)) }
		k.run(max(1, rounds/4))
	})
}

// killing is a server that is killed often, with its users.
type killing struct {
	t        *testing.T
	rng      *rand.Rand
	database store.Config
	args     []string
	atLast   func() // runs before the last start, after which there are no more kills
	receiver *ledger
	visitor  *visitor
	workers  []*killWorker

	template, watched    string
	letter               string    // the template for PDFs; empty if PDFs cannot be generated
	pdfFolder            string    // the working folder of LibreOffice
	folders              [2]string // in the watched folder, which has a webhook
	webhook, moreWebhook string    // on the watched folder, and on the second folder in it

	kills map[string]int // by moment
}

// The number of concurrent workers, and the maximum time between the start of a request and a kill.
const (
	killWorkers = 3
	killWithin  = 60 * time.Millisecond
	killStartUp = 600 * time.Millisecond
)

// One of killPDFRounds rounds generates PDFs. LibreOffice starts slowly in each of them: some servers run until it has
// converted some documents, and are then killed within a shorter time, in which PDFs are merged and tasks end.
const (
	killPDFRounds  = 3
	killPDFWithin  = 20 * time.Millisecond
	killPDFWorkers = 2 // concurrent LibreOffice processes
)

// killMoment is the moment at which a working server is killed, and what happens until then.
type killMoment struct {
	request int64         // a moment after that many requests began
	pdfs    int           // if not 0, instead after that many PDFs of the round were generated; a merged PDF is the last one
	pause   time.Duration // the moment

	stopping bool // it first gets a signal to stop, and is killed while it stops
	stopFor  time.Duration

	maker     int // the worker who creates a batch of PDFs; none in most rounds, or if PDFs cannot be generated
	documents int // in the batch
	merged    bool
}

func newKilling(t *testing.T, database store.Config, location ...string) *killing {
	k := &killing{
		t: t, rng: rand.New(rand.NewPCG(*killSeed, 0)), database: database, receiver: newLedger(t, *killSeed), atLast: func() {},
		pdfFolder: t.TempDir(), kills: map[string]int{},
	}
	pauses := strings.TrimSuffix(strings.Repeat("200ms,", 50), ",")
	k.args = append(slices.Clone(location), "--rate-requests=-1", "--webhook-any-address", "--webhook-retries="+pauses,
		"--pdf-folder="+k.pdfFolder, fmt.Sprint("--pdf-workers=", killPDFWorkers))
	server := k.start()
	k.visitor = newVisitor(t, server, location...)
	k.watched = k.visitor.mustFolder("Watched")
	for i := range k.folders {
		k.folders[i] = k.mustFolderIn(k.watched, fmt.Sprint("Part ", i+1))
	}
	k.template = k.mustTemplateIn(k.watched, "Letter.docx", exampleLetter(t))
	if _, err := office.Find(""); err == nil {
		k.letter = k.mustTemplateIn(k.watched, "Small letter.docx", pdftest.Letter("{{ to }}"))
	} else {
		t.Logf("without PDFs: %v", err)
	}
	k.mustWebhooks()
	for i := range killWorkers {
		k.workers = append(k.workers, &killWorker{killing: k, number: i})
	}
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	return k
}

// mustWebhooks creates the webhooks, for all events of files in the folders except downloads.
func (k *killing) mustWebhooks() {
	k.t.Helper()
	k.webhook = k.visitor.mustWebhook(k.watched, k.receiver.URL+"/all", client.TriggerFILEUPLOADED, client.TriggerFILEMOVED,
		client.TriggerFILERENAMED, client.TriggerFILECOPIED,
		client.TriggerFILETRASHED, client.TriggerFILERESTORED, client.TriggerFILEDELETED, client.TriggerDOCGENDOCUMENTGENERATIONSTARTED,
		client.TriggerDOCGENDOCUMENTGENERATIONSUCCEEDED, client.TriggerDOCGENDOCUMENTGENERATIONFAILED)
	k.moreWebhook = k.visitor.mustWebhook(k.folders[1], k.receiver.URL+"/more", client.TriggerFILEUPLOADED, client.TriggerFILEMOVED,
		client.TriggerFILERENAMED)
}

func (k *killing) mustFolderIn(parent, name string) string {
	k.t.Helper()
	request := client.CreateFolderRequest{Name: name, Parent: client.ParentRef{Id: parent}}
	made, err := k.visitor.CreateFolder(k.t.Context(), &client.CreateFolderParams{}, request)
	if err != nil {
		k.t.Fatal(err)
	}
	return made.JSON201.Id
}

// mustTemplateIn creates a template in a folder.
func (k *killing) mustTemplateIn(folder, name string, content []byte) (id string) {
	k.t.Helper()
	id, _ = k.visitor.mustTemplate(name, content)
	change := client.ItemChange{Parent: &client.MovedRef{Id: folder}}
	if _, err := k.visitor.UpdateFile(k.t.Context(), id, &client.UpdateFileParams{}, change); err != nil {
		k.t.Fatal(err)
	}
	return id
}

// start starts the server. It is killed if the test is aborted.
func (k *killing) start() *child {
	k.t.Helper()
	server, err := startServer(context.WithoutCancel(k.t.Context()), k.t.TempDir(), os.Environ(), k.args...)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		if err := server.kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			k.t.Error(err)
		}
	})
	return server
}

// run kills the server the given number of times, waits until it is idle, and checks the outcome.
func (k *killing) run(rounds int) {
	k.t.Logf("seed %d", *killSeed)
	for round := range rounds {
		if k.t.Failed() {
			break
		}
		if k.rng.IntN(5) == 0 {
			k.killStarting(round)
		}
		k.killWorking(round)
	}
	k.atLast()
	k.receiver.getWell()
	left := glob(k.t, filepath.Join(k.pdfFolder, "*"))
	server := k.start()
	k.visitor.visit(server)
	a := newAccounts(k)
	a.awaitRest()
	a.checkBatches()
	k.checkWorkers(left)
	k.tellMemory(server)
	if err := server.stop(); err != nil {
		k.t.Error(err)
	}
	k.checkLog(server.logged(), rounds)
	k.checkNoWorkers()
	a.check()
	k.t.Logf("killed %v", k.kills)
}

// killStarting kills a server shortly after its start.
func (k *killing) killStarting(round int) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.t.Context()), time.Duration(k.rng.Int64N(int64(killStartUp))))
	defer cancel()
	if server, err := startServer(ctx, k.t.TempDir(), os.Environ(), k.args...); err == nil {
		<-server.ended // because its context is canceled
		k.checkLog(server.logged(), round)
	} else if k.checkLog(err.Error(), round); ctx.Err() == nil {
		k.t.Error(err)
	}
	k.kills["starting"]++
}

// nextMoment chooses the moment at which the server of a round is killed.
func (k *killing) nextMoment(round int) killMoment {
	m := killMoment{
		request: int64(1 + k.rng.IntN(12)), pause: time.Duration(k.rng.Int64N(int64(killWithin))),
		stopping: k.rng.IntN(5) == 0, stopFor: time.Duration(k.rng.Int64N(int64(killWithin))), maker: -1,
	}
	if k.letter == "" || round%killPDFRounds != 1 {
		return m
	}
	m.maker, m.documents, m.merged = k.rng.IntN(killWorkers), 2+k.rng.IntN(3), k.rng.IntN(3) > 0
	if k.rng.IntN(2) == 0 {
		m.request, m.pdfs, m.pause = 0, 1+k.rng.IntN(m.files()), time.Duration(k.rng.Int64N(int64(killPDFWithin)))
	}
	return m
}

// files returns the number of files that the batch of PDFs results in.
func (m *killMoment) files() int {
	if m.merged {
		return m.documents + 1
	}
	return m.documents
}

// killWorking has all workers use a server, and kills it a moment after one of their requests. Sometimes, the server
// first gets a signal to stop, and is killed while it stops.
func (k *killing) killWorking(round int) {
	k.t.Helper()
	m := k.nextMoment(round)
	server := k.start()
	k.visitor.visit(server)
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	struck := make(chan struct{})
	strike := func() { time.AfterFunc(m.pause, func() { close(struck) }) }
	var begun atomic.Int64
	var working sync.WaitGroup
	for _, w := range k.workers {
		w.rng = rand.New(rand.NewPCG(*killSeed, uint64(1+round*killWorkers+w.number)))
		working.Go(func() {
			if w.number == m.maker {
				w.pdfs(ctx, m, struck, strike)
			}
			for ctx.Err() == nil {
				if begun.Add(1) == m.request {
					strike()
				}
				w.work(ctx, struck)
			}
		})
	}
	<-struck
	if m.stopping {
		server.terminate(k.t)
		select {
		case <-server.ended:
		case <-time.After(m.stopFor):
		}
	}
	k.count(server, m)
	cancel()
	working.Wait()
	k.checkLog(server.logged(), round)
}

// checkLog looks for errors in the log of a server. No task may be given up because servers were killed.
func (k *killing) checkLog(log string, round int) {
	k.t.Helper()
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"level":"ERROR"`) {
			k.t.Errorf("round %d: an error is in the log: %s", round, line)
		}
	}
}

// count kills a server, and counts the kill unless the server had already ended.
func (k *killing) count(server *child, m killMoment) {
	k.t.Helper()
	switch err := server.kill(); {
	case server.result == nil && m.stopping:
		k.kills["not, it had stopped"]++
	case err != nil:
		k.t.Error(err)
	case server.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		k.t.Errorf("the server ended by itself: %v\n%s", server.result, server.logged())
	case m.stopping:
		k.kills["stopping"]++
	case m.pdfs > 0:
		k.kills["making PDFs"]++
	default:
		k.kills["working"]++
	}
}
