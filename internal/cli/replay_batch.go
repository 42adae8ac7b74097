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

// batchSize is how many frames of a capture are evaluated at a time.
const batchSize = 64

// frames is a batch of frames, which outlive the next ones of their source.
type frames struct {
	list     [batchSize]capture.Frame
	data     [batchSize][]byte
	inputs   [batchSize]engine.Input
	outcomes [batchSize]engine.Outcome
	n        int
}

// fill reads the next frames. The error is that of the source behind them.
func (b *frames) fill(src capture.Source) error {
	for b.n = 0; b.n < batchSize; b.n++ {
		f := &b.list[b.n]
		if err := src.Next(f); err != nil {
			return err
		}
		b.data[b.n] = append(b.data[b.n][:0], f.Data...)
		f.Data = b.data[b.n]
	}
	return nil
}

// capture runs one capture. A damaged capture is run up to the damage, which
// is kept in r.damaged.
func (r *replay) capture(src capture.Source, p progress) error {
	started := time.Now()
	defer func() { r.seconds += time.Since(started).Seconds() }()
	for batch := new(frames); ; {
		end := batch.fill(src)
		if err := r.batch(batch); err != nil {
			return err
		}
		if p != nil && batch.n > 0 {
			p.step(r.packets, batch.list[batch.n-1].Offset)
		}
		switch {
		case errors.Is(end, io.EOF):
			return nil
		case end != nil:
			r.damaged = end
			return nil
		}
	}
}

// batch evaluates frames together, then counts and writes them in order.
func (r *replay) batch(b *frames) error {
	for i := range b.n {
		b.inputs[i] = r.input(&b.list[i])
	}
	r.engine.Worker().EvaluateBatch(b.inputs[:b.n], b.outcomes[:b.n])
	for i := range b.n {
		if err := r.account(&b.list[i], &b.outcomes[i]); err != nil {
			return err
		}
	}
	return nil
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
