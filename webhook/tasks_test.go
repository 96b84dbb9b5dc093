package webhook

import "testing"

// TestTasksAreForgotten keeps nothing of owners and webhooks without a task.
func TestTasksAreForgotten(t *testing.T) {
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

// TestTasksAreShared refuses a task of who has more than an equal share of the queue, once it is nearly full.
func TestTasksAreShared(t *testing.T) {
	counted := newTasks(10)
	for range 8 {
		if _, ok := counted.enter(1, 7); !ok {
			t.Fatal("refused while the queue has room")
		}
	}
	if _, ok := counted.enter(1, 7); ok {
		t.Error("the only owner in a crowded queue got one more task")
	}
	for range 2 {
		if _, ok := counted.enter(2, 8); !ok {
			t.Error("another owner was refused")
		}
	}
}
