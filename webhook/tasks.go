package webhook

import "sync"

// tasks counts the delivery tasks that run in this process. It is safe for concurrent use.
type tasks struct {
	most int // number of tasks that the queue can run concurrently; 0 means no limit

	mu       sync.Mutex
	running  int
	owners   map[int64]int // tasks, by owner
	webhooks map[int64]int // tasks, by webhook
}

func newTasks(most int) *tasks {
	return &tasks{most: most, owners: map[int64]int{}, webhooks: map[int64]int{}}
}

// enter counts a task of a webhook until leave is called, which must happen once. If the queue is 80% full, enter refuses owners
// who already have an equal share of the running tasks or more, so that the queue has room for the tasks of others.
func (t *tasks) enter(owner, webhook int64) (leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.most > 0 && t.running >= t.most/5*4 && t.owners[owner] > 0 && t.owners[owner]*len(t.owners) >= t.running {
		return nil, false
	}
	t.running++
	t.owners[owner]++
	t.webhooks[webhook]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running--
		decrement(t.owners, owner)
		decrement(t.webhooks, webhook)
	}, true
}

// decrement decrements a count, and deletes it at zero.
func decrement(counts map[int64]int, key int64) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// serves reports whether a task of the webhook is running.
func (t *tasks) serves(webhook int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.webhooks[webhook] > 0
}
