package lang

// The names of a key and of its value in the items of a loop over keys.
const (
	entryKey   = "key"
	entryValue = "value"
)

// entries returns what a loop over keys goes through: an object with key and value for each key of an object, or for each item of a list,
// whose keys are its positions from 0. It returns other values unchanged.
func (e *Env) entries(v Value) (Value, error) {
	entry := func(key, value Value) Value {
		return NewObject([]string{entryKey, entryValue}, []Value{key, value})
	}
	switch v := v.(type) {
	case []any:
		if err := e.makeEntries(len(v)); err != nil {
			return nil, err
		}
		entries := make([]any, len(v))
		for i, item := range v {
			entries[i] = entry(wholeValue(i), plain(item))
		}
		return entries, nil
	case *Object:
		if err := e.makeEntries(v.Len()); err != nil {
			return nil, err
		}
		entries := make([]any, 0, v.Len())
		for key, value := range v.All() {
			entries = append(entries, entry(key, value))
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
