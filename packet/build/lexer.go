package build

import "strings"

// word is one word of a text.
type word struct {
	text   string // without quotes
	offset int
	length int // in the source, with quotes
	quoted bool
}

// split cuts a text into words. Blanks, and semicolons for convenience,
// separate words; a quoted string is one word, in which a backslash takes the
// next byte literally.
func split(text string) ([]word, *Error) {
	var words []word
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case isBlank(c):
			i++
		case c == '"':
			w, err := quotedWord(text, i)
			if err != nil {
				return nil, err
			}
			words = append(words, w)
			i += w.length
		default:
			end := i
			for end < len(text) && !isBlank(text[end]) && text[end] != '"' {
				end++
			}
			words = append(words, word{text: text[i:end], offset: i, length: end - i})
			i = end
		}
	}
	return words, nil
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';'
}

func quotedWord(text string, start int) (word, *Error) {
	var b strings.Builder
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return word{text: b.String(), offset: start, length: i + 1 - start, quoted: true}, nil
		case '\\':
			if i++; i == len(text) {
				continue
			}
			fallthrough
		default:
			b.WriteByte(text[i])
		}
	}
	return word{}, &Error{Offset: start, Length: len(text) - start, Message: "string without closing quote"}
}
