package tc

import (
	"syscall"
)

// Qdisc is a queueing discipline: ingress and clsact hold the filters of the
// hooks, prio and drr classify for their classes.
type Qdisc struct {
	Kind   string
	Handle uint32
	Parent uint32
	Dev    *Device
	// Packets, Bytes and Drops are what the filters saw and dropped.
	Packets, Bytes, Drops uint64

	ingress, egress *Block // of ingress and clsact
	block           *Block // of classful qdiscs
	classes         []*class
	bands           int
	priomap         [16]uint8
}

// class is a class of prio or drr.
type class struct {
	id      uint32
	parent  uint32
	quantum uint32
	filters int
}

// qdiscRequest is a command on qdiscs.
type qdiscRequest struct {
	dev                       *Device
	kind                      string
	handle, parent            uint32
	ingressBlock, egressBlock uint32
	create, replace, exclude  bool
	bands                     int
	priomap                   []uint8
}

// classful reports whether a kind has filters at its root.
func classful(kind string) bool { return kind == "prio" || kind == "drr" }

// newQdisc adds or changes a qdisc.
//
// Ref: sch_api.c, tc_modify_qdisc
func (s *System) newQdisc(r *qdiscRequest) *KernelError {
	old := r.dev.at(r.parent)
	switch {
	case old != nil && r.exclude:
		return refuse(syscall.EEXIST, "Exclusivity flag on, cannot modify")
	case old != nil && r.kind != "" && old.Kind != r.kind && !r.replace:
		return refuse(syscall.EINVAL, "Invalid qdisc name: must match existing qdisc")
	case old == nil && !r.create:
		return refuse(syscall.ENOENT, "Qdisc not found. To create specify NLM_F_CREATE flag")
	case r.kind == "":
		return refuse(syscall.EINVAL, "Need qdisc kind")
	}
	switch r.kind {
	case "ingress", "clsact", "prio", "drr", "noqueue", "pfifo", "bfifo", "pfifo_fast", "fq_codel":
	default:
		return refuse(syscall.ENOENT, "Specified qdisc kind is unknown")
	}
	if old != nil && r.replace && old.Kind == r.kind {
		return nil
	}
	if old != nil {
		s.destroyQdisc(old)
	}
	q := &Qdisc{Kind: r.kind, Handle: r.handle, Parent: r.parent, Dev: r.dev, bands: r.bands}
	if q.Handle == 0 {
		q.Handle = r.dev.freeHandle()
	}
	if err := s.attachBlocks(q, r); err != nil {
		return err
	}
	if q.Kind == "prio" {
		for i := range q.bands {
			q.classes = append(q.classes, &class{id: q.Handle | uint32(i+1), parent: q.Handle})
		}
	}
	r.dev.qdiscs = append(r.dev.qdiscs, q)
	return nil
}

// attachBlocks makes or finds the blocks of a qdisc and binds the device.
func (s *System) attachBlocks(q *Qdisc, r *qdiscRequest) *KernelError {
	var err *KernelError
	switch q.Kind {
	case "ingress", "clsact":
		if q.ingress, err = s.bindBlock(q, r.ingressBlock, false); err != nil {
			return err
		}
		if q.Kind == "ingress" {
			if r.egressBlock != 0 {
				s.unbindBlock(q.ingress, q, false)
				return refuse(syscall.EOPNOTSUPP, "Egress block sharing is not supported")
			}
			return nil
		}
		if q.egress, err = s.bindBlock(q, r.egressBlock, true); err != nil {
			s.unbindBlock(q.ingress, q, false)
		}
		return err
	}
	if r.ingressBlock != 0 {
		return refuse(syscall.EOPNOTSUPP, "Ingress block sharing is not supported")
	}
	if r.egressBlock != 0 {
		return refuse(syscall.EOPNOTSUPP, "Egress block sharing is not supported")
	}
	if classful(q.Kind) {
		q.block, err = s.bindBlock(q, 0, true)
	}
	return err
}

// deleteQdisc removes a qdisc.
//
// Ref: sch_api.c, tc_get_qdisc
func (s *System) deleteQdisc(r *qdiscRequest) *KernelError {
	if r.parent == 0 && r.handle == 0 {
		return refuse(syscall.EINVAL, "Classid cannot be zero")
	}
	q := r.dev.at(r.parent)
	if r.parent == 0 {
		q = r.dev.qdisc(r.handle)
	}
	switch {
	case q == nil && r.parent == handleIngress:
		return refuse(syscall.ENOENT, "Cannot find specified qdisc on specified device")
	case q == nil && r.parent == handleRoot:
		return refuse(syscall.ENOENT, "Cannot delete qdisc with handle of zero")
	case q == nil:
		return refuse(syscall.ENOENT, "Failed to find specified qdisc")
	case r.handle != 0 && q.Handle != r.handle:
		return refuse(syscall.EINVAL, "Invalid handle")
	case r.kind != "" && q.Kind != r.kind:
		return refuse(syscall.EINVAL, "Invalid qdisc name")
	}
	s.destroyQdisc(q)
	return nil
}

func (s *System) destroyQdisc(q *Qdisc) {
	d := q.Dev
	for i, o := range d.qdiscs {
		if o == q {
			d.qdiscs = append(d.qdiscs[:i:i], d.qdiscs[i+1:]...)
		}
	}
	if q.ingress != nil {
		s.unbindBlock(q.ingress, q, false)
	}
	if q.egress != nil {
		s.unbindBlock(q.egress, q, true)
	}
	if q.block != nil {
		s.unbindBlock(q.block, q, true)
	}
}

// at finds the qdisc below a parent.
func (d *Device) at(parent uint32) *Qdisc {
	for _, q := range d.qdiscs {
		if q.Parent == parent {
			return q
		}
	}
	return nil
}

// qdisc finds a qdisc by handle.
func (d *Device) qdisc(handle uint32) *Qdisc {
	for _, q := range d.qdiscs {
		if q.Handle == handle {
			return q
		}
	}
	return nil
}

// freeHandle allocates a handle as the kernel does, from 8001: up.
func (d *Device) freeHandle() uint32 {
	for h := uint32(0x80010000); ; h += 0x10000 {
		if d.qdisc(h) == nil {
			return h
		}
	}
}

// filterBlock finds the block that filters of a parent belong to.
//
// Ref: cls_api.c, __tcf_qdisc_find, __tcf_block_find
func (s *System) filterBlock(d *Device, parent uint32) (*Block, *KernelError) {
	var q *Qdisc
	if parent == 0 {
		if q = d.at(handleRoot); q == nil {
			return nil, refuse(syscall.EINVAL, "Qdisc not classful")
		}
	} else if q = d.qdisc(parent & 0xffff0000); q == nil {
		return nil, refuse(syscall.EINVAL, "Parent Qdisc doesn't exists")
	}
	minor := parent & 0xffff
	var b *Block
	switch q.Kind {
	case "ingress":
		b = q.ingress
	case "clsact":
		switch minor {
		case minIngress & 0xffff:
			b = q.ingress
		case minEgress & 0xffff:
			b = q.egress
		case 0:
			return nil, errno(syscall.EINVAL)
		default:
			return nil, refuse(syscall.ENOENT, "Specified class doesn't exist")
		}
	default:
		if !classful(q.Kind) {
			return nil, refuse(syscall.EINVAL, "Qdisc not classful")
		}
		if minor != 0 {
			if q.class(parent) == nil {
				return nil, refuse(syscall.ENOENT, "Specified class doesn't exist")
			}
			return nil, errno(syscall.EINVAL)
		}
		b = q.block
	}
	if b.index != 0 {
		return nil, refuse(syscall.EOPNOTSUPP, "This filter block is shared. Please use the block index to manipulate the filters")
	}
	return b, nil
}

// class finds a class by its id.
func (q *Qdisc) class(id uint32) *class {
	for _, c := range q.classes {
		if c.id == id {
			return c
		}
	}
	return nil
}

// band is the class that a packet without decision gets, by its priority.
func (q *Qdisc) band(priority uint32) uint32 {
	return q.Handle | uint32(q.priomap[priority&15]) + 1
}
