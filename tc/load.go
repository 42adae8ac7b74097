package tc

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"verdict/offload"
)

// prepared is a line that was read in advance: its words, and for filters that
// are added the request with the key computed.
type prepared struct {
	words  []string
	ok     bool // the words could be split
	filter *filterWords
	req    *filterRequest
}

// flowerReady is a flower filter's key and mask, computed in advance.
type flowerReady struct{ key, mask offload.Key }

// loadChunk is how many lines a worker reads at a time.
const loadChunk = 256

// Load executes lines as Batch does, but reads them and computes the keys of
// flower filters on several goroutines, 0 for one for each processor. What is
// executed, and in which order, is the same: only what depends on nothing but
// the line is done in advance.
//
// Ref: cls_flower.c, whose filters are prepared outside the lock in the same way
func (s *System) Load(name string, lines []string, o Options, workers int) Outcome {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &session{s: s, o: o}
	ready := make([]prepared, len(lines))
	done := make([]chan struct{}, (len(lines)+loadChunk-1)/loadChunk)
	for i := range done {
		done[i] = make(chan struct{})
	}
	reader := s.reader()
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(done) {
					return
				}
				for i := n * loadChunk; i < min((n+1)*loadChunk, len(lines)); i++ {
					ready[i] = reader.prepare(lines[i], o)
				}
				close(done[n])
			}
		})
	}
	c.executeReady(name, ready, done)
	next.Store(int64(len(done)))
	wait.Wait()
	return c.outcome()
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
func (s *System) prepare(line string, o Options) (p prepared) {
	p.words, p.ok = splitLine(line)
	if !p.ok || len(p.words) < 3 || o.Echo || o.Old || strings.HasSuffix(line, "\\") {
		return p
	}
	w := &words{list: p.words, at: 2}
	r := &filterRequest{create: true, exclude: true, protocol: protocolAll}
	if !prefix(p.words[0], "filter") || !prefix(p.words[1], "add") {
		return p
	}
	f := &filterWords{}
	if f.parse(w, true) != nil || f.kind != "flower" {
		return p
	}
	c := &session{s: s}
	if c.request(w, f, r) != nil {
		return p
	}
	k := r.options.(*flowerOptions)
	k.ready = &flowerReady{}
	if k.keys(s, &k.ready.key, &k.ready.mask) != nil {
		k.ready = nil
	}
	p.filter, p.req = f, r
	return p
}

// executeReady executes the lines in order, each as soon as it was read.
func (c *session) executeReady(name string, ready []prepared, done []chan struct{}) {
	failed := false
	for i := range ready {
		if i%loadChunk == 0 {
			<-done[i/loadChunk]
		}
		p := &ready[i]
		switch {
		case !p.ok:
			fmt.Fprintln(&c.errs, "Unterminated quoted string")
			c.status = exitTool
			return
		case len(p.words) == 0:
			continue
		}
		c.status, c.ends = 0, false
		if p.req != nil {
			c.addReady(p)
		} else {
			c.run(p.words)
		}
		*p = prepared{}
		if c.ends {
			return
		}
		if c.status != 0 {
			fmt.Fprintf(&c.errs, "Command failed %s:%d\n", name, i+1)
			failed = true
			if !c.o.Force {
				break
			}
		}
	}
	c.status = 0
	if failed {
		c.status = exitTool
	}
}

// addReady adds a filter that was read in advance.
func (c *session) addReady(p *prepared) {
	b, err := c.s.blockOf(&p.filter.location)
	if err == nil {
		p.req.block = b
		err = c.s.newFilter(p.req)
	}
	c.kernel(err, true)
}
