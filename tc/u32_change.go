package tc

import (
	"syscall"

	"verdict/offload"
)

// change adds a table or a node, or changes a node.
//
// Ref: cls_u32.c, u32_change
func (c *u32) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*u32Options)
	if !validFlags(r.flags) {
		return refuse(syscall.EINVAL, "cls_u32: Invalid filter flags")
	}
	if r.handle&u32TableMask != 0 && r.handle&0xfff != 0 {
		if old := c.lookup(r.handle); old != nil {
			return c.changeNode(s, r, o, old)
		}
	}
	if o.hasDiv && !o.sample {
		return c.addTable(s, r, o)
	}
	return c.addNode(s, r, o)
}

func (c *u32) addTable(s *System, r *filterRequest, o *u32Options) *KernelError {
	switch {
	case o.divisor&(o.divisor-1) != 0 || o.divisor == 0:
		return refuse(syscall.EINVAL, "cls_u32: Divisor is not a power of 2")
	case o.divisor > 256:
		return refuse(syscall.EINVAL, "cls_u32: Exceeded maximum 256 hash buckets")
	case r.handle&0xfffff != 0:
		return refuse(syscall.EINVAL, "cls_u32: Divisor can only be used on a hash table")
	}
	handle := r.handle & u32TableMask
	if handle == 0 {
		if handle = c.common.freeTable(); handle == 0 {
			return errno(syscall.ENOMEM)
		}
	} else if c.common.table(handle) != nil {
		return errno(syscall.ENOSPC)
	}
	c.common.newTable(handle, o.divisor-1, c.instance)
	return nil
}

// place finds the table and the handle of a new node.
func (c *u32) place(r *filterRequest, o *u32Options) (*u32Table, uint32, *KernelError) {
	t, ht := c.root, c.root.handle
	if o.hasHT {
		ht = o.ht
		if ht&u32TableMask == u32TableMask {
			t, ht = c.root, c.root.handle
		} else if t = c.common.table(ht & u32TableMask); t == nil {
			return nil, 0, refuse(syscall.EINVAL, "cls_u32: Specified hash table not found")
		}
	}
	if t.divisor < ht>>12&0xff {
		return nil, 0, refuse(syscall.EINVAL, "cls_u32: Specified hash table buckets exceed configured value")
	}
	handle := r.handle
	if handle == 0 {
		handle = t.freeNode(ht >> 12 & 0xff)
		if handle == 0 {
			return nil, 0, errno(syscall.ENOSPC)
		}
		return t, handle, nil
	}
	if handle&u32TableMask != 0 && (handle^ht)&u32TableMask != 0 {
		return nil, 0, refuse(syscall.EINVAL, "cls_u32: Handle specified hash table address mismatch")
	}
	return t, ht&0xfffff000 | handle&0xfff, nil
}

// freeNode allocates a node's handle in a bucket: from 800 up, then from 1.
//
// Ref: cls_u32.c, gen_new_kid
func (t *u32Table) freeNode(bucket uint32) uint32 {
	used := map[uint32]bool{}
	for _, n := range t.buckets[bucket] {
		used[n.handle&0xfff] = true
	}
	base := t.handle | bucket<<12
	for id := uint32(0x800); id <= 0xfff; id++ {
		if !used[id] {
			return base | id
		}
	}
	for id := uint32(1); id < 0x800; id++ {
		if !used[id] {
			return base | id
		}
	}
	return 0
}

// addNode adds a node in the order of the nodes' numbers.
func (c *u32) addNode(s *System, r *filterRequest, o *u32Options) *KernelError {
	t, handle, err := c.place(r, o)
	if err != nil {
		return err
	}
	n, err := c.newNode(s, r, o)
	if err != nil {
		return err
	}
	n.handle, n.table = handle, t
	bucket := handle >> 12 & 0xff
	if err := c.offload(s, n); err != nil {
		c.releaseNode(s, n)
		return err
	}
	c.instance.needsSoftware(n.flags)
	list := t.buckets[bucket]
	at := 0
	for at < len(list) && list[at].handle&0xfff <= handle&0xfff {
		at++
	}
	list = append(list, nil)
	copy(list[at+1:], list[at:])
	list[at] = n
	t.buckets[bucket] = list
	return nil
}

// newNode makes a node from words.
func (c *u32) newNode(s *System, r *filterRequest, o *u32Options) (*u32Node, *KernelError) {
	if len(o.keys) > u32MaxKeys {
		return nil, errno(syscall.EINVAL)
	}
	var link *u32Table
	if o.hasLink && o.link != 0 {
		if o.link&0xfffff != 0 {
			return nil, refuse(syscall.EINVAL, "cls_u32: u32 Link handle must be a hash table")
		}
		if link = c.common.table(o.link & u32TableMask); link == nil {
			return nil, refuse(syscall.EINVAL, "cls_u32: Link hash table not found")
		}
		if link.root {
			return nil, refuse(syscall.EINVAL, "cls_u32: Not linking to root node")
		}
	}
	indev, err := s.indevOf(r.indev)
	if err != nil {
		return nil, err
	}
	base, err := s.base(r)
	if err != nil {
		return nil, err
	}
	n := &u32Node{
		filterBase: base, keys: o.keys, mark: o.mark, link: link, indev: indev, terminal: o.terminal,
		hashMask: o.hashMask, hashOff: o.hashOff, hasHash: o.hasHash, offset: o.offset, hashShift: hashShift(o.hashMask),
		keyHits: make([]uint64, len(o.keys)),
	}
	if link != nil {
		link.refs++
	}
	return n, nil
}

// changeNode puts new words in the place of a node.
func (c *u32) changeNode(s *System, r *filterRequest, o *u32Options, old *u32Node) *KernelError {
	if (old.flags^r.flags)&^(flagInHW|flagNotInHW) != 0 {
		return refuse(syscall.EINVAL, "cls_u32: Key node flags do not match passed flags")
	}
	n, err := c.newNode(s, r, o)
	if err != nil {
		return err
	}
	if len(o.keys) == 0 {
		n.keys, n.keyHits = old.keys, make([]uint64, len(old.keys))
	}
	n.handle, n.table = old.handle, old.table
	if err := c.offload(s, n); err != nil {
		c.releaseNode(s, n)
		return err
	}
	c.instance.needsSoftware(n.flags)
	list := old.table.buckets[old.handle>>12&0xff]
	for i := range list {
		if list[i] == old {
			list[i] = n
		}
	}
	c.dispose(s, old)
	return nil
}

// offload offers the node to hardware, whatever skip_hw says. No refusal
// counts, not even for skip_sw: the kernel looks for the flag among those of
// actions, where it is not.
//
// Ref: cls_u32.c, u32_replace_hw_knode
func (c *u32) offload(s *System, n *u32Node) *KernelError {
	return s.offer(&n.filterBase, n.rule(offload.U32), false)
}

func (c *u32) releaseNode(s *System, n *u32Node) {
	if n.link != nil {
		n.link.refs--
	}
	s.releaseBase(&n.filterBase)
}

// dispose withdraws a node and releases it.
func (c *u32) dispose(s *System, n *u32Node) {
	s.unload(&n.filterBase)
	c.releaseNode(s, n)
}
