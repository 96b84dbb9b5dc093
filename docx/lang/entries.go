package lang

// The names of the key and the value of an entry in the filters of a loop over keys.
const (
	entryKey   = "key"
	entryValue = "value"
)

// entry is what a loop over keys goes through. It exists only in the filters of the loop and in [Env.Push].
type entry struct{ key, value Value }

// isNamed reports whether the entry is one of an object, rather than of a list.
func (e *entry) isNamed() bool {
	_, ok := e.key.(string)
	return ok
}

// ofEntry returns the value of an entry, and other values unchanged.
func ofEntry(v Value) Value {
	if e, ok := v.(*entry); ok {
		return e.value
	}
	return v
}

// entries returns what a loop over keys goes through: an entry for each key of an object, or for each item of a list, whose keys are its
// positions from 0. It returns entries and other values unchanged.
func (e *Env) entries(v Value) (Value, error) {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			if _, ok := v[0].(*entry); ok {
				return v, nil
			}
		}
		if err := e.makeEntries(len(v)); err != nil {
			return nil, err
		}
		e.numbered = len(v)
		entries := make([]any, len(v))
		for i, item := range v {
			entries[i] = &entry{wholeValue(i), plain(item)}
		}
		return entries, nil
	case *Object:
		if err := e.makeEntries(v.Len()); err != nil {
			return nil, err
		}
		entries := make([]any, 0, v.Len())
		for key, value := range v.All() {
			entries = append(entries, &entry{key, value})
		}
		return entries, nil
	}
	return v, nil
}

// entryBytes is the approximate memory of an entry.
const entryBytes = 150

func (e *Env) makeEntries(n int) error {
	if err := e.hold(n*entryBytes, e.subject); err != nil {
		return err
	}
	return e.spend(n, e.subject)
}
