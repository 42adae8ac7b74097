package cli

import (
	"errors"
	"io"
	"time"

	"verdict"
	"verdict/capture"
	"verdict/engine"
	"verdict/packet"
)

// How many frames of a capture are evaluated at a time: by one worker, as many
// as stay in the processor's caches; by several, so many that waiting for the
// last of them does not count.
const (
	batchSize     = 64
	wideBatchSize = 8192
)

// frames is a batch of frames, which outlive the next ones of their source.
type frames struct {
	list     []capture.Frame
	data     [][]byte
	inputs   []engine.Input
	outcomes []engine.Outcome
	n        int
	end      error // of the source, behind them
}

func newFrames(size int) *frames {
	return &frames{
		list: make([]capture.Frame, size), data: make([][]byte, size),
		inputs: make([]engine.Input, size), outcomes: make([]engine.Outcome, size),
	}
}

// fill reads the next frames, up to the source's end.
func (b *frames) fill(src capture.Source) {
	b.end = nil
	for b.n = 0; b.n < len(b.list); b.n++ {
		f := &b.list[b.n]
		if b.end = src.Next(f); b.end != nil {
			return
		}
		b.data[b.n] = append(b.data[b.n][:0], f.Data...)
		f.Data = b.data[b.n]
	}
}

// capture runs one capture. A damaged capture is run up to the damage, which
// is kept in r.damaged.
func (r *replay) capture(src capture.Source, p progress) error {
	started := time.Now()
	defer func() { r.seconds += time.Since(started).Seconds() }()
	if r.jobs == 1 {
		return r.inTurn(src, p)
	}
	return r.sideBySide(src, p)
}

// inTurn reads and evaluates by turns.
func (r *replay) inTurn(src capture.Source, p progress) error {
	for batch := newFrames(batchSize); ; {
		batch.fill(src)
		if done, err := r.batch(batch, p); done {
			return err
		}
	}
}

// sideBySide reads frames while others are evaluated.
func (r *replay) sideBySide(src capture.Source, p progress) error {
	const ahead = 3
	empty, filled, stop := make(chan *frames, ahead), make(chan *frames, ahead), make(chan struct{})
	for range ahead {
		empty <- newFrames(wideBatchSize)
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for {
			select {
			case b := <-empty:
				b.fill(src)
				filled <- b // has room for all of them
				if b.end != nil {
					return
				}
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		<-finished
	}()
	for b := range filled {
		r.spread(b)
		if done, err := r.batch(b, p); done {
			return err
		}
		empty <- b
	}
	return nil
}

// spread makes the workers, once there are packets enough for several. Traffic
// control sees one packet after the other.
func (r *replay) spread(b *frames) {
	if r.workers == nil && r.options.TC == nil && (b.end == nil || r.jobs > 1) {
		r.workers = r.engine.Workers(r.jobsOrAll())
	}
}

// batch evaluates frames together, then counts and writes them in order. It
// reports whether that was all.
func (r *replay) batch(b *frames, p progress) (done bool, err error) {
	for i := range b.n {
		b.inputs[i] = r.input(&b.list[i])
	}
	if r.workers != nil {
		r.workers.EvaluateBatch(b.inputs[:b.n], b.outcomes[:b.n])
	} else {
		r.engine.Worker().EvaluateBatch(b.inputs[:b.n], b.outcomes[:b.n])
	}
	for i := range b.n {
		if err := r.account(&b.list[i], &b.outcomes[i]); err != nil {
			return true, err
		}
	}
	if p != nil && b.n > 0 {
		p.step(r.packets, b.list[b.n-1].Offset)
	}
	switch {
	case b.end == nil:
		return false, nil
	case !errors.Is(b.end, io.EOF):
		r.damaged = b.end
	}
	return true, nil
}

// frame runs one frame and counts what became of it.
func (r *replay) frame(f *capture.Frame, o *engine.Outcome) error {
	in := r.input(f)
	r.engine.Worker().Evaluate(&in, o)
	return r.account(f, o)
}

// input is a frame with the time it gets.
func (r *replay) input(f *capture.Frame) engine.Input {
	in := verdict.FrameInput(f)
	if f.HasTime {
		in.Time = r.clock.Advance(f)
	} else {
		r.untimed++
		in.Time = r.clock.Now()
	}
	return in
}

// account counts a frame and hands it to the sinks.
func (r *replay) account(f *capture.Frame, o *engine.Outcome) error {
	length := max(f.OrigLen, len(f.Data))
	r.packets++
	r.bytes += uint64(length)
	if f.InterfaceName == "" {
		r.unplaced++
	}
	if !packet.LinkType(f.LinkType).Known() {
		r.links[f.LinkType]++
	}
	if o.Copy {
		r.copies++
		return nil
	}
	r.count(o, length)
	return r.write(f, o)
}
