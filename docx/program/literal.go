package program

// Literal writes bytes of the template unchanged.
type Literal struct {
	Text  []byte
	After LastBlock // the last block after it
	piece int32     // number in the plan of the part
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

// LastBlock is the block that precedes a position in the document. It determines whether a cell may end there, and whether Word would join
// a table that begins there to another table.
type LastBlock uint8

// The last blocks.
const (
	Unchanged    LastBlock = iota // as it was before
	IsNothing                     // a container has begun
	IsWithin                      // a content control has begun, which does not separate tables
	IsAfterTable                  // a content control has begun after a table
	IsParagraph                   // a w:p has ended
	IsTable                       // a w:tbl has ended
)

// Then returns the last block after l and next.
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
