package tc

import (
	"syscall"

	"verdict/offload"
)

// Block holds chains of filters, of one qdisc or shared by several.
type Block struct {
	index    uint32 // 0: not shared
	chains   []*Chain
	byIndex  map[uint32]*Chain
	bindings []*binding

	withoutOffload int // bindings whose device takes no filters
	inHardware     int // filters in hardware
	// Counts of the first generation of the bypass, and of the refined one.
	filterCount, skipSWCount int
	wantsBypass              bool
	useSWCount               int

	// requestSkipSW says that the filter that is being made is skip_sw.
	requestSkipSW bool
	// chain0 is the chain that packets begin with, nil without filters.
	chain0 *Chain
}

// binding is a device's hook that uses a block.
type binding struct {
	qdisc    *Qdisc
	egress   bool
	hardware *offload.Device // nil where the hook offloads nothing
}

// bindBlock makes the block of a hook, or joins a shared one, whose filters
// the device takes over.
//
// Ref: cls_api.c, tcf_block_get_ext, tcf_block_offload_bind
func (s *System) bindBlock(q *Qdisc, index uint32, egress bool) (*Block, *KernelError) {
	b := s.blocks[index]
	if index == 0 || b == nil {
		b = &Block{index: index, byIndex: map[uint32]*Chain{}}
	}
	n := &binding{qdisc: q, egress: egress}
	hw := q.Dev.Hardware
	if hw != nil && !classful(q.Kind) && (!egress || hw.Model.Egress) {
		n.hardware = hw
		if err := s.replay(b, hw); err != nil {
			return nil, err
		}
	} else {
		if b.inHardware > 0 {
			return nil, errno(syscall.EOPNOTSUPP)
		}
		b.withoutOffload++
	}
	b.bindings = append(b.bindings, n)
	if len(b.bindings) == 1 {
		s.all = append(s.all, b)
		if index != 0 {
			s.blocks[index] = b
		}
	}
	return b, nil
}

// unbindBlock withdraws the filters from the hook's device; the last user of a
// block takes it along.
//
// Ref: cls_api.c, tcf_block_put_ext
func (s *System) unbindBlock(b *Block, q *Qdisc, egress bool) {
	for i, n := range b.bindings {
		if n.qdisc != q || n.egress != egress {
			continue
		}
		last := len(b.bindings) == 1
		if last {
			s.flushBlock(b)
		}
		if n.hardware != nil {
			s.withdraw(b, n.hardware)
		} else {
			b.withoutOffload--
		}
		b.bindings = append(b.bindings[:i:i], b.bindings[i+1:]...)
		if last {
			s.dropBlock(b)
		}
		return
	}
}

func (s *System) flushBlock(b *Block) {
	for _, c := range append([]*Chain(nil), b.chains...) {
		c.explicit, c.template = false, nil
		s.flushChain(c)
		c.release()
	}
}

func (s *System) dropBlock(b *Block) {
	delete(s.blocks, b.index)
	for i, o := range s.all {
		if o == b {
			s.all = append(s.all[:i:i], s.all[i+1:]...)
			break
		}
	}
}

// hardwares lists the devices that take filters, each once for each binding.
func (b *Block) hardwares() []*offload.Device {
	var l []*offload.Device
	for _, n := range b.bindings {
		if n.hardware != nil {
			l = append(l, n.hardware)
		}
	}
	return l
}

// devices lists the devices of a block.
func (b *Block) devices() []*Device {
	var l []*Device
	for _, n := range b.bindings {
		l = append(l, n.qdisc.Dev)
	}
	return l
}

// atIngress reports whether a filter of the block sees arriving packets.
func (b *Block) atIngress() bool {
	for _, n := range b.bindings {
		if !n.egress {
			return true
		}
	}
	return false
}

// class finds a class of the qdiscs that use the block.
func (b *Block) class(id uint32) *class {
	for _, n := range b.bindings {
		if c := n.qdisc.class(id); c != nil {
			return c
		}
	}
	return nil
}

// replay offers all filters to a device that joins. If it refuses one that
// must be in hardware, everything is withdrawn.
//
// Ref: cls_api.c, tcf_block_playback_offloads
func (s *System) replay(b *Block, hw *offload.Device) *KernelError {
	inUse := b.inHardware > 0
	for _, c := range b.chains {
		for _, i := range c.instances {
			r, ok := i.classifier.(reoffloader)
			if !ok {
				if inUse {
					s.withdraw(b, hw)
					return errno(syscall.EOPNOTSUPP)
				}
				continue
			}
			if err := r.reoffload(s, hw, true); err != nil {
				s.withdraw(b, hw)
				return err
			}
		}
	}
	return nil
}

// withdraw takes all filters of a block out of a device.
func (s *System) withdraw(b *Block, hw *offload.Device) {
	for _, c := range b.chains {
		for _, i := range c.instances {
			if r, ok := i.classifier.(reoffloader); ok {
				_ = r.reoffload(s, hw, false) // withdrawing does not fail
			}
		}
	}
}

// reoffloader is a classifier that can offer its filters again.
type reoffloader interface {
	reoffload(s *System, hw *offload.Device, add bool) *KernelError
}
