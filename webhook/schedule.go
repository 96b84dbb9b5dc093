package webhook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	// A pause shorter than minPause is no pause, and a receiver is not tried for longer than maxLength in all.
	minPause, maxLength = 100 * time.Millisecond, 30 * 24 * time.Hour
	// maxTries is how many pauses a schedule may have.
	maxTries = 100
	// jitter is the part of a pause by which it may be shorter or longer, so that deliveries that failed together do not come
	// back together. As many are shorter as are longer: a schedule of two hours takes two hours, give or take minutes.
	jitter = 0.1
)

// noRetries is how a schedule without pauses is written.
const noRetries = "none"

// Schedule says when a delivery that failed is tried again: after the first failure when the first pause is over, and so
// on. After the failure that has no pause any more it is given up.
type Schedule []time.Duration

// DefaultSchedule is twelve tries in two hours, after the first.
var DefaultSchedule = Schedule{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 15 * time.Minute, 20 * time.Minute, 20 * time.Minute, 24*time.Minute + 20*time.Second,
}

// SlowTail is three more days, for receivers that stay away over a weekend.
var SlowTail = Schedule{
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// ParseSchedule reads what String writes: pauses separated by commas, as in 10s,30s,1m, or none.
func ParseSchedule(text string) (Schedule, error) {
	s := Schedule{}
	if strings.TrimSpace(text) == noRetries {
		return s, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		pause, err := time.ParseDuration(entry)
		if err != nil {
			return nil, fmt.Errorf("%q is no pause: write pauses as 10s,30s,1m,2h, or %s for no second try", entry, noRetries)
		}
		if pause < minPause || pause > maxLength {
			return nil, fmt.Errorf("a pause of %s is too short or too long: it must be from %v to %v", entry, minPause, maxLength)
		}
		s = append(s, pause)
	}
	if len(s) > maxTries {
		return nil, fmt.Errorf("a schedule of %d pauses is too long: it may have %d", len(s), maxTries)
	}
	if s.Length() > maxLength {
		return nil, errors.New("a schedule of more than 30 days is too long")
	}
	return s, nil
}

// UnmarshalText makes a schedule a setting.
func (s *Schedule) UnmarshalText(text []byte) error {
	parsed, err := ParseSchedule(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// String writes the pauses as an operator does: 10s,30s,1m.
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

// Length is the time from the first failure to the last try, without what the tries themselves take.
func (s Schedule) Length() time.Duration {
	var sum time.Duration
	for _, pause := range s {
		sum += pause
	}
	return sum
}

// after returns the pause after so many failed tries, with its jitter; more is false when there is none.
func (s Schedule) after(tries int) (pause time.Duration, more bool) {
	if tries < 1 || tries > len(s) {
		return 0, false
	}
	pause = s[tries-1]
	span := time.Duration(float64(pause) * jitter)
	return pause - span + rand.N(2*span+1), true
}
