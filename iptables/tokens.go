package iptables

import (
	"verdict/diag"
)

// token is one word of a rule line, quotes removed.
type token struct {
	text   string
	span   diag.Span
	quoted bool
}

// maxToken and maxLine are the bounds of iptables-restore, in bytes.
const (
	maxToken = 1024
	maxLine  = 10240
)

// tokenize splits part of a line into words as iptables-restore does: blanks
// and tabs separate, double quotes open and close anywhere, and a backslash
// takes the next byte literally inside quotes only. The string says what is
// wrong, if anything is.
func tokenize(src *diag.Source, start, end int) (words []token, wrong string) {
	text := src.Text
	var word []byte
	inWord, quoted, inQuotes := false, false, false
	from := start
	flush := func(at int) {
		if inWord {
			words = append(words, token{string(word), diag.Span{Source: src, Start: int32(from), End: int32(at)}, quoted})
		}
		word, inWord, quoted = nil, false, false
	}
	for i := start; i < end; i++ {
		c := text[i]
		if !inWord && c != ' ' && c != '\t' {
			from, inWord = i, true
		}
		switch {
		case inQuotes && c == '\\' && i+1 < end:
			i++
			word = append(word, text[i])
		case c == '"':
			inQuotes, quoted = !inQuotes, true
		case !inQuotes && (c == ' ' || c == '\t'):
			flush(i)
		default:
			word = append(word, c)
		}
		if len(word) >= maxToken {
			return nil, "a word is longer than 1023 bytes"
		}
	}
	if inQuotes {
		return nil, "the quotes are not closed"
	}
	flush(end)
	return words, ""
}
