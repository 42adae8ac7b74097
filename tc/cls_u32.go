package tc

import (
	"encoding/binary"
	"math/bits"
	"syscall"

	"verdict/offload"
)

// u32 matches on 32-bit words, with hash tables that link to each other. The
// tables belong to the block, each instance has a root among them.
type u32 struct {
	instance *Instance
	root     *u32Table
	common   *u32Common
}

// u32Common is what the instances of a block share.
type u32Common struct {
	tables []*u32Table
	users  int
	last   uint32 // the table that was numbered last
}

// u32Table is a hash table of nodes.
type u32Table struct {
	handle   uint32
	divisor  uint32 // buckets minus one
	buckets  [][]*u32Node
	refs     int
	root     bool
	priority uint32
	instance *Instance
}

// u32Node is a filter.
type u32Node struct {
	filterBase
	keys      []u32Key
	mark      u32Mark
	link      *u32Table
	table     *u32Table
	indev     uint32
	terminal  bool
	hashMask  uint32
	hashOff   int32
	hasHash   bool
	offset    u32Offset
	seen, hit uint64
	markHits  uint64
	keyHits   []uint64
	hashShift int
}

// u32Key is a word to compare: value and mask as the word reads in network
// order.
type u32Key struct {
	value, mask uint32
	off         int32
	next        bool // the offset found so far counts
}

type u32Mark struct {
	value, mask uint32
	set         bool
}

// u32Offset says how a node moves the offset for those that it links to.
type u32Offset struct {
	fixed    uint16
	mask     uint16
	shift    uint8
	at       int32
	variable bool
	set      bool
	eat      bool
}

// u32Options are the words of a node or table.
type u32Options struct {
	keys     []u32Key
	mark     u32Mark
	link     uint32
	hasLink  bool
	ht       uint32
	hasHT    bool
	divisor  uint32
	hasDiv   bool
	order    uint32
	offset   u32Offset
	hashMask uint32
	hashOff  int32
	hasHash  bool
	terminal bool
	sample   bool
}

// Parts of a handle.
const (
	u32Root      = 0x800
	u32TableMask = 0xfff00000
	u32MaxDepth  = 8
	u32MaxKeys   = 128
)

var kindU32 = &classifierKind{name: "u32", parse: parseU32, offloads: true, make: makeU32}

func makeU32(i *Instance) classifier {
	c := &u32{instance: i, common: i.chain.block.u32Common()}
	c.common.users++
	c.root = c.common.newTable(c.common.freeTable(), 0, i)
	c.root.root = true
	c.root.refs = 1
	return c
}

// u32Common finds what the instances of a shared block have in common, or
// those of all blocks of a qdisc: ingress and egress filters of clsact see the
// same tables.
//
// Ref: cls_u32.c, tc_u_common_ptr
func (b *Block) u32Common() *u32Common {
	blocks := []*Block{b}
	if b.index == 0 && len(b.bindings) > 0 {
		q := b.bindings[0].qdisc
		blocks = []*Block{q.ingress, q.egress, q.block}
	}
	for _, b := range blocks {
		if b == nil || len(blocks) > 1 && b.index != 0 {
			continue
		}
		for _, c := range b.chains {
			for _, i := range c.instances {
				if u, ok := i.classifier.(*u32); ok {
					return u.common
				}
			}
		}
	}
	return &u32Common{}
}

func (c *u32Common) newTable(handle, divisor uint32, i *Instance) *u32Table {
	t := &u32Table{handle: handle, divisor: divisor, buckets: make([][]*u32Node, divisor+1), priority: i.Priority, instance: i}
	c.tables = append([]*u32Table{t}, c.tables...)
	return t
}

func (c *u32Common) table(handle uint32) *u32Table {
	for _, t := range c.tables {
		if t.handle == handle {
			return t
		}
	}
	return nil
}

// freeTable allocates a handle: 800: for the first table, then cyclically from
// 801: up.
//
// Ref: cls_u32.c, gen_new_htid
func (c *u32Common) freeTable() uint32 {
	if len(c.tables) == 0 && c.last == 0 {
		return u32Root << 20
	}
	for range u32Root {
		c.last++
		if c.last >= u32Root {
			c.last = 1
		}
		if id := (c.last | u32Root) << 20; c.table(id) == nil {
			return id
		}
	}
	return 0
}

// lookup finds the node of a handle.
func (c *u32) lookup(handle uint32) *u32Node {
	t := c.common.table(handle & u32TableMask)
	if t == nil {
		return nil
	}
	bucket := handle >> 12 & 0xff
	if bucket > t.divisor {
		return nil
	}
	for _, n := range t.buckets[bucket] {
		if n.handle == handle {
			return n
		}
	}
	return nil
}

func (c *u32) find(handle uint32) bool {
	if handle&u32TableMask == 0 {
		return false
	}
	if handle&0xfff == 0 {
		return c.common.table(handle&u32TableMask) != nil
	}
	return c.lookup(handle) != nil
}

// u32Frame is a node to come back to.
type u32Frame struct {
	table *u32Table
	sel   uint32
	at    int
	off   int
}

// classify walks the nodes of the root table, into tables that they link to
// and back.
//
// Ref: cls_u32.c, u32_classify
func (c *u32) classify(s *System, p *Packet) Code {
	var stack [u32MaxDepth]u32Frame
	depth := 0
	table, sel, off, off2 := c.root, uint32(0), p.net, 0
	at := 0
	for {
		if at >= len(table.buckets[sel]) {
			if depth == 0 {
				return Unspec
			}
			depth--
			f := stack[depth]
			table, sel, at, off = f.table, f.sel, f.at, f.off
			if r, done := table.buckets[sel][at].terminate(s, p); done {
				return r
			}
			at++
			continue
		}
		n := table.buckets[sel][at]
		switch n.test(p, off, off2) {
		case u32Stop:
			return Unspec
		case u32Next:
			at++
			continue
		}
		if n.link == nil {
			if r, done := n.terminate(s, p); done {
				return r
			}
			at++
			continue
		}
		if depth >= u32MaxDepth {
			return Unspec
		}
		stack[depth] = u32Frame{table, sel, at, off}
		depth++
		next, nextSel, nextOff, nextOff2, ok := n.follow(p, off, off2)
		if !ok {
			return Unspec
		}
		off, off2 = nextOff, nextOff2
		if n.moves() && off >= p.tail {
			table, sel, at = next, nextSel, len(next.buckets[nextSel])
			continue
		}
		table, sel, at = next, nextSel, 0
	}
}

const (
	u32Match = iota
	u32Next
	u32Stop
)

// test compares mark and keys.
func (n *u32Node) test(p *Packet, off, off2 int) int {
	n.seen++
	if n.flags&flagSkipSW != 0 {
		return u32Next
	}
	if n.mark.set {
		if p.Mark&n.mark.mask != n.mark.value {
			return u32Next
		}
		n.markHits++
	}
	for i := range n.keys {
		k := &n.keys[i]
		at := off + int(k.off)
		if k.next {
			at += off2
		}
		var b [4]byte
		if !p.load(at, 4, b[:]) {
			return u32Stop
		}
		if (binary.BigEndian.Uint32(b[:])^k.value)&k.mask != 0 {
			return u32Next
		}
		n.keyHits[i]++
	}
	return u32Match
}

// terminate runs a terminal node's actions; done says that they decided.
func (n *u32Node) terminate(s *System, p *Packet) (Code, bool) {
	if !n.terminal || n.indev != 0 && n.indev != p.IIF {
		return 0, false
	}
	n.hit++
	s.path.classID = n.classID
	r := s.runActions(p, &n.filterBase)
	return r, r >= 0
}

// moves reports whether the node changes the offset.
func (n *u32Node) moves() bool { return n.offset.set || n.offset.variable || n.offset.eat }

// follow finds the bucket that the node links to, and the new offsets.
func (n *u32Node) follow(p *Packet, off, off2 int) (*u32Table, uint32, int, int, bool) {
	t := n.link
	sel := uint32(0)
	var b [4]byte
	if t.divisor != 0 {
		if !p.load(off+int(n.hashOff), 4, b[:]) {
			return nil, 0, 0, 0, false
		}
		sel = t.divisor & (binary.BigEndian.Uint32(b[:]) & n.hashMask >> n.hashShift)
	}
	if n.offset.set || n.offset.variable {
		off2 = int(n.offset.fixed) + 3
		if n.offset.variable {
			if !p.load(off+int(n.offset.at), 2, b[:2]) {
				return nil, 0, 0, 0, false
			}
			off2 += int(binary.BigEndian.Uint16(b[:]) & n.offset.mask >> n.offset.shift)
		}
		off2 &^= 3
	}
	if n.offset.eat {
		off += off2
		off2 = 0
	}
	return t, sel, off, off2, true
}

// hashShift is where a hash mask's lowest bit stands.
func hashShift(mask uint32) int {
	if mask == 0 {
		return 0
	}
	return bits.TrailingZeros32(mask)
}

// remove deletes a node, or a table that nothing links to.
//
// Ref: cls_u32.c, u32_delete
func (c *u32) remove(s *System, handle uint32) (bool, *KernelError) {
	if handle&0xfff == 0 {
		t := c.common.table(handle & u32TableMask)
		switch {
		case t.root:
			return false, refuse(syscall.EINVAL, "cls_u32: Not allowed to delete root node")
		case t.refs > 0:
			return false, refuse(syscall.EBUSY, "cls_u32: Can not delete in-use filter")
		}
		c.clear(s, t)
		c.common.drop(t)
		return false, nil
	}
	n := c.lookup(handle)
	b := n.handle >> 12 & 0xff
	list := n.table.buckets[b]
	for i := range list {
		if list[i] == n {
			n.table.buckets[b] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	c.dispose(s, n)
	return c.empty(), nil
}

// empty reports whether the last filter is gone: only the root is left, with
// no nodes.
func (c *u32) empty() bool {
	if c.common.users > 1 {
		return false
	}
	for _, t := range c.common.tables {
		if t != c.root && t.refs > 0 {
			return false
		}
		for _, b := range t.buckets {
			if len(b) > 0 {
				return false
			}
		}
		if t != c.root {
			return false
		}
	}
	return true
}

func (c *u32Common) drop(t *u32Table) {
	for i, o := range c.tables {
		if o == t {
			c.tables = append(c.tables[:i:i], c.tables[i+1:]...)
			return
		}
	}
}

func (c *u32) clear(s *System, t *u32Table) {
	for i, b := range t.buckets {
		for _, n := range b {
			c.dispose(s, n)
		}
		t.buckets[i] = nil
	}
}

// destroy takes the root away, and with the last instance all tables.
func (c *u32) destroy(s *System) {
	c.clear(s, c.root)
	c.common.drop(c.root)
	if c.common.users--; c.common.users > 0 {
		return
	}
	for _, t := range c.common.tables {
		c.clear(s, t)
	}
	c.common.tables = nil
}

// nodes lists the nodes of the instance's tables, in the order of a listing.
func (c *u32) nodes(f func(t *u32Table, n *u32Node)) {
	for _, t := range c.common.tables {
		if t.priority != c.instance.Priority {
			continue
		}
		f(t, nil)
		for _, b := range t.buckets {
			for _, n := range b {
				f(t, n)
			}
		}
	}
}

func (c *u32) counters() []FilterCounters {
	var l []FilterCounters
	c.nodes(func(_ *u32Table, n *u32Node) {
		if n == nil {
			return
		}
		k := n.counted()
		k.Chain, k.Protocol = c.instance.chain.Index, c.instance.Protocol
		k.Seen, k.Hit, k.HasSeen, k.HasHit = n.seen, n.hit, true, true
		l = append(l, k)
	})
	return l
}

func (c *u32) reoffload(s *System, hw *offload.Device, add bool) *KernelError {
	var failed *KernelError
	c.nodes(func(_ *u32Table, n *u32Node) {
		if n == nil || failed != nil || add && n.flags&flagSkipHW != 0 {
			return
		}
		rule := n.rule(offload.U32)
		if !add {
			if hw.Destroy(n.cookie) == nil {
				s.leftHardware(&n.filterBase, 1)
			}
			return
		}
		if err := hw.Replace(rule); err != nil {
			if n.flags&flagSkipSW != 0 {
				failed = driverError(err)
			}
			return
		}
		s.addToHardware(&n.filterBase, rule, 1)
	})
	return failed
}
