package webhook

import "testing"

// TestEndedTasksLeaveNothing checks that nothing is kept for owners and webhooks without a task.
func TestEndedTasksLeaveNothing(t *testing.T) {
	counted := newTasks(0)
	leave, _ := counted.enter(1, 7)
	again, _ := counted.enter(1, 7)
	leave()
	if !counted.serves(7) || counted.serves(8) {
		t.Errorf("webhook 7 is served: %t, webhook 8: %t", counted.serves(7), counted.serves(8))
	}
	again()
	if counted.serves(7) || len(counted.owners)+len(counted.webhooks)+counted.running != 0 {
		t.Errorf("left are %d owners, %d webhooks, and %d tasks", len(counted.owners), len(counted.webhooks), counted.running)
	}
}

// TestTasksAreShared checks that a nearly full queue refuses tasks of an owner with more than an equal share of it.
func TestTasksAreShared(t *testing.T) {
	counted := newTasks(10)
	for range 8 {
		if _, ok := counted.enter(1, 7); !ok {
			t.Fatal("a task was refused while the queue had room")
		}
	}
	if _, ok := counted.enter(1, 7); ok {
		t.Error("a nearly full queue accepted another task of its only owner")
	}
	for range 2 {
		if _, ok := counted.enter(2, 8); !ok {
			t.Error("another owner was refused")
		}
	}
}
