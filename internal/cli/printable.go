package cli

import (
	"io"
	"strings"
	"unicode/utf8"

	"verdict/diag"
)

// plain is standard output for text that holds words of rulesets and captures
// and no colours. Pipes and files get it as it is; on its way to a terminal,
// what a terminal would obey is replaced.
func (s *Streams) plain() io.Writer { return plainOn(s.Out, s.OutTerminal) }

// plainErr is standard error in the same way, for drop-ins, whose messages
// quote their arguments.
func (s *Streams) plainErr() io.Writer { return plainOn(s.Err, s.ErrTerminal) }

func plainOn(w io.Writer, terminal bool) io.Writer {
	if !terminal {
		return w
	}
	return &printableWriter{w: w}
}

// printableWriter replaces what diag.Printable does, in lines.
type printableWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose other bytes are to come
}

func (p *printableWriter) Write(b []byte) (int, error) {
	text := append(p.rest, b...)
	end := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				end -= n
			}
			break
		}
	}
	p.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(p.w, printableLines(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printableLines makes each line of a text printable.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = diag.Printable(line)
	}
	return strings.Join(lines, "\n")
}
