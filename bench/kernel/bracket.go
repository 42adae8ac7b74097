package main

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// A bracket times one base chain from inside the kernel: a BPF netfilter
// program directly before it in the prerouting hook takes the time, another
// directly behind it adds up the difference. Packets must pass the chain.
type bracket struct {
	state         *ebpf.Memory
	before, after *ebpf.Program
	links         []link.Link
}

// The state of a bracket: the time at which the packet at hand came, the sum
// of the times, and the number of packets.
const (
	stateStart = 8 * iota
	stateSum
	stateCount
	stateSize
)

func newBracket() (*bracket, error) {
	fd, memory, err := shared("bracket", stateSize)
	if err != nil {
		return nil, err
	}
	b := &bracket{state: memory}
	b.before, err = netfilterProgram(asm.Instructions{
		asm.FnKtimeGetNs.Call(), // the last act before the chain
		asm.LoadMapValue(asm.R1, fd, 0),
		asm.StoreMem(asm.R1, stateStart, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, accept),
		asm.Return(),
	})
	if err != nil {
		return nil, err
	}
	b.after, err = netfilterProgram(asm.Instructions{
		asm.FnKtimeGetNs.Call(), // the first act behind it
		asm.LoadMapValue(asm.R1, fd, 0),
		asm.LoadMem(asm.R2, asm.R1, stateStart, asm.DWord),
		asm.Sub.Reg(asm.R0, asm.R2),
		asm.LoadMem(asm.R2, asm.R1, stateSum, asm.DWord),
		asm.Add.Reg(asm.R2, asm.R0),
		asm.StoreMem(asm.R1, stateSum, asm.R2, asm.DWord),
		asm.LoadMem(asm.R2, asm.R1, stateCount, asm.DWord),
		asm.Add.Imm(asm.R2, 1),
		asm.StoreMem(asm.R1, stateCount, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R0, accept),
		asm.Return(),
	})
	return b, err
}

// attach puts the programs around a priority of the prerouting hook.
func (b *bracket) attach(priority int32) error {
	for _, p := range []struct {
		program *ebpf.Program
		at      int32
	}{{b.before, priority - 1}, {b.after, priority + 1}} {
		links, err := attach(p.program, p.at)
		if err != nil {
			return err
		}
		b.links = append(b.links, links...)
	}
	return nil
}

func (b *bracket) detach() {
	for _, l := range b.links {
		l.Close()
	}
	b.links = nil
}

func (b *bracket) reset() error {
	_, err := b.state.WriteAt(make([]byte, stateSize), 0)
	return err
}

// mean is the mean time of a packet since reset, in nanoseconds.
func (b *bracket) mean() (float64, error) {
	state := make([]byte, stateSize)
	if _, err := b.state.ReadAt(state, 0); err != nil {
		return 0, err
	}
	count := binary.LittleEndian.Uint64(state[stateCount:])
	if count == 0 {
		return 0, fmt.Errorf("no packet came through the chain")
	}
	return float64(binary.LittleEndian.Uint64(state[stateSum:])) / float64(count), nil
}

// Verdicts of a netfilter program.
const (
	drop   = 0
	accept = 1
)

// newDropper attaches a program that drops what reaches a priority, and counts
// it.
func newDropper(priority int32) (*ebpf.Memory, error) {
	fd, memory, err := shared("dropper", 8)
	if err != nil {
		return nil, err
	}
	p, err := netfilterProgram(asm.Instructions{
		asm.LoadMapValue(asm.R1, fd, 0),
		asm.LoadMem(asm.R2, asm.R1, 0, asm.DWord),
		asm.Add.Imm(asm.R2, 1),
		asm.StoreMem(asm.R1, 0, asm.R2, asm.DWord),
		asm.Mov.Imm(asm.R0, drop),
		asm.Return(),
	})
	if err != nil {
		return nil, err
	}
	_, err = attach(p, priority)
	return memory, err
}

func netfilterProgram(code asm.Instructions) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Netfilter, AttachType: ebpf.AttachNetfilter, Instructions: code, License: "GPL"})
}

// attach attaches a program to the prerouting hook of IPv4 and IPv6.
func attach(p *ebpf.Program, priority int32) ([]link.Link, error) {
	var links []link.Link
	for _, family := range []link.NetfilterProtocolFamily{link.NetfilterProtoIPv4, link.NetfilterProtoIPv6} {
		l, err := link.AttachNetfilter(link.NetfilterOptions{
			Program: p, ProtocolFamily: family, Hook: link.NetfilterInetPreRouting, Priority: priority,
		})
		if err != nil {
			return nil, fmt.Errorf("attach at priority %d: %w", priority, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// shared makes memory that programs and this process share.
func shared(name string, size uint32) (fd int, memory *ebpf.Memory, err error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: size, MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return 0, nil, err
	}
	memory, err = m.Memory()
	return m.FD(), memory, err
}
