package tc

import (
	"fmt"
	"strconv"
	"strings"
)

// Options are the options before a command.
type Options struct {
	Stats, Details, Raw, Pretty, JSON, OneLine, Brief, Numeric, Echo bool
	Force                                                            bool
	// Old lists as iproute2 6.1 does where later versions differ.
	Old bool
}

// printer writes a listing, as text or as JSON.
type printer struct {
	Options
	b     strings.Builder
	depth int
	sep   byte
	// nowNano is the time of the listing.
	nowNano int64
}

// put writes a member: the value in JSON, the format in text. A format of ""
// writes only JSON, a key of "" only text.
func (o *printer) put(key, format string, value any) {
	switch {
	case o.JSON && key != "":
		o.name(key)
		o.value(value)
	case o.JSON || format == "":
	case strings.IndexByte(format, '%') < 0:
		o.b.WriteString(format)
	default:
		fmt.Fprintf(&o.b, format, value)
	}
}

// text writes only in text.
func (o *printer) text(format string, args ...any) {
	if !o.JSON {
		fmt.Fprintf(&o.b, format, args...)
	}
}

// member writes only in JSON.
func (o *printer) member(key string, value any) {
	if o.JSON {
		o.name(key)
		o.value(value)
	}
}

// nl ends a line of text; with -o lines are joined.
func (o *printer) nl() {
	if o.JSON {
		return
	}
	if o.OneLine {
		o.b.WriteByte('\\')
	} else {
		o.b.WriteByte('\n')
	}
}

func (o *printer) separate() {
	if o.sep != 0 {
		o.b.WriteByte(o.sep)
	}
	o.sep = ','
}

func (o *printer) newline() {
	if o.Pretty {
		o.b.WriteByte('\n')
		o.b.WriteString(strings.Repeat("    ", o.depth))
	}
}

func (o *printer) name(key string) {
	o.separate()
	o.newline()
	o.sep = 0
	o.b.WriteString(strconv.Quote(key))
	o.b.WriteByte(':')
	if o.Pretty {
		o.b.WriteByte(' ')
	}
}

func (o *printer) value(v any) {
	o.separate()
	switch x := v.(type) {
	case nil:
		o.b.WriteString("null")
	case string:
		o.quote(x)
	default:
		fmt.Fprint(&o.b, x)
	}
}

func (o *printer) quote(s string) {
	o.b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			o.b.WriteByte('\\')
			o.b.WriteByte(c)
		case '\n':
			o.b.WriteString(`\n`)
		case '\t':
			o.b.WriteString(`\t`)
		default:
			o.b.WriteByte(c)
		}
	}
	o.b.WriteByte('"')
}

func (o *printer) begin(c byte) {
	o.separate()
	o.b.WriteByte(c)
	o.depth++
	o.sep = 0
}

func (o *printer) end(c byte) {
	o.depth--
	if o.sep != 0 {
		o.newline()
	}
	o.b.WriteByte(c)
	o.sep = ','
}

// object opens an object, a member if key is not "".
func (o *printer) object(key string) {
	if !o.JSON {
		return
	}
	if key != "" {
		o.name(key)
	}
	o.begin('{')
}

func (o *printer) endObject() {
	if o.JSON {
		o.end('}')
	}
}

// array opens an array, a member if key is not "".
func (o *printer) array(key string) {
	if !o.JSON {
		return
	}
	if key != "" {
		o.name(key)
	}
	o.begin('[')
	if o.Pretty {
		o.b.WriteByte(' ')
	}
}

func (o *printer) endArray() {
	if !o.JSON {
		return
	}
	if o.Pretty && o.sep != 0 {
		o.b.WriteByte(' ')
	}
	o.sep = 0
	o.end(']')
}

// finish ends the outermost array.
func (o *printer) finish() string {
	text := o.b.String()
	if o.JSON || o.OneLine && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// hexText writes a mask: 0x in text, plain in JSON.
func hexText(n uint32, o *printer) string {
	if o.JSON {
		return fmt.Sprintf("%x", n)
	}
	return fmt.Sprintf("0x%x", n)
}

// sizeText writes a number of bytes.
func sizeText(n uint32) string {
	switch {
	case n >= 1<<20 && within(n, 1<<20, 1024):
		return fmt.Sprintf("%dMb", (n+1<<19)>>20)
	case n >= 1024 && within(n, 1024, 16):
		return fmt.Sprintf("%dKb", (n+512)>>10)
	}
	return fmt.Sprintf("%db", n)
}

// within reports whether n is nearly a multiple of a unit.
func within(n, unit, limit uint32) bool {
	near := (uint64(n) + uint64(unit)/2) / uint64(unit) * uint64(unit)
	if near > uint64(n) {
		return near-uint64(n) < uint64(limit)
	}
	return uint64(n)-near < uint64(limit)
}

// rateText writes bytes a second as bits.
func rateText(bytes uint64) string {
	bits := float64(bytes) * 8
	units := []string{"", "K", "M", "G", "T"}
	i := 0
	for i < len(units)-1 {
		if bits < 1000 || uint64(bits)%1000 != 0 && bits < 1000*1000 {
			break
		}
		bits /= 1000
		i++
	}
	return fmt.Sprintf("%.0f%sbit", bits, units[i])
}

// classText writes a classid.
func classText(h uint32) string {
	switch {
	case h == handleRoot:
		return "root"
	case h == 0:
		return "none"
	case h>>16 == 0:
		return fmt.Sprintf(":%x", h&0xffff)
	case h&0xffff == 0:
		return fmt.Sprintf("%x:", h>>16)
	}
	return fmt.Sprintf("%x:%x", h>>16, h&0xffff)
}

const (
	handleRoot    = 0xffffffff
	handleIngress = 0xfffffff1 // parent of ingress and clsact
	minIngress    = 0xfffffff2
	minEgress     = 0xfffffff3
)
