package conntrack

import (
	"bytes"
	"net/netip"
)

// announcement is an address and port in an FTP command or answer.
type announcement struct {
	six         bool // the control connection's family
	addr        [16]byte
	port        uint16
	otherFamily bool // addr is of another family than the control connection
	extended    bool // only a port was given: the answer to EPSV
	form        announceForm
	off, length int // of the part to be replaced by NAT
}

// announceForm says how address and port are written.
type announceForm uint8

const (
	formNumbers announceForm = iota // h,h,h,h,p,p
	formEPRT                        // |1|address|port|
	formEPSV                        // |||port|
)

// announceResult is the outcome of looking for an announcement.
type announceResult uint8

const (
	announceNone announceResult = iota
	announceFound
	announcePartial // it starts, but is not complete
)

// announcePattern is what an announcement starts with; the address follows the
// first skip character, or for skip 0 begins with the first digit.
type announcePattern struct {
	text string
	skip byte
	term byte
	form announceForm
}

// Ref: nf_conntrack_ftp.c, the patterns of both directions.
var announcePatterns = [2][]announcePattern{
	Original: {{"PORT", ' ', '\r', formNumbers}, {"EPRT", ' ', '\r', formEPRT}},
	Reply:    {{"227 ", 0, 0, formNumbers}, {"229 ", '(', ')', formEPSV}},
}

// find looks for an announcement at the start of a line.
func (a *announcement) find(line []byte, d Direction) announceResult {
	for i := range announcePatterns[d] {
		if result := a.match(line, &announcePatterns[d][i]); result != announceNone {
			return result
		}
	}
	return announceNone
}

func (a *announcement) match(line []byte, p *announcePattern) announceResult {
	n := min(len(line), len(p.text))
	if !bytes.EqualFold(line[:n], []byte(p.text[:n])) {
		return announceNone
	}
	if len(line) <= len(p.text) {
		return announcePartial
	}
	a.off = a.start(line, p)
	if a.off < 0 {
		return announcePartial
	}
	a.form = p.form
	rest := line[a.off:]
	ok := false
	switch p.form {
	case formNumbers:
		ok = a.numbers(rest, p.term)
	case formEPRT:
		ok = a.eprt(rest)
	case formEPSV:
		a.extended = true
		ok = a.epsv(rest)
	}
	if !ok {
		return announcePartial
	}
	return announceFound
}

// start is where the address begins, -1 if the line ends before.
func (a *announcement) start(line []byte, p *announcePattern) int {
	for i := len(p.text); i < len(line); i++ {
		switch {
		case p.skip == 0 && isDigit(line[i]):
			return i
		case p.skip != 0 && line[i] == p.skip && i+1 < len(line):
			return i + 1
		}
	}
	return -1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scanNumbers reads numbers with a separator between them, up to a terminator;
// term 0 is any character that does not belong. It returns how many bytes it
// read, 0 where the text is of another form.
func scanNumbers(text []byte, into []uint32, sep, term byte) int {
	i := 0
	for n, c := range text {
		switch {
		case isDigit(c):
			into[i] = into[i]*10 + uint32(c-'0')
		case c == sep && i+1 < len(into):
			i++
		case (c == term || term == 0) && i == len(into)-1:
			return n
		default:
			return 0
		}
	}
	return 0
}

// numbers reads the form of RFC 959.
func (a *announcement) numbers(text []byte, term byte) bool {
	var n [6]uint32
	if a.length = scanNumbers(text, n[:], ',', term); a.length == 0 {
		return false
	}
	for i := range 4 {
		a.addr[i] = byte(n[i])
	}
	a.port = uint16(n[4]<<8 | n[5])
	a.otherFamily = a.six
	return true
}

// delimited reports whether a text starts with a delimiter as RFC 2428 wants.
func delimited(text []byte) bool {
	return len(text) > 3 && text[0] >= 33 && text[0] <= 126 && !isDigit(text[0])
}

// eprt reads |1|address|port|.
func (a *announcement) eprt(text []byte) bool {
	if !delimited(text) || text[2] != text[0] {
		return false
	}
	delimiter := text[0]
	if six := text[1] == '2'; six != a.six || !six && text[1] != '1' {
		return false
	}
	n := bytes.IndexByte(text[3:], delimiter)
	if n <= 0 {
		return false
	}
	addr, err := netip.ParseAddr(string(text[3 : 3+n]))
	if err != nil || addr.Is6() != a.six || addr.Zone() != "" {
		return false
	}
	copy(a.addr[:], addr.AsSlice())
	return a.readPort(text, 3+n+1, delimiter)
}

// epsv reads |||port|.
func (a *announcement) epsv(text []byte) bool {
	if !delimited(text) || text[1] != text[0] || text[2] != text[0] {
		return false
	}
	return a.readPort(text, 3, text[0])
}

// readPort reads a port that a delimiter ends.
func (a *announcement) readPort(text []byte, at int, delimiter byte) bool {
	var n [1]uint32
	if at > len(text) {
		return false
	}
	length := scanNumbers(text[at:], n[:], delimiter, delimiter)
	if length == 0 || n[0] == 0 {
		return false
	}
	a.port = uint16(n[0])
	a.length = at + length + 1
	return true
}
