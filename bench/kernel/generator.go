package main

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// generator feeds frames into the receive path of an interface, one after the
// other and over again: an XDP program run in live mode writes the next frame
// and passes it on, in batches that go up the stack as from a driver.
type generator struct {
	program *ebpf.Program
	ifindex int
	length  int
}

// newGenerator makes a generator of frames of one length.
func newGenerator(frames [][]byte, ifindex int) (*generator, error) {
	length := (len(frames[0]) + 7) &^ 7
	list, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "frames", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(length), MaxEntries: uint32(len(frames)), Flags: unix.BPF_F_MMAPABLE,
	})
	if err != nil {
		return nil, err
	}
	memory, err := list.Memory()
	if err != nil {
		return nil, err
	}
	for i, f := range frames {
		if len(f) != len(frames[0]) {
			return nil, fmt.Errorf("frame %d has %d bytes, the first has %d", i, len(f), len(frames[0]))
		}
		if _, err := memory.WriteAt(f, int64(i*length)); err != nil {
			return nil, err
		}
	}
	next, _, err := shared("next", 8)
	if err != nil {
		return nil, err
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: writeNext(list.FD(), next, len(frames), length), License: "GPL"})
	return &generator{program, ifindex, length}, err
}

// writeNext copies the next frame of the list into the packet.
func writeNext(list, next, count, length int) asm.Instructions {
	const aborted, pass = 0, 2
	code := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R7, next, 0),
		asm.LoadMem(asm.R8, asm.R7, 0, asm.DWord), // the number of this frame
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Add.Imm(asm.R1, 1),
		asm.JLT.Imm(asm.R1, int32(count), "store"),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R7, 0, asm.R1, asm.DWord).WithSymbol("store"),
		asm.StoreMem(asm.RFP, -4, asm.R8, asm.Word),
		asm.LoadMapPtr(asm.R1, list),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "abort"),
		asm.LoadMem(asm.R2, asm.R6, 0, asm.Word), // data
		asm.LoadMem(asm.R3, asm.R6, 4, asm.Word), // data_end
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, int32(length)),
		asm.JGT.Reg(asm.R4, asm.R3, "abort"),
	}
	for at := 0; at < length; at += 8 {
		code = append(code, asm.LoadMem(asm.R5, asm.R0, int16(at), asm.DWord), asm.StoreMem(asm.R2, int16(at), asm.R5, asm.DWord))
	}
	return append(code,
		asm.Mov.Imm(asm.R0, pass),
		asm.Return(),
		asm.Mov.Imm(asm.R0, aborted).WithSymbol("abort"),
		asm.Return())
}

// run feeds n frames.
func (g *generator) run(n int) error {
	const liveFrames = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
	context := struct{ Data, End, Meta, Ifindex, Queue, Egress uint32 }{End: uint32(g.length), Ifindex: uint32(g.ifindex)}
	_, err := g.program.Run(&ebpf.RunOptions{Data: make([]byte, g.length), Context: &context, Repeat: uint32(n), Flags: liveFrames})
	return err
}

func (g *generator) close() { g.program.Close() }
