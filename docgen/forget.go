package docgen

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// eraseFrom returns the body of a notification without the person, or nil if it does not mention the person. It describes items of the user
// like items that the owner of the webhook may not see. The rest stays unchanged, byte for byte.
func (e *erasure) eraseFrom(body []byte) ([]byte, error) {
	id := strconv.Quote(strconv.FormatInt(e.userID, 10))
	if !bytes.Contains(body, []byte(id)) && !bytes.Contains(body, []byte(`"invite_email":"`)) &&
		!bytes.Contains(body, []byte(transferSuffix)) {
		return nil, nil
	}
	f := &forgetter{erasure: e, id: id}
	erased, err := rewrite(body, f.member)
	if err == nil && f.owned {
		erased, err = rewrite(erased, forgetItem)
	}
	if err != nil || !f.changed {
		return nil, err
	}
	return erased, nil
}

// member is a member of an object in its original form.
type member struct{ key, value jsontext.Value }

// forgetter rewrites one notification.
type forgetter struct {
	*erasure
	id      string // of the user, as JSON
	changed bool
	owned   bool // the notification is about an item of the user
}

// member returns the new value of a member of an object.
func (f *forgetter) member(of []member, m member) (jsontext.Value, error) {
	if m.value.Kind() != '"' {
		before := f.changed
		f.changed = false
		value, err := rewrite(m.value, f.member)
		f.owned = f.owned || f.changed && string(m.key) == `"owned_by"`
		f.changed = f.changed || before
		return value, err
	}
	text, err := jsontext.AppendUnquote(nil, m.value)
	if err != nil {
		return nil, err
	}
	person := has(of, `"type"`, `"user"`) && has(of, `"id"`, f.id)
	switch key := string(m.key); {
	case person && key == `"name"`:
		return f.replaced(strconv.Quote(erasedName)), nil
	case person && key == `"login"`:
		return f.replaced(strconv.Quote(erasedLogin(f.userID))), nil
	case key == `"invite_email"` && f.isLogin(string(text)):
		return f.replaced("null"), nil
	case isName(m) && f.isTransferName(string(text)):
		return f.replaced(strconv.Quote(erasedFolder(f.userID))), nil
	}
	return m.value, nil
}

func (f *forgetter) replaced(by string) jsontext.Value {
	f.changed = true
	return jsontext.Value(by)
}

// isName reports whether a member holds the name of an item.
func isName(m member) bool { return string(m.key) == `"name"` || string(m.key) == `"old_name"` }

// forgetItem reduces the source of a notification to its type and id, and removes names from the additional
// information.
func forgetItem(_ []member, m member) (jsontext.Value, error) {
	switch string(m.key) {
	case `"source"`:
		return reference(m.value)
	case `"additional_info"`:
		return rewrite(m.value, forgetNames)
	}
	return m.value, nil
}

func forgetNames(_ []member, m member) (jsontext.Value, error) {
	if isName(m) && m.value.Kind() == '"' {
		return jsontext.Value(`""`), nil
	}
	return rewrite(m.value, forgetNames)
}

// reference returns the type and the id of an object.
func reference(v jsontext.Value) (jsontext.Value, error) {
	members, err := membersOf(v)
	members = slices.DeleteFunc(members, func(m member) bool { return string(m.key) != `"type"` && string(m.key) != `"id"` })
	return objectOf(members), err
}

func has(members []member, key, value string) bool {
	return slices.ContainsFunc(members, func(m member) bool { return string(m.key) == key && string(m.value) == value })
}

// rewrite returns a value in which the members of an object, or of all objects in an array, have been replaced.
func rewrite(v jsontext.Value, value func(of []member, m member) (jsontext.Value, error)) (jsontext.Value, error) {
	if v.Kind() == '{' {
		members, err := membersOf(v)
		if err != nil {
			return nil, err
		}
		changed := slices.Clone(members)
		for i, m := range members {
			if changed[i].value, err = value(members, m); err != nil {
				return nil, err
			}
		}
		return objectOf(changed), nil
	}
	if v.Kind() == '[' {
		out := jsontext.Value{'['}
		err := parts(v, func(in *jsontext.Decoder) error {
			element, err := in.ReadValue()
			if err != nil {
				return err
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			element, err = rewrite(element.Clone(), value)
			out = append(out, element...)
			return err
		})
		return append(out, ']'), err
	}
	return v, nil
}

func membersOf(v jsontext.Value) (members []member, err error) {
	err = parts(v, func(in *jsontext.Decoder) error {
		key, err := in.ReadValue()
		if err != nil {
			return err
		}
		m := member{key: key.Clone()}
		value, err := in.ReadValue()
		m.value = value.Clone()
		members = append(members, m)
		return err
	})
	return members, err
}

func objectOf(members []member) jsontext.Value {
	out := jsontext.Value{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.key...), ':'), m.value...)
	}
	return append(out, '}')
}

// parts calls read for each member of an object, or each element of an array.
func parts(v jsontext.Value, read func(*jsontext.Decoder) error) error {
	in := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for kind := in.PeekKind(); kind != '}' && kind != ']'; kind = in.PeekKind() {
		if err := read(in); err != nil {
			return err
		}
	}
	return nil
}
