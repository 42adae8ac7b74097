package tc

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"verdict/offload"
)

// prepared is a line that was read: its words, and for filters that are added
// the request with the key computed. Its memory serves line after line.
type prepared struct {
	words  []string
	ok     bool // the words could be split
	ready  bool // req and filter hold a filter to be added
	filter filterWords
	req    filterRequest
	flower flowerOptions
	keys   flowerReady
}

// flowerReady is a flower filter's key and mask, computed in advance: with the
// words of the mask's span and their hash.
type flowerReady struct {
	key, mask  offload.Key
	first, end int  // the mask's span
	wide       bool // the key has bits outside the span
	raw        []uint64
	hash       uint64
}

// compute finds what the key and the mask imply.
func (r *flowerReady) compute() {
	r.first, r.end = r.mask.Span()
	first, end := r.key.Span()
	r.wide = end > r.end || end > 0 && first < r.first
	r.raw, r.hash = maskedWords(&r.key, &r.mask, r.first, r.end)
}

// loadChunk is how many lines a worker reads at a time.
const loadChunk = 128

// chunk is a number of lines on their way from a reader to the executor.
type chunk struct {
	lines [loadChunk]prepared
	from  int // number of the first line
	used  int
}

// Load executes lines as Batch does; words that "\\" continues on the next line
// are not joined. With more than one worker, 0 for one for each processor, lines
// are read and the keys of flower filters computed on several goroutines; what
// is executed, and in which order, is the same: only what depends on nothing
// but the line is done in advance.
//
// Ref: cls_flower.c, whose filters are prepared outside the lock in the same way
func (s *System) Load(name string, lines []string, o Options, workers int) Outcome {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &session{s: s, o: o}
	l := loader{session: c, name: name, lines: lines, reader: s.reader()}
	if workers == 1 {
		l.serial()
	} else {
		l.parallel(workers)
	}
	if !c.ends {
		c.status = 0
		if l.failed {
			c.status = exitTool
		}
	}
	return c.outcome()
}

// loader is one call of Load.
type loader struct {
	*session
	name   string
	lines  []string
	reader *System
	failed bool
}

func (l *loader) chunks() int { return (len(l.lines) + loadChunk - 1) / loadChunk }

// serial reads and executes line by line.
func (l *loader) serial() {
	p := &prepared{}
	for i, line := range l.lines {
		l.reader.prepare(p, line, l.o)
		if !l.execute(p, i+1) {
			return
		}
	}
}

// parallel lets workers read chunks, which the caller's goroutine executes in
// order. A worker takes memory before it takes the next chunk, so that the one
// that is waited for always has some.
func (l *loader) parallel(workers int) {
	filled := make([]chan *chunk, l.chunks())
	for i := range filled {
		filled[i] = make(chan *chunk, 1)
	}
	free := make(chan *chunk, workers+4)
	for range cap(free) {
		free <- new(chunk)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	stop := make(chan struct{})
	for range workers {
		wait.Go(func() {
			for {
				var c *chunk
				select {
				case c = <-free:
				case <-stop:
					return
				}
				n := int(next.Add(1)) - 1
				if n >= len(filled) {
					return
				}
				l.read(c, n)
				filled[n] <- c
			}
		})
	}
	defer wait.Wait()
	defer close(stop)
	for _, ready := range filled {
		c := <-ready
		for i := range c.used {
			if !l.execute(&c.lines[i], c.from+i+1) {
				return
			}
		}
		free <- c
	}
}

// read fills a chunk.
func (l *loader) read(c *chunk, n int) {
	c.from = n * loadChunk
	c.used = min(loadChunk, len(l.lines)-c.from)
	for i := range c.used {
		l.reader.prepare(&c.lines[i], l.lines[c.from+i], l.o)
	}
}

// reader is a System to read commands against: it has the devices, and changes
// nothing.
func (s *System) reader() *System {
	r := &System{config: s.config, devices: make(map[string]*Device, len(s.devices))}
	r.config.AssumeDevices = false
	for n, d := range s.devices {
		r.devices[n] = d
	}
	return r
}

// prepare reads one line. Whatever is not a filter that is added without
// mistakes is left to be read in its turn.
func (s *System) prepare(p *prepared, line string, o Options) {
	p.ready = false
	p.words, p.ok = splitWords(p.words[:0], line)
	if !p.ok || len(p.words) < 3 || o.Echo || o.Old || strings.HasSuffix(line, "\\") {
		return
	}
	if !prefix(p.words[0], "filter") || !prefix(p.words[1], "add") {
		return
	}
	w := &words{list: p.words, at: 2}
	p.filter, p.req = filterWords{}, filterRequest{create: true, exclude: true, protocol: protocolAll}
	if p.filter.parse(w, true) != nil || p.filter.kind != "flower" {
		return
	}
	p.flower = flowerOptions{attrs: p.flower.attrs[:0]}
	p.req.flower = &p.flower
	c := &session{s: s}
	if c.request(w, &p.filter, &p.req) != nil {
		return
	}
	p.ready = true
	p.keys = flowerReady{}
	if p.flower.keys(s, &p.keys.key, &p.keys.mask) == nil {
		p.keys.compute()
		p.flower.ready = &p.keys
	}
}

// execute executes a line that was read; false ends the load.
func (l *loader) execute(p *prepared, number int) bool {
	c := l.session
	switch {
	case !p.ok:
		fmt.Fprintln(&c.errs, "Unterminated quoted string")
		c.status, c.ends = exitTool, true
		return false
	case len(p.words) == 0:
		return true
	}
	c.status, c.ends = 0, false
	if p.ready {
		c.addReady(p)
	} else {
		c.run(slices.Clone(p.words))
	}
	if c.ends {
		return false
	}
	if c.status != 0 {
		fmt.Fprintf(&c.errs, "Command failed %s:%d\n", l.name, number)
		l.failed = true
		return c.o.Force
	}
	return true
}

// addReady adds a filter that was read in advance.
func (c *session) addReady(p *prepared) {
	b, err := c.s.blockOf(&p.filter.location)
	if err == nil {
		p.req.block = b
		err = c.s.newFilter(&p.req)
	}
	c.kernel(err, true)
}
