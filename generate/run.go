package generate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"platen/budget"
	"platen/docgen"
	"platen/fair"
)

// How long a run of a slot works. The queue gives it [Generator.TaskTimeout].
const (
	flushAfter  = time.Second      // finished documents wait no longer than that for those after them
	runBudget   = 5 * time.Second  // no more documents are claimed after that: the tasks of other users come first
	placeBudget = 60 * time.Second // a run that got no place for so long goes back to the queue
	lastWords   = 10 * time.Second // for what is still written when a run is broken off
	faultPause  = time.Second      // how long a task rests after an error of the server

	waitBudget  = 15 * time.Second // for a core, a process, and LibreOffice
	noLimitTime = time.Hour        // for what the operator has not limited
)

// TaskTimeout is how long a task of documents may take: one that began with its run has time to reach each of its budgets.
func (g *Generator) TaskTimeout() time.Duration {
	limit := func(d, other time.Duration) time.Duration {
		if d < 0 {
			return noLimitTime
		}
		return cmp.Or(d, other)
	}
	document := limit(g.templateTime, budget.DefaultTime) + limit(g.limits.Time, budget.DefaultTime) + g.conversion
	return placeBudget + runBudget + waitBudget + document + lastWords
}

// ErrUnfinished is returned by a task that used up its time: it is to be run again soon, and goes on where it stopped.
var ErrUnfinished = errors.New("more documents of the task are to be made")

// PauseError is returned by a task after an error of the server, which is in the log: it is to be run again after a pause, as often
// as it asks for that.
type PauseError struct {
	For   time.Duration
	cause error
}

func (e *PauseError) Error() string {
	return "an error of the server broke a run off: " + e.cause.Error()
}
func (e *PauseError) Unwrap() error { return e.cause }

// GenerateDocuments generates documents of a user until none is due in the lane. ErrUnfinished and *[PauseError] ask for another
// run.
func (g *Generator) GenerateDocuments(ctx context.Context, task docgen.GenerateDocuments) error {
	places, known := g.places[task.Lane]
	if !known {
		return errors.New("there is no lane " + string(task.Lane))
	}
	ctx = fair.For(ctx, fair.Claimant{User: task.UserID, Weight: 1})
	_, leftByUs := g.left.Load(task)
	weight, takenBack, err := g.service.ResumeSlot(ctx, task, !leftByUs)
	if err != nil {
		return g.afterShortage(ctx, err, "user", task.UserID)
	}
	g.left.Delete(task)
	if takenBack > 0 && !leftByUs {
		g.log.WarnContext(ctx, "documents are generated again that a server was working on when it ended", "user", task.UserID, "lane", task.Lane, "documents", takenBack)
	}
	claimant := fair.Claimant{User: task.UserID, Weight: weight}
	ctx = fair.For(ctx, claimant)
	for begun := g.now(); ; {
		more, err := g.turn(ctx, places, task, claimant)
		if err != nil || !more {
			return err
		}
		if g.now().Sub(begun) > runBudget {
			return ErrUnfinished
		}
	}
}

// turn generates the documents that are claimed next. More is false when there were none.
func (g *Generator) turn(ctx context.Context, places *fair.Slots, task docgen.GenerateDocuments, claimant fair.Claimant) (more bool, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, placeBudget, ErrUnfinished)
	defer cancel()
	place, err := places.Acquire(waiting, claimant)
	if err != nil {
		return true, err
	}
	defer place.Release()
	claim, err := g.service.ClaimJobs(ctx, task)
	if err != nil {
		return false, g.afterShortage(ctx, err, "user", task.UserID)
	}
	if len(claim.Jobs) == 0 {
		g.shortages.over(ctx, docgen.ShortOfDatabase)
		return false, nil
	}
	s := &slice{Generator: g, place: place, claimant: claimant, claim: claim, flushed: g.now()}
	g.left.Store(task, nil)
	if err := s.work(ctx); err != nil {
		return true, err
	}
	g.left.Delete(task)
	return true, nil
}

// slice is the jobs of a claim while their documents are generated. It belongs to one goroutine.
type slice struct {
	*Generator
	place    *fair.Slot
	claimant fair.Claimant
	claim    *docgen.Claim
	results  []docgen.Result // not yet completed
	flushed  time.Time
	begun    int // of the jobs of the claim
}

// work generates the documents. What could not be generated, because the run is broken off or because of an error of the
// server, waits again.
func (s *slice) work(ctx context.Context) error {
	err := s.generate(ctx)
	if err == nil {
		err = s.complete(ctx)
	}
	if err == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	switch {
	case ctx.Err() == nil:
		s.postpone(ctx, err)
		err = &PauseError{For: faultPause, cause: err}
	case s.begun == 0 && errors.Is(context.Cause(ctx), context.DeadlineExceeded): // it had the time of the whole task
		s.results = append(s.results, docgen.Result{Job: s.current(), TryAgain: true, Failures: docgen.Failures{Errors: []string{tooLong}}})
		s.begun++
	}
	return errors.Join(err, s.complete(last), s.service.ReleaseJobs(last, s.claim, s.claim.Jobs[s.begun:]))
}

// tooLong says to a person why a document failed that its budgets did not end.
const tooLong = "The document was not generated in the time that the server gives it. Use less data, or split the document."

// postpone has the job that is being worked on wait again after an error of the server, and where that is a shortage, the jobs after it
// as well.
func (s *slice) postpone(ctx context.Context, err error) {
	lacking := docgen.ShortageOf(err)
	if lacking == docgen.NoShortage {
		s.log.ErrorContext(ctx, "an error of the server; documents are tried again", "batch", s.claim.BatchID, "error", err)
	} else {
		s.shortages.met(ctx, lacking, err, "batch", s.claim.BatchID)
	}
	if _, late := errors.AsType[*completeError](err); !late {
		s.results = append(s.results, tryAgain(s.current(), err))
		s.begun++
	}
	for ; lacking != docgen.NoShortage && s.begun < len(s.claim.Jobs); s.begun++ {
		s.results = append(s.results, tryAgain(s.current(), err))
	}
}

func tryAgain(job docgen.ClaimedJob, cause error) docgen.Result {
	if lacking := docgen.ShortageOf(cause); lacking != docgen.NoShortage {
		return docgen.Result{Job: job, Shortage: lacking}
	}
	return docgen.Result{Job: job, TryAgain: true, Failures: docgen.Failures{Errors: []string{reasonOf(cause)}}}
}

// current is the job that is being worked on.
func (s *slice) current() docgen.ClaimedJob { return s.claim.Jobs[s.begun] }

// generate generates the documents. An error is one of the server, or says that the run is broken off.
func (s *slice) generate(ctx context.Context) error {
	document, err := s.maker(ctx)
	if err != nil {
		return err
	}
	for ; s.begun < len(s.claim.Jobs); s.begun++ {
		if s.begun > 0 {
			if err := s.giveWay(ctx); err != nil {
				return err
			}
		}
		result, err := document(ctx, s.current())
		if err != nil {
			return err
		}
		s.results = append(s.results, result)
	}
	return nil
}

// giveWay lets others go first who are next, and completes what was finished when it has waited long enough.
func (s *slice) giveWay(ctx context.Context) error {
	if s.now().Sub(s.flushed) >= flushAfter {
		if err := s.complete(ctx); err != nil {
			return err
		}
	}
	return s.place.Yield(ctx)
}

// completeError is why jobs could not be completed. They are to be tried again.
type completeError struct{ err error }

func (e *completeError) Error() string { return "complete jobs: " + e.err.Error() }
func (e *completeError) Unwrap() error { return e.err }

// complete ends the jobs that have results.
func (s *slice) complete(ctx context.Context) error {
	s.flushed = s.now()
	if len(s.results) == 0 {
		return nil
	}
	ended, err := s.service.CompleteJobs(ctx, s.claim, s.results)
	s.metrics.ended(ended)
	if err != nil {
		for i, result := range s.results {
			s.results[i] = tryAgain(result.Job, err)
		}
		return &completeError{err}
	}
	s.results = nil
	if ended[docgen.StatusCompleted]+ended[docgen.StatusCompletedWithError] > 0 {
		s.shortages.over(ctx, docgen.Shortages()...)
	}
	return nil
}

// reasonOf says to a person why an error of the server failed a document.
func reasonOf(err error) string {
	if known := docgen.PublicError(err); known != nil {
		return known.Message
	}
	return internalFailure
}
