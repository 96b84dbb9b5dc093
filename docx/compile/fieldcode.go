package compile

import "strings"

// The codes of Word's fields are words and switches (ISO 29500-1 §17.16.2 and §17.16.4).

// codeWord is a word of a field's code: an argument, an operator, or a switch such as \*.
type codeWord struct {
	pieces []codePiece // of text and fields
	quoted bool
}

// words splits the code of a field. Quotes and backslashes in text are as in Word: \" is a quote in an argument.
func (f *wordField) words() []codeWord {
	var s codeSplitter
	text := ""
	for _, piece := range f.code {
		if piece.field == nil {
			text += piece.text // which Word may have split anywhere
			continue
		}
		s.text([]rune(text))
		s.field(piece)
		text = ""
	}
	s.text([]rune(text))
	s.end()
	return s.words
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
	inQuotes bool
}

// end ends the word.
func (s *codeSplitter) end() {
	if s.word != nil {
		s.words = append(s.words, *s.word)
		s.word = nil
	}
}

// endIf ends the word if there is one that a character cannot be part of.
func (s *codeSplitter) endIf(apart bool) {
	if apart {
		s.end()
	}
}

// add adds a character to the word.
func (s *codeSplitter) add(r rune) {
	if s.word == nil {
		s.word = new(codeWord)
	}
	if n := len(s.word.pieces); n > 0 && s.word.pieces[n-1].field == nil {
		s.word.pieces[n-1].text += string(r)
	} else {
		s.word.pieces = append(s.word.pieces, codePiece{text: string(r)})
	}
}

// field adds a field to the word.
func (s *codeSplitter) field(piece codePiece) {
	s.endIf(s.word != nil && !s.word.quoted && isOperator(s.word.plain()))
	if s.word == nil {
		s.word = new(codeWord)
	}
	s.word.pieces = append(s.word.pieces, piece)
}

func (s *codeSplitter) text(text []rune) {
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
			s.endIf(s.word != nil && (len(s.word.pieces) > 1 || s.word.pieces[0].field != nil || !isOperator(s.word.plain()+string(r))))
			s.add(r)
		default:
			s.endIf(s.word != nil && isOperator(s.word.plain()))
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

// isOperator reports whether a word is an operator of IF.
func isOperator(s string) bool {
	switch s {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	}
	return false
}
