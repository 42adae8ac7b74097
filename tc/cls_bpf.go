package tc

import (
	"fmt"
	"strings"
	"syscall"
)

// bpf stores classic bytecode. It is checked and shown; running it is refused
// by name, so that nobody takes a missing match for a verdict.
type bpf struct {
	instance *Instance
	filters  []*bpfFilter
}

type bpfFilter struct {
	filterBase
	ops []bpfOp
}

// bpfOp is one instruction.
type bpfOp struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

type bpfOptions struct{ ops []bpfOp }

var kindBPF = &classifierKind{name: "bpf", parse: parseBPF, offloads: true, make: func(i *Instance) classifier { return &bpf{instance: i} }}

func parseBPF(w *words, r *filterRequest, s *System) *ToolError {
	o := &bpfOptions{}
	r.options = o
	for w.more() {
		switch {
		case w.matches("bytecode"):
			text, err := w.value()
			if err != nil {
				return err
			}
			if o.ops, err = parseBytecode(text); err != nil {
				return err
			}
		case w.matches("bytecode-file", "bcf", "object-file", "object-pinned", "fd", "run"):
			return tool("bpf: %s is not supported, only bytecode\nUnable to parse bpf command line", w.peek())
		case w.matches("classid", "flowid"):
			if err := r.parseClass(w); err != nil {
				return err
			}
		case r.parseSkip(w):
		case w.matches("police"):
			if err := r.parsePoliceWord(w); err != nil {
				return err
			}
		case w.matches("action"):
			if err := r.parseFilterActions(w, s); err != nil {
				return err
			}
		default:
			return tool("What is %q?\nUsage: ... bpf ...", w.peek())
		}
	}
	return nil
}

// maxBPF is the kernel's bound on instructions.
const maxBPF = 4096

// parseBytecode reads "N,CODE JT JF K,…".
func parseBytecode(text string) ([]bpfOp, *ToolError) {
	parts := strings.Split(strings.TrimSpace(text), ",")
	n, ok := number16(parts[0], 10)
	if !ok || n == 0 || n > maxBPF || int(n) != len(parts)-1 {
		return nil, tool("bpf: the number of instructions is wrong")
	}
	var ops []bpfOp
	for _, p := range parts[1:] {
		var op bpfOp
		if c, err := fmt.Sscanf(p, "%d %d %d %d", &op.code, &op.jt, &op.jf, &op.k); err != nil || c != 4 {
			return nil, tool("Error at instruction %d!", len(ops))
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// bpfCodes are the instructions that the kernel knows, but for jumps.
var bpfCodes = map[uint16]bool{}

func init() {
	for _, c := range []uint16{
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0c, 0x14, 0x15, 0x16, 0x1c, 0x1d, 0x20, 0x24, 0x25, 0x28, 0x2c, 0x2d,
		0x30, 0x34, 0x35, 0x3c, 0x3d, 0x40, 0x44, 0x45, 0x48, 0x4c, 0x4d, 0x50, 0x54, 0x5c, 0x60, 0x61, 0x64, 0x6c, 0x74, 0x7c,
		0x80, 0x81, 0x84, 0x87, 0x94, 0x9c, 0xa4, 0xac, 0xb1,
	} {
		bpfCodes[c] = true
	}
}

// checkBPF makes the kernel's checks of classic programs.
//
// Ref: filter.c, bpf_check_classic
func checkBPF(ops []bpfOp) bool {
	for i, op := range ops {
		if !bpfCodes[op.code] || op.code == 0x16 {
			return false
		}
		left := len(ops) - i - 1
		switch op.code {
		case 0x05:
			if op.k >= uint32(left) {
				return false
			}
		case 0x15, 0x1d, 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d:
			if int(op.jt) >= left || int(op.jf) >= left {
				return false
			}
		case 0x34, 0x94:
			if op.k == 0 {
				return false
			}
		case 0x64, 0x74:
			if op.k >= 32 {
				return false
			}
		case 0x60, 0x61, 0x02, 0x03:
			if op.k >= 16 {
				return false
			}
		}
	}
	last := ops[len(ops)-1].code
	return last == 0x06 || last == 0x16
}

// Unsupported returns what a packet at a block meets that cannot be run: the
// classifier's name, or "".
func (s *System) Unsupported(device string, egress bool) string {
	for _, f := range s.Filters(device, egress) {
		if f.Kind == "bpf" {
			return "bpf"
		}
	}
	return ""
}

// classify cannot know what the program says: the result is marked so.
func (c *bpf) classify(s *System, _ *Packet) Code {
	s.path.unknown = "the bytecode of a bpf filter is not run"
	return Unspec
}

func (c *bpf) lookup(handle uint32) int {
	for i, f := range c.filters {
		if f.handle == handle {
			return i
		}
	}
	return -1
}

func (c *bpf) find(handle uint32) bool { return handle != 0 && c.lookup(handle) >= 0 }

// change adds or changes a filter.
//
// Ref: cls_bpf.c, cls_bpf_change
func (c *bpf) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*bpfOptions)
	if len(o.ops) == 0 || !checkBPF(o.ops) || !validFlags(r.flags) {
		return errno(syscall.EINVAL)
	}
	if r.flags&flagSkipSW != 0 {
		return errno(syscall.EOPNOTSUPP)
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &bpfFilter{filterBase: base, ops: o.ops}
	f.handle = r.handle
	for h := uint32(1); f.handle == 0; h++ {
		if c.lookup(h) < 0 {
			f.handle = h
		}
	}
	c.instance.needsSoftware(f.flags)
	if at := c.lookup(f.handle); at >= 0 {
		s.releaseBase(&c.filters[at].filterBase)
		c.filters[at] = f
		return nil
	}
	c.filters = append([]*bpfFilter{f}, c.filters...)
	return nil
}

func (c *bpf) remove(s *System, handle uint32) (bool, *KernelError) {
	at := c.lookup(handle)
	s.releaseBase(&c.filters[at].filterBase)
	c.filters = append(c.filters[:at:at], c.filters[at+1:]...)
	return len(c.filters) == 0, nil
}

func (c *bpf) destroy(s *System) {
	for _, f := range c.filters {
		s.releaseBase(&f.filterBase)
	}
	c.filters = nil
}

func (c *bpf) counters() []FilterCounters {
	var l []FilterCounters
	for _, f := range c.filters {
		l = append(l, f.counted())
	}
	return l
}

func (c *bpf) show(s *System, o *filterPrinter, handle uint32) {
	for _, f := range c.filters {
		if handle != 0 && handle != f.handle {
			continue
		}
		o.filter(c.instance, func() {
			o.put("handle", "handle 0x%x ", f.handle)
			if f.hasClass {
				o.put("flowid", "flowid %s ", classText(f.classID))
			}
			f.skipWords(&o.printer)
			var l []string
			for _, op := range f.ops {
				l = append(l, fmt.Sprintf("%d %d %d %d", op.code, op.jt, op.jf, op.k))
			}
			o.put("bytecode", "bytecode '%s'", fmt.Sprintf("%d,%s", len(f.ops), strings.Join(l, ",")))
			f.showActions(s, &o.printer)
		})
	}
}

func (f *bpfFilter) skipWords(o *printer) {
	if f.flags&flagSkipHW != 0 {
		o.put("skip_hw", "skip_hw ", true)
	}
	o.put("not_in_hw", "not_in_hw ", true)
}
