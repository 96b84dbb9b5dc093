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

// Limits of a run of a slot. The queue allows it [Generator.TaskTimeout].
const (
	flushAfter  = time.Second      // maximum time that finished documents wait for later ones
	runBudget   = 5 * time.Second  // no documents are claimed after that, because the tasks of other users come first
	placeBudget = 60 * time.Second // a run that got no place for this long returns to the queue
	lastWords   = 10 * time.Second // for pending writes when a run is interrupted
	faultPause  = time.Second      // pause of a task after an error of the server

	waitBudget  = 15 * time.Second // for a core, a process, and LibreOffice
	noLimitTime = time.Hour        // if the operator has set no limit
)

// TaskTimeout returns the maximum time of a generation task: enough to reach every budget if it starts with its run.
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

// ErrUnfinished is returned by a task whose time is up. It must run again soon, and continues where it stopped.
var ErrUnfinished = errors.New("more documents of the task are due")

// PauseError is returned by a task after an error of the server, which is in the log. The task must run again after a pause, as often as
// it returns this error.
type PauseError struct {
	For   time.Duration
	cause error
}

func (e *PauseError) Error() string {
	return "an error of the server interrupted a run: " + e.cause.Error()
}
func (e *PauseError) Unwrap() error { return e.cause }

// GenerateDocuments generates documents of a user until none is due in the lane. ErrUnfinished and *[PauseError] ask for another run.
func (g *Generator) GenerateDocuments(ctx context.Context, task docgen.GenerateDocuments) error {
	places, known := g.places[task.Lane]
	if !known {
		return errors.New("unknown lane " + string(task.Lane))
	}
	ctx = fair.For(ctx, fair.Claimant{User: task.UserID, Weight: 1})
	_, leftByUs := g.left.Load(task)
	weight, takenBack, err := g.service.ResumeSlot(ctx, task, !leftByUs)
	if err != nil {
		return g.afterShortage(ctx, err, "user", task.UserID)
	}
	g.left.Delete(task)
	if takenBack > 0 && !leftByUs {
		g.log.WarnContext(ctx, "regenerating documents that were in progress when a server ended", "user", task.UserID, "lane", task.Lane,
			"documents", takenBack)
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

// turn generates the documents of the next claim. more is false if there were none.
func (g *Generator) turn(ctx context.Context, places *fair.Slots, task docgen.GenerateDocuments,
	claimant fair.Claimant) (more bool, err error) {
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
	begun    int // started jobs of the claim
}

// work generates the documents. Those that could not be generated, because the run was interrupted or because of an error of the server,
// wait again.
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
		s.results = append(s.results, docgen.Result{
			Job: s.current(), TryAgain: true, Failures: docgen.Failures{Errors: []string{tooLong}}, Reason: docgen.FailedBudget,
		})
		s.begun++
	}
	return errors.Join(err, s.complete(last), s.service.ReleaseJobs(last, s.claim, s.claim.Jobs[s.begun:]))
}

// tooLong is the failure of a document that took too long without exceeding a budget.
const tooLong = "The document was not generated within the time limit of the server. Use less data, or split the document."

// postpone requeues the current job after an error of the server. After a shortage, it also requeues the jobs that follow.
func (s *slice) postpone(ctx context.Context, err error) {
	lacking := docgen.ShortageOf(err)
	if lacking == docgen.NoShortage {
		s.log.ErrorContext(ctx, "an error of the server; documents will be retried", "batch", s.claim.BatchID, "error", err)
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
	failures := docgen.Failures{Errors: []string{reasonOf(cause)}}
	return docgen.Result{Job: job, TryAgain: true, Failures: failures, Reason: docgen.FailedServer}
}

// current returns the current job.
func (s *slice) current() docgen.ClaimedJob { return s.claim.Jobs[s.begun] }

// generate generates the documents. An error is one of the server, or says that the run was interrupted.
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

// giveWay yields to others whose turn it is, and completes the finished documents if they have waited long enough.
func (s *slice) giveWay(ctx context.Context) error {
	if s.now().Sub(s.flushed) >= flushAfter {
		if err := s.complete(ctx); err != nil {
			return err
		}
	}
	return s.place.Yield(ctx)
}

// completeError is why jobs could not be completed. They must be retried.
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

// reasonOf returns the reason, for people, why an error of the server failed a document.
func reasonOf(err error) string {
	if known := docgen.PublicError(err); known != nil {
		return known.Message
	}
	return internalFailure
}
