package lang

// Property returns the schema of a key of an object, or nil if it is unknown. It also works for a nil schema.
func (s *Schema) Property(key string) *Schema {
	if s == nil || s.kind != anObject {
		return nil
	}
	for i := range s.properties {
		if s.properties[i].name == key {
			return s.properties[i].Schema
		}
	}
	return nil
}

// Items returns the schema of the items of a list, or nil if it is unknown. It also works for a nil schema.
func (s *Schema) Items() *Schema {
	if s == nil || s.kind != aListOf {
		return nil
	}
	return s.items
}

// IsNumber reports whether a value must be a number.
func (s *Schema) IsNumber() bool { return s != nil && s.kind == aDecimal }

// IsOpen reports whether any value suits, because conditions only test whether there is one. Values that are compared have examples.
func (s *Schema) IsOpen() bool { return s != nil && s.kind == anything && len(s.examples) == 0 }

// IsFlag reports whether a value must be true or false.
func (s *Schema) IsFlag() bool { return s != nil && s.kind == aFlag }
