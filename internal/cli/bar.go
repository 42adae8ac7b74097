package cli

import (
	"fmt"
	"strings"
	"time"

	"verdict/diag"
)

// bar is a progress bar on a terminal; elsewhere it prints nothing.
type bar struct {
	s       *Streams
	name    string
	size    int64 // bytes of the file, 0 if unknown
	started time.Time
	shown   time.Time
	drawn   bool
}

// The bar appears only when the work takes long enough to be watched.
const (
	barDelay    = 300 * time.Millisecond
	barInterval = 100 * time.Millisecond
	barWidth    = 30
)

func newBar(s *Streams, name string, size int64) *bar {
	return &bar{s: s, name: diag.Printable(name), size: size, started: time.Now()}
}

// step redraws the bar now and then.
func (b *bar) step(packets uint64, offset int64) {
	if !b.s.ErrTerminal {
		return
	}
	now := time.Now()
	if now.Sub(b.started) < barDelay || now.Sub(b.shown) < barInterval {
		return
	}
	b.shown, b.drawn = now, true
	rate := float64(packets) / now.Sub(b.started).Seconds()
	if b.size > 0 && offset <= b.size {
		filled := int(offset * barWidth / b.size)
		fmt.Fprintf(b.s.Err, "\r\x1b[K%s [%s%s] %3d%% %s packets, %s/s", b.name,
			strings.Repeat("=", filled), strings.Repeat(" ", barWidth-filled), offset*100/b.size, metric(float64(packets)), metric(rate))
		return
	}
	fmt.Fprintf(b.s.Err, "\r\x1b[K%s %s packets, %s/s", b.name, metric(float64(packets)), metric(rate))
}

// done wipes the bar.
func (b *bar) done() {
	if b.drawn {
		fmt.Fprint(b.s.Err, "\r\x1b[K")
	}
}

// metric shortens a number: 950, 12.3 k, 4.56 M.
func metric(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.2f G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.1f k", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}
