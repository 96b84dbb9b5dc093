package webhook

import (
	"encoding"
	"slices"
	"strings"
	"testing"
	"time"
)

var _ encoding.TextUnmarshaler = (*Schedule)(nil) // the interface of settings

func TestSchedules(t *testing.T) {
	if got, want := DefaultSchedule.String(), "10s,30s,1m,2m,4m,8m,10m,15m,15m,20m,20m,24m20s"; got != want {
		t.Errorf("the default is %s, want %s", got, want)
	}
	if len(DefaultSchedule) != 12 || DefaultSchedule.Length() != 2*time.Hour {
		t.Errorf("the default has %d retries in %v", len(DefaultSchedule), DefaultSchedule.Length())
	}
	if got := SlowTail.Length(); got != 3*24*time.Hour {
		t.Errorf("the slow tail takes %v", got)
	}
}

func TestParseSchedule(t *testing.T) {
	for text, want := range map[string]string{
		"10s,30s,1m": "", " 10s , 1h30m ": "10s,1h30m", "90s": "1m30s", "60m,24h,0.5s": "1h,24h,500ms", "1h0m5s": "", "none": "",
		" none ": "none",
		"100ms":  "", "720h": "", strings.Repeat("1s,", 99) + "1s": "",
	} {
		if want == "" {
			want = text
		}
		var s Schedule
		if err := s.UnmarshalText([]byte(text)); err != nil || s.String() != want {
			t.Errorf("%q is parsed as %q, error %v", text, s, err)
		}
		if again, err := ParseSchedule(s.String()); err != nil || !slices.Equal(again, s) {
			t.Errorf("%q is parsed as %v, error %v", s, again, err)
		}
	}
	for text, want := range map[string]string{
		"": `"" is not a duration`, "10": `"10" is not a duration`, "10s,,1m": `"" is not a duration`, "10s 1m": `"10s 1m" is not a duration`,
		"soon": "write pauses like", "1d": `"1d" is not a duration`,
		"0s": "a pause of 0s is too short", "-1s": "a pause of -1s", "99ms": "from 100ms", "721h": "a pause of 721h",
		"10s,none": `"none" is not a duration`,
		"720h,1s":  "30 days", strings.Repeat("1s,", 100) + "1s": "a schedule of 101 pauses",
	} {
		s := Schedule{time.Second}
		if err := s.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || len(s) != 1 {
			t.Errorf("%q: schedule %v, error %v, want one with %q", text, s, err, want)
		}
	}
}

func TestPausesHaveJitter(t *testing.T) {
	least, most := time.Hour, time.Duration(0)
	var sum time.Duration
	const rounds = 2000
	for range rounds {
		for tries := 1; tries <= len(DefaultSchedule); tries++ {
			pause, more := DefaultSchedule.after(tries)
			if want := DefaultSchedule[tries-1]; !more || pause < want*9/10 || pause > want*11/10 {
				t.Fatalf("after %d attempts: a pause of %v, more %v", tries, pause, more)
			}
			sum += pause
		}
		pause, _ := DefaultSchedule.after(1)
		least, most = min(least, pause), max(most, pause)
	}
	if mean := sum / rounds; mean < 119*time.Minute || mean > 121*time.Minute {
		t.Errorf("a schedule of two hours takes %v", mean)
	}
	if least > 9100*time.Millisecond || most < 10900*time.Millisecond {
		t.Errorf("pauses of 10s are from %v to %v", least, most)
	}
	for _, tries := range []int{-1, 0, 13, 1 << 40} {
		if pause, more := DefaultSchedule.after(tries); more || pause != 0 {
			t.Errorf("after %d attempts: a pause of %v, more %v", tries, pause, more)
		}
	}
	if _, more := (Schedule{}).after(1); more {
		t.Error("an empty schedule has retries")
	}
}
