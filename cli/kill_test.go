package cli

import (
	"context"
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
	"platen/store"
	"platen/store/storetest"
)

// How often TestKilled kills a server, and from which seed it chooses when: go test ./cli -run TestKilled -kills=200 -seed=7.
// The same seed makes the same choices; what a server has done by then is up to the machine.
var (
	killRounds = flag.Int("kills", 20, "how often TestKilled kills a server on SQLite, and a quarter of that on PostgreSQL")
	killSeed   = flag.Uint64("seed", 1, "seed of the moments at which TestKilled kills a server")
)

// TestKilled kills a server again and again, at any moment, while users work and receivers misbehave. In the end every
// change that was committed has been told, once in the log and at least once to the receiver, and nothing else has.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		k := newKilling(t, store.Config{Path: filepath.Join(data, "platen.db")}, "--data="+data)
		k.run(*killRounds)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database := storetest.Postgres(t)
		k := newKilling(t, database, "--data="+t.TempDir(), "--database="+database.URL)
		k.atLast = func() { t.Logf("%d tasks were held by servers that are dead", fiveMinutesLater(t, database.URL)) }
		k.run(max(1, *killRounds/4))
	})
}

// killing is a server that is killed often, and who works with it meanwhile.
type killing struct {
	t        *testing.T
	rng      *rand.Rand
	database store.Config
	args     []string
	atLast   func() // is done before the start that is not followed by a kill
	receiver *ledger
	visitor  *visitor
	workers  []*killWorker

	template, watched    string
	folders              [2]string // in the watched one, which has a webhook
	webhook, moreWebhook string    // on the watched folder, and on the second folder in it

	kills map[string]int // by when
}

// Those who work at the same time, and the longest time from a request's beginning to a kill.
const (
	killWorkers = 3
	killWithin  = 60 * time.Millisecond
	killStartUp = 600 * time.Millisecond
)

func newKilling(t *testing.T, database store.Config, location ...string) *killing {
	k := &killing{t: t, rng: rand.New(rand.NewPCG(*killSeed, 0)), database: database, kills: map[string]int{}, receiver: newLedger(t, *killSeed), atLast: func() {}}
	pauses := strings.TrimSuffix(strings.Repeat("200ms,", 50), ",")
	k.args = append(slices.Clone(location), "--rate-requests=-1", "--webhook-any-address", "--webhook-retries="+pauses)
	server := k.start()
	k.visitor = newVisitor(t, server, location...)
	k.watched = k.visitor.mustFolder("Watched")
	for i := range k.folders {
		k.folders[i] = k.mustFolderIn(k.watched, fmt.Sprint("Part ", i+1))
	}
	k.template, _ = k.visitor.mustTemplate("Letter.docx", exampleLetter(t))
	k.mustMove(k.template, k.watched)
	// What is set from here on is told of all that happens to files in the folders, but for downloads.
	k.webhook = k.visitor.mustWebhook(k.watched, k.receiver.URL+"/all", client.TriggerFILEUPLOADED, client.TriggerFILEMOVED, client.TriggerFILERENAMED, client.TriggerFILECOPIED,
		client.TriggerFILETRASHED, client.TriggerFILERESTORED, client.TriggerFILEDELETED, client.TriggerDOCGENDOCUMENTGENERATIONSTARTED,
		client.TriggerDOCGENDOCUMENTGENERATIONSUCCEEDED, client.TriggerDOCGENDOCUMENTGENERATIONFAILED)
	k.moreWebhook = k.visitor.mustWebhook(k.folders[1], k.receiver.URL+"/more", client.TriggerFILEUPLOADED, client.TriggerFILEMOVED, client.TriggerFILERENAMED)
	for i := range killWorkers {
		k.workers = append(k.workers, &killWorker{killing: k, number: i})
	}
	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killing) mustFolderIn(parent, name string) string {
	k.t.Helper()
	request := client.CreateFolderRequest{Name: name, Parent: client.ParentRef{Id: parent}}
	made, err := client.Check(k.visitor.CreateFolderWithResponse(k.t.Context(), &client.CreateFolderParams{}, request))
	if err != nil {
		k.t.Fatal(err)
	}
	return made.JSON201.Id
}

func (k *killing) mustMove(file, folder string) {
	k.t.Helper()
	change := client.ItemChange{Parent: &client.MovedRef{Id: folder}}
	if _, err := client.Check(k.visitor.UpdateFileWithResponse(k.t.Context(), file, &client.UpdateFileParams{}, change)); err != nil {
		k.t.Fatal(err)
	}
}

// start starts the server, which is to be stopped.
func (k *killing) start() *child {
	k.t.Helper()
	server, err := startServer(context.WithoutCancel(k.t.Context()), k.t.TempDir(), os.Environ(), k.args...)
	if err != nil {
		k.t.Fatal(err)
	}
	return server
}

// run kills the server so many times, lets it come to rest, and looks.
func (k *killing) run(rounds int) {
	k.t.Logf("seed %d", *killSeed)
	for round := range rounds {
		if k.t.Failed() {
			break
		}
		if k.rng.IntN(5) == 0 {
			k.killStarting()
		}
		k.killWorking(round)
	}
	k.atLast()
	k.receiver.getWell()
	server := k.start()
	k.visitor.visit(server)
	a := newAccounts(k)
	a.awaitRest()
	if err := server.stop(); err != nil {
		k.t.Error(err)
	}
	a.check()
	k.t.Logf("killed %v", k.kills)
}

// killStarting kills a server that has just been started.
func (k *killing) killStarting() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.t.Context()), time.Duration(k.rng.Int64N(int64(killStartUp))))
	defer cancel()
	if server, err := startServer(ctx, k.t.TempDir(), os.Environ(), k.args...); err == nil {
		<-server.ended // which its context sees to
	} else if ctx.Err() == nil {
		k.t.Error(err)
	}
	k.kills["starting"]++
}

// killWorking has all work with a server, and kills it a moment after one of their requests began. Sometimes it is told to
// stop then, and killed while it does.
func (k *killing) killWorking(round int) {
	k.t.Helper()
	fatal, pause := int64(1+k.rng.IntN(12)), time.Duration(k.rng.Int64N(int64(killWithin)))
	stopping := k.rng.IntN(5) == 0
	stopFor := time.Duration(k.rng.Int64N(int64(killWithin)))

	server := k.start()
	k.visitor.visit(server)
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	struck := make(chan struct{})
	var begun atomic.Int64
	var working sync.WaitGroup
	for _, w := range k.workers {
		w.rng = rand.New(rand.NewPCG(*killSeed, uint64(1+round*killWorkers+w.number)))
		working.Go(func() {
			for ctx.Err() == nil {
				if begun.Add(1) == fatal {
					time.AfterFunc(pause, func() { close(struck) })
				}
				w.work(ctx, struck)
			}
		})
	}
	<-struck
	if stopping {
		server.terminate(k.t)
		select {
		case <-server.ended:
		case <-time.After(stopFor):
		}
	}
	k.count(server, stopping)
	cancel()
	working.Wait()
	k.checkLog(server, round)
}

// checkLog looks for errors in the log of a server. That a document whose making was killed five times is given up is none.
func (k *killing) checkLog(server *child, round int) {
	k.t.Helper()
	for line := range strings.Lines(server.logged()) {
		if strings.Contains(line, `"level":"ERROR"`) && !strings.Contains(line, `"generate_documents"`) {
			k.t.Errorf("round %d: an error is in the log: %s", round, line)
		}
	}
}

// count kills a server, and counts it unless it had ended.
func (k *killing) count(server *child, stopping bool) {
	k.t.Helper()
	switch err := server.kill(); {
	case server.result == nil && stopping:
		k.kills["not, it had stopped"]++
	case err != nil:
		k.t.Error(err)
	case server.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		k.t.Errorf("the server ended by itself: %v\n%s", server.result, server.logged())
	case stopping:
		k.kills["stopping"]++
	default:
		k.kills["working"]++
	}
}
