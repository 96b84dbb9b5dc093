package program

// Literal writes bytes of the template as they are.
type Literal struct {
	Text  []byte
	After LastBlock // what the last block is after it
	piece int32     // its number in the plan of the part
}

func (l *Literal) run(x *execution) error {
	x.out.literal(l)
	x.flow.last = x.flow.last.Then(l.After)
	return nil
}

func (l *Literal) sketch(s *sketcher) {
	number := s.Piece(l.Text)
	l.piece = int32(number)
	s.largest = max(s.largest, number)
}

// LastBlock is what precedes a position in the document. It says whether a cell may end there, and whether Word would join a table
// that begins there to another table.
type LastBlock uint8

// What the last block may be.
const (
	Unchanged    LastBlock = iota // as it was before
	IsNothing                     // a container has begun
	IsWithin                      // a content control has begun, which does not separate tables
	IsAfterTable                  // such a control has begun after a table
	IsParagraph                   // a w:p has ended
	IsTable                       // a w:tbl has ended
)

// Then returns what the last block is when next follows l.
func (l LastBlock) Then(next LastBlock) LastBlock {
	switch {
	case next == Unchanged:
		return l
	case next == IsWithin && (l == Unchanged || l == IsWithin):
		return IsWithin
	case next == IsWithin && l.joinsTable():
		return IsAfterTable
	case next == IsWithin:
		return IsNothing
	}
	return next
}

// joinsTable reports whether Word would join a table that begins here to another.
func (l LastBlock) joinsTable() bool { return l == IsTable || l == IsAfterTable }
