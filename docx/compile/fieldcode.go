package compile

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The codes of Word's fields are words and switches (ISO 29500-1 §17.16.2 and §17.16.4).

// codeWord is a word of a field's code: an argument, an operator, or a switch such as \*.
type codeWord struct {
	pieces []codePiece // of text and fields
	quoted bool
}

// maxFieldCode is the largest length of the code of a field that is read, in bytes.
const maxFieldCode = 16 << 10

// isLong reports whether the code of a field is too long to be read.
func (f *wordField) isLong() bool {
	n := 0
	for _, piece := range f.code {
		n += len(piece.text)
	}
	return n > maxFieldCode
}

// joinedCode returns the code with each text in one piece, which Word may have split anywhere, and with tags as fields.
func (f *wordField) joinedCode() (joined []codePiece) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			joined = append(joined, tagPieces(text.String())...)
			text.Reset()
		}
	}
	for _, piece := range f.code {
		if piece.field == nil {
			text.WriteString(piece.text)
			continue
		}
		flush()
		joined = append(joined, piece)
	}
	flush()
	return joined
}

// words splits the code of a field. Quotes and backslashes in text are as in Word: \" is a quote in an argument. A code that is too long
// has no words.
func (f *wordField) words() []codeWord {
	if f.isSplit || f.isLong() {
		return f.split
	}
	var s codeSplitter
	for _, piece := range f.joinedCode() {
		if piece.field == nil {
			s.read([]rune(piece.text))
		} else {
			s.field(piece)
		}
	}
	s.end()
	f.split, f.isSplit = s.words, true
	return f.split
}

// cutSwitches returns the words of a field before its switches, and the switches with their arguments. Word does not need a blank between
// them: \*Upper.
func cutSwitches(words []codeWord) (arguments []codeWord, switches []fieldSwitch) {
	for i := 0; i < len(words); i++ {
		name, argument, isSwitch := words[i].asSwitch()
		switch {
		case !isSwitch:
			if len(switches) == 0 {
				arguments = append(arguments, words[i])
			}
			continue
		case argument == "" && takesArgument[name] && i+1 < len(words):
			i++
			argument = words[i].plain()
		}
		switches = append(switches, fieldSwitch{name, argument})
	}
	return arguments, switches
}

// fieldSwitch is a switch of a field, in lower case, with its argument.
type fieldSwitch struct{ name, argument string }

// takesArgument are the switches with an argument.
var takesArgument = map[string]bool{`\*`: true, `\#`: true, `\@`: true, `\b`: true, `\f`: true}

// asSwitch returns the name of a switch, and the rest of the word, which is its argument.
func (w *codeWord) asSwitch() (name, argument string, ok bool) {
	text := w.plain()
	if w.quoted || len(text) < 2 || text[0] != '\\' {
		return "", "", false
	}
	if name = text[:2]; name == `\*` || name == `\#` || name == `\@` {
		return name, text[2:], true
	}
	return strings.ToLower(text), "", true
}

// codeSplitter splits the code of a field into words.
type codeSplitter struct {
	words    []codeWord
	word     *codeWord // that is being read, or nil
	text     []byte    // at its end
	inQuotes bool
}

// end ends the word.
func (s *codeSplitter) end() {
	if s.word != nil {
		s.endText()
		s.words, s.word = append(s.words, *s.word), nil
	}
}

// endText ends the text at the end of the word.
func (s *codeSplitter) endText() {
	if len(s.text) > 0 {
		s.word.pieces = append(s.word.pieces, codePiece{text: string(s.text)})
		s.text = s.text[:0]
	}
}

// add adds a character to the word.
func (s *codeSplitter) add(r rune) {
	if s.word == nil {
		s.word = new(codeWord)
	}
	s.text = utf8.AppendRune(s.text, r)
}

// field adds a field to the word.
func (s *codeSplitter) field(piece codePiece) {
	if s.isOperator() {
		s.end()
	}
	if s.word == nil {
		s.word = new(codeWord)
	}
	s.endText()
	s.word.pieces = append(s.word.pieces, piece)
}

// isOperator reports whether the word is an operator.
func (s *codeSplitter) isOperator() bool {
	return s.word != nil && !s.word.quoted && len(s.word.pieces) == 0 && isOperator(string(s.text[:min(len(s.text), maxOperator+1)]))
}

// read adds text.
func (s *codeSplitter) read(text []rune) {
	for i := 0; i < len(text); i++ {
		switch r := text[i]; {
		case r == '\\' && s.inQuotes && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			s.add(text[i])
		case r == '"' || r == '“' || r == '”':
			s.end()
			if s.inQuotes = !s.inQuotes; s.inQuotes {
				s.word = &codeWord{quoted: true}
			}
		case s.inQuotes:
			s.add(r)
		case r == ' ' || r == '\t' || r == '\u00A0' || r == '\n':
			s.end()
		case strings.ContainsRune("=<>", r):
			if s.word != nil && (len(s.word.pieces) > 0 || len(s.text) >= maxOperator || !isOperator(string(s.text)+string(r))) {
				s.end()
			}
			s.add(r)
		default:
			if s.isOperator() {
				s.end()
			}
			s.add(r)
		}
	}
}

// plain returns the text of a word without fields in it.
func (w *codeWord) plain() string {
	var b strings.Builder
	for _, piece := range w.pieces {
		if piece.field == nil {
			b.WriteString(piece.text)
		}
	}
	return b.String()
}

// hasField reports whether a field is in a word.
func (w *codeWord) hasField() bool {
	return slices.ContainsFunc(w.pieces, func(p codePiece) bool { return p.field != nil })
}

// maxOperator is the largest length of an operator.
const maxOperator = 2

// isOperator reports whether a word is an operator of IF.
func isOperator(s string) bool {
	switch s {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// quotes reads the code of a field up to a value in it.
type quotes struct {
	open    bool // the value is in quotes
	escaped bool // the text so far ends with a backslash
}

func (q *quotes) read(text string) {
	for i := range len(text) {
		switch {
		case q.escaped:
			q.escaped = false
		case text[i] == '\\':
			q.escaped = true
		case text[i] == '"':
			q.open = !q.open
		}
	}
}
