package webhook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	// minPause is the minimum length of a pause, and maxLength the maximum length of a schedule.
	minPause, maxLength = 100 * time.Millisecond, 30 * 24 * time.Hour
	// maxTries is the maximum number of pauses in a schedule.
	maxTries = 100
	// jitter is the fraction of a pause by which it is randomly shortened or lengthened, so that deliveries that failed together
	// are not retried together. The mean is unchanged: a schedule of two hours takes two hours, give or take a few minutes.
	jitter = 0.1
)

// noRetries is the string form of a schedule without pauses.
const noRetries = "none"

// Schedule lists the pauses after each failed attempt of a delivery. A delivery that fails after the last pause is given up.
type Schedule []time.Duration

// DefaultSchedule has twelve retries in two hours.
var DefaultSchedule = Schedule{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 15 * time.Minute, 20 * time.Minute, 20 * time.Minute, 24*time.Minute + 20*time.Second,
}

// SlowTail has seven retries in three days. Append it to a schedule for receivers that are down over a weekend.
var SlowTail = Schedule{
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// ParseSchedule parses pauses separated by commas, as in 10s,30s,1m, or "none". It accepts what String returns.
func ParseSchedule(text string) (Schedule, error) {
	s := Schedule{}
	if strings.TrimSpace(text) == noRetries {
		return s, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		pause, err := time.ParseDuration(entry)
		if err != nil {
			return nil, fmt.Errorf("%q is not a duration: write pauses like 10s,30s,1m,2h, or %s for no retries", entry, noRetries)
		}
		if pause < minPause || pause > maxLength {
			return nil, fmt.Errorf("a pause of %s is too short or too long: it must be from %v to %v", entry, minPause, maxLength)
		}
		s = append(s, pause)
	}
	if len(s) > maxTries {
		return nil, fmt.Errorf("a schedule of %d pauses is too long: the maximum is %d", len(s), maxTries)
	}
	if s.Length() > maxLength {
		return nil, errors.New("the schedule is too long: the maximum is 30 days")
	}
	return s, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler] with ParseSchedule.
func (s *Schedule) UnmarshalText(text []byte) error {
	parsed, err := ParseSchedule(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// String returns the form that ParseSchedule accepts, such as 10s,30s,1m.
func (s Schedule) String() string {
	if len(s) == 0 {
		return noRetries
	}
	var pauses []string
	for _, pause := range s {
		text := pause.String() // such as 1h0m0s
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		pauses = append(pauses, text)
	}
	return strings.Join(pauses, ",")
}

// Length returns the sum of the pauses: the time from the first failure to the last attempt, without the attempts themselves.
func (s Schedule) Length() time.Duration {
	var sum time.Duration
	for _, pause := range s {
		sum += pause
	}
	return sum
}

// after returns the pause after the given number of failed attempts, with jitter. more is false if there is none.
func (s Schedule) after(tries int) (pause time.Duration, more bool) {
	if tries < 1 || tries > len(s) {
		return 0, false
	}
	pause = s[tries-1]
	span := time.Duration(float64(pause) * jitter)
	return pause - span + rand.N(2*span+1), true
}
