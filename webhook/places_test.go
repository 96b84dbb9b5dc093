package webhook

import "testing"

// TestPlaces gives an owner as many places as may be, others always some, and those that are released to who holds the fewest.
func TestPlaces(t *testing.T) {
	p := newPlaces(0, 0)
	take := func(owner int64, want int) {
		t.Helper()
		n := 0
		for p.take(owner) {
			n++
		}
		if n != want {
			t.Fatalf("owner %d got %d places, want %d", owner, n, want)
		}
	}
	for owner := range int64(sharedPlaces / mostPlaces) {
		take(owner, mostPlaces)
	}
	const late, later = 100, 101
	take(late, alwaysPlaces)
	take(later, alwaysPlaces)
	p.release(later)
	first, second := p.ask(late), p.ask(later)
	if granted(first) || !granted(second) {
		t.Fatal("the place went to the owner who holds more")
	}
	for range 3 * alwaysPlaces { // until fewer than sharedPlaces are held
		p.release(0)
	}
	if !granted(first) {
		t.Fatal("no place came to who waited for it")
	}
	waits := p.ask(1)
	p.cancel(waits)
	p.release(1)
	if granted(waits) {
		t.Error("a place went to who does not wait any more")
	}
}

// TestPlacesAreForgotten keeps nothing of an owner who has no task and no place.
func TestPlacesAreForgotten(t *testing.T) {
	p := newPlaces(1, 0)
	leave, _ := p.enter(1, 7)
	p.take(1)
	if !p.serves(7) {
		t.Error("the webhook of a task is not served")
	}
	granted := p.ask(1)
	p.release(1)
	p.cancel(granted)
	leave()
	if len(p.owners)+len(p.served) != 0 || p.held != 0 || p.running != 0 {
		t.Errorf("left are %d owners, %d places and %d tasks", len(p.owners), p.held, p.running)
	}
}

// TestTasksAreShared refuses a task of who has more than an equal share of the queue, once it is nearly full.
func TestTasksAreShared(t *testing.T) {
	p := newPlaces(0, 10)
	for range 8 {
		if _, ok := p.enter(1, 7); !ok {
			t.Fatal("refused while the queue has room")
		}
	}
	if _, ok := p.enter(1, 7); ok {
		t.Error("the only owner in a crowded queue got one more task")
	}
	for range 2 {
		if _, ok := p.enter(2, 8); !ok {
			t.Error("another owner was refused")
		}
	}
}

func granted(t *ticket) bool {
	select {
	case <-t.granted:
		return true
	default:
		return false
	}
}
