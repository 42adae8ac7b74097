package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

// callTimer sums the time that children of this process spend in sendmsg,
// which is where the kernel carries out a batch of nf_tables.
type callTimer struct {
	state *ebpf.Memory
}

// The state of a callTimer: when the call at hand began, 0 outside of one, and
// the sum.
const (
	callStart = 8 * iota
	callSum
	callSize
)

const sendmsg = 46 // on x86-64

func newCallTimer() (*callTimer, error) {
	fd, memory, err := shared("calls", callSize)
	if err != nil {
		return nil, err
	}
	parent, group, err := taskFields()
	if err != nil {
		return nil, err
	}
	// Both programs leave unless the calling process is a child of this one.
	ours := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.FnGetCurrentTaskBtf.Call(),
		asm.LoadMem(asm.R0, asm.R0, parent, asm.DWord),
		asm.LoadMem(asm.R0, asm.R0, group, asm.Word),
		asm.JNE.Imm(asm.R0, int32(os.Getpid()), "out"),
	}
	enter := append(append(asm.Instructions{}, ours...),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), // the call's number
		asm.JNE.Imm(asm.R1, sendmsg, "out"),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMapValue(asm.R1, fd, 0),
		asm.StoreMem(asm.R1, callStart, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return())
	exit := append(append(asm.Instructions{}, ours...),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMapValue(asm.R1, fd, 0),
		asm.LoadMem(asm.R2, asm.R1, callStart, asm.DWord),
		asm.JEq.Imm(asm.R2, 0, "out"),
		asm.Sub.Reg(asm.R0, asm.R2),
		asm.LoadMem(asm.R2, asm.R1, callSum, asm.DWord),
		asm.Add.Reg(asm.R2, asm.R0),
		asm.StoreMem(asm.R1, callSum, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R2, 0),
		asm.StoreMem(asm.R1, callStart, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
		asm.Return())
	for name, code := range map[string]asm.Instructions{"sys_enter": enter, "sys_exit": exit} {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, Instructions: code, License: "GPL"})
		if err != nil {
			return nil, err
		}
		if _, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p}); err != nil {
			return nil, err
		}
	}
	return &callTimer{memory}, nil
}

// taskFields are the places of a task's parent and process number.
func taskFields() (parent, group int16, err error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return 0, 0, err
	}
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return 0, 0, err
	}
	at := map[string]int16{}
	for _, m := range task.Members {
		at[m.Name] = int16(m.Offset.Bytes())
	}
	if at["real_parent"] == 0 || at["tgid"] == 0 {
		return 0, 0, fmt.Errorf("the kernel's task_struct has other fields than expected")
	}
	return at["real_parent"], at["tgid"], nil
}

func (c *callTimer) reset() error {
	_, err := c.state.WriteAt(make([]byte, callSize), 0)
	return err
}

func (c *callTimer) sum() (time.Duration, error) {
	state := make([]byte, callSize)
	_, err := c.state.ReadAt(state, 0)
	return time.Duration(binary.LittleEndian.Uint64(state[callSum:])), err
}
