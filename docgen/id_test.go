package docgen_test

import (
	"testing"
	"time"

	"platen/docgen"
)

func TestIDs(t *testing.T) {
	t.Run("grow, also when the clock is set back", func(t *testing.T) {
		var ids docgen.IDs
		last := int64(0)
		for _, step := range []time.Duration{0, 0, time.Millisecond, time.Second, -time.Hour, 0, 2 * time.Hour} {
			id := ids.Next(noon.Add(step), 3)
			if id <= last {
				t.Errorf("id %d after %d", id, last)
			}
			last = id + 2
		}
	})
	t.Run("use up no more numbers of a second than they are, so that two servers hardly meet", func(t *testing.T) {
		var ids docgen.IDs
		first := ids.Next(noon, 1)
		for i := int64(1); i < 1000; i++ {
			if id := ids.Next(noon, 1); id != first+i {
				t.Fatalf("id %d of the second is %d after the first, want %d", i+1, id-first, i)
			}
		}
	})
	t.Run("stay exact as floating point", func(t *testing.T) {
		var ids docgen.IDs
		if id := ids.Next(time.Date(2092, 12, 31, 0, 0, 0, 0, time.UTC), 1); id >= 1<<53 || int64(float64(id)) != id {
			t.Errorf("id = %d, want less than 2⁵³", id)
		}
	})
}
