package bench

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"verdict"
	"verdict/capture"
	"verdict/engine"
	"verdict/packet"
)

// What is measured of packets.
const (
	DecodePacket What = "decode a packet"
	EvalPacket   What = "evaluate a packet, decoding included"
)

// frames reads a whole capture.
func frames(src capture.Source) ([]capture.Frame, error) {
	var list []capture.Frame
	var f capture.Frame
	for {
		err := src.Next(&f)
		switch {
		case errors.Is(err, io.EOF) && len(list) == 0:
			return nil, errors.New("the capture is empty")
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		kept := f
		kept.Data = slices.Clone(f.Data)
		list = append(list, kept)
	}
}

// passes is how often a round goes through a capture: short ones are repeated
// until the clock's grain does not matter.
func passes(frames int) int { return max(1, 20_000/frames) }

// Decode measures how long the headers of a packet take.
func Decode(name string, src capture.Source, o *Options) ([]Figure, error) {
	list, err := frames(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	o.tell("%s: decoding", name)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took samples
	var view packet.View
	for range o.Rounds {
		n := passes(len(list))
		total := timed(func() {
			for range n {
				for i := range list {
					view.Decode(packet.LinkType(list[i].LinkType), list[i].Data, list[i].OrigLen)
				}
			}
		})
		took = append(took, total/float64(n*len(list)))
	}
	return []Figure{took.figure(Figure{Case: name, What: DecodePacket, Unit: Time})}, nil
}

// Eval measures how long a ruleset takes for a packet of a capture, decoding
// included, on one core. Each round has a new engine, so that connections come
// and go as in the capture.
func Eval(name string, rules *verdict.Ruleset, options verdict.EngineOptions, src capture.Source, o *Options) ([]Figure, error) {
	list, err := frames(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	inputs := make([]engine.Input, len(list))
	for i := range list {
		inputs[i] = verdict.FrameInput(&list[i])
		if list[i].HasTime {
			inputs[i].Time = list[i].Time
		}
	}
	o.tell("%s: evaluating", name)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took samples
	var outcome engine.Outcome
	for range o.Rounds {
		e, err := rules.NewEngine(options)
		if err != nil {
			return nil, err
		}
		total := timed(func() {
			for i := range inputs {
				e.Worker().Evaluate(&inputs[i], &outcome)
			}
		})
		took = append(took, total/float64(len(inputs)))
	}
	return []Figure{took.figure(Figure{Case: name, What: EvalPacket, Unit: Time})}, nil
}
