package docgen

import (
	"context"
	"sync"
	"time"

	"platen/store"
)

// Notifications wait while receivers do not respond. Limits.Pending bounds the number that wait for the webhooks of one
// user, so that receivers that hang for hours do not fill the database.

const (
	// backlogAge is the time for which a count of pending notifications is used, together with those that this process has added. Other
	// servers on the database may each add as many again in that time.
	backlogAge = 10 * time.Second
	// dropLogged is the minimum interval between two log entries about dropped notifications of a user.
	dropLogged = time.Minute
	// knownBacklogs is the number of users whose counts are kept in memory.
	knownBacklogs = 10_000
)

// dropReason is the reason in the log of deliveries for a dropped notification.
const dropReason = "Dropped: the webhooks of this user already have %d pending notifications, the maximum. Others were dropped " +
	"with this one, without an entry here. Delete webhooks whose receivers do not respond, or fix the receivers."

// backlogs has the approximate number of pending notifications for the webhooks of each user, or of their idempotency keys. It is safe for
// concurrent use.
type backlogs struct {
	mu      sync.Mutex
	users   map[int64]*userBacklog
	dropped int64
}

type userBacklog struct {
	pending   int64
	countedAt time.Time
	loggedAt  time.Time // when a dropped notification was last logged
}

// admission is the decision about a new notification.
type admission int

const (
	admitted  admission = iota
	dropNoted           // drop it, and add it to the delivery log
	dropped             // drop it, and only count it in the metric
)

// admit decides whether one more notification for a user's webhooks is accepted. A notification accepted in a
// transaction that is rolled back counts until the next count, backlogAge later.
func (s *Service) admit(ctx context.Context, q *store.Queries, userID int64) (admission, error) {
	b, now, most := &s.backlogs, s.now(), int64(s.limits.Pending)
	user, err := b.user(userID, now, func() (int64, error) { return q.CountPending(ctx, userID, int32(most)) })
	if err != nil {
		return dropped, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if user.pending < most {
		user.pending++
		return admitted, nil
	}
	b.dropped++
	if now.Sub(user.loggedAt) < dropLogged {
		return dropped, nil
	}
	user.loggedAt = now
	return dropNoted, nil
}

// user returns the cached count of a user, or calls count if it is too old.
func (b *backlogs) user(userID int64, now time.Time, count func() (int64, error)) (*userBacklog, error) {
	b.mu.Lock()
	user := b.users[userID]
	known := user != nil && now.Sub(user.countedAt) < backlogAge
	b.mu.Unlock()
	if known {
		return user, nil
	}
	n, err := count()
	if err != nil {
		return nil, err
	}
	return b.counted(userID, n, now), nil
}

// take counts one more for a user, and reports whether that is within the limit.
func (b *backlogs) take(user *userBacklog, most int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if user.pending >= most {
		return false
	}
	user.pending++
	return true
}

// counted caches a count. If the cache is full, it evicts another user, who is counted again when needed.
func (b *backlogs) counted(userID, pending int64, now time.Time) *userBacklog {
	b.mu.Lock()
	defer b.mu.Unlock()
	user := b.users[userID]
	if user == nil {
		for other := range b.users {
			if len(b.users) < knownBacklogs {
				break
			}
			delete(b.users, other)
		}
		user = &userBacklog{}
		b.users[userID] = user
	}
	user.pending, user.countedAt = pending, now
	return user
}

// DroppedNotifications returns the number of notifications that this process has dropped because the webhooks of their user had too many
// pending ones.
func (s *Service) DroppedNotifications() int64 {
	s.backlogs.mu.Lock()
	defer s.backlogs.mu.Unlock()
	return s.backlogs.dropped
}
