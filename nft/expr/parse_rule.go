package expr

import "verdict/catalog"

// completeRule gives the constants of a rule that was read from text their
// byte order, and operations the lengths that text does not show, by
// following the values through the registers.
func completeRule(rule []Expr, opts *TextOptions) {
	t := tracer{opts: opts}
	for _, e := range rule {
		t.step(e)
	}
}

// tracer knows of each word of the register file what wrote it last.
type tracer struct {
	opts   *TextOptions
	words  [FileSize / 4]origin
	dccp   bool // meta l4proto was compared with DCCP
	l4word int  // first word that holds meta l4proto, 0 if none
}

// origin is what is known of the value in a register.
type origin struct {
	host    bool
	known   bool
	length  uint32     // of the value that starts here
	pending *Immediate // constant whose order the first use decides
}

const protoDCCP = 33

func (t *tracer) at(r Reg) *origin {
	off := r.Offset()
	if off < 0 {
		off = 0
	}
	return &t.words[off/4]
}

// written notes a value of length bytes in a register.
func (t *tracer) written(r Reg, length uint32, o origin) {
	first := r.Offset() / 4
	if r.Offset() < 0 || r == RegVerdict {
		return
	}
	o.length = length
	for w := first; w < len(t.words) && uint32(w-first)*4 < max(length, 1); w++ {
		t.words[w] = o
		o.length, o.pending = 0, nil
	}
	if t.l4word >= first && uint32(t.l4word-first)*4 < length {
		t.l4word = 0
	}
}

// used says that a value of a known order is read from a register, which
// decides the order of a constant in it.
func (t *tracer) used(r Reg, host bool) {
	o := t.at(r)
	if o.pending != nil && host && !t.opts.Memory {
		setHost(&o.pending.Data.Value)
	}
	o.host, o.known, o.pending = host, true, nil
}

// follow gives constants that meet a register the order of what is in it.
func (t *tracer) follow(r Reg, values ...*Value) {
	if !t.at(r).host || t.opts.Memory {
		return
	}
	for _, v := range values {
		setHost(v)
	}
}

// setHost turns a constant read in the order of text into the same number in
// host order.
func setHost(v *Value) {
	if v.Host || len(v.Bytes) < 2 {
		v.Host = true
		return
	}
	for i, j := 0, len(v.Bytes)-1; i < j; i, j = i+1, j-1 {
		v.Bytes[i], v.Bytes[j] = v.Bytes[j], v.Bytes[i]
	}
	v.Host = true
}

func hostKey(k *catalog.Key) bool { return k != nil && k.Order == catalog.OrderHost }

func (t *tracer) step(e Expr) {
	switch e := e.(type) {
	case *Immediate:
		t.written(e.Dst, uint32(len(e.Data.Value.Bytes)), origin{pending: e})
	case *Cmp:
		t.follow(e.Src, &e.Value)
		if off := e.Src.Offset(); t.l4word != 0 && off/4 == t.l4word && e.Op == CmpEq && len(e.Value.Bytes) == 1 {
			t.dccp = e.Value.Bytes[0] == protoDCCP
		}
	case *Range:
		t.follow(e.Src, &e.From, &e.To)
	case *Bitwise:
		t.bitwise(e)
	case *Byteorder:
		t.written(e.Dst, e.Len, origin{host: e.ToHost, known: true})
	case *Payload:
		t.memory(e.Write, e.Src, e.Dst, e.Len)
	case *Exthdr:
		if e.Op == ExthdrSCTP && t.dccp && !e.Write && !e.Strip {
			e.Op = ExthdrDCCP
		}
		if !e.Strip {
			t.memory(e.Write, e.Src, e.Dst, e.Len)
		}
	case *Meta:
		t.key(e.Key, e.Set, e.Src, e.Dst, keyLen(e.Key))
		if !e.Set && e.Key != nil && e.Key.Number == metaL4Proto {
			t.l4word = e.Dst.Offset() / 4
		}
	case *CT:
		t.key(e.Key, e.Set, e.Src, e.Dst, e.keyLen(&Place{}))
	case *RT:
		t.key(e.Key, false, 0, e.Dst, keyLen(e.Key))
	case *Socket:
		t.key(e.Key, false, 0, e.Dst, keyLen(e.Key))
	case *Tunnel:
		t.key(e.Key, false, 0, e.Dst, keyLen(e.Key))
	case *XFRM:
		t.key(e.Key, false, 0, e.Dst, keyLen(e.Key))
	case *Inner:
		t.step(e.Expr)
	case *Fib:
		t.written(e.Dst, e.length(), origin{host: e.Result != FibResultOifname, known: true})
	case *Numgen:
		t.written(e.Dst, 4, origin{host: true, known: true})
	case *Hash:
		t.written(e.Dst, 4, origin{host: true, known: true})
	case *OSF:
		t.written(e.Dst, osfLen, origin{known: true})
	case *Lookup:
		t.lookup(e)
	case *Dynset:
		key, data := t.fields(e.Set)
		t.usedFields(e.Key, key)
		if e.HasData {
			t.usedFields(e.Data, data)
		}
	case *Queue:
		if e.HasSrc {
			t.used(e.Src, true)
		}
	case *Dup:
		if e.HasDev {
			t.used(e.Dev, true)
		}
	case *Fwd:
		t.used(e.Dev, true)
	}
}

// memory is a load from the packet, or a write to it.
func (t *tracer) memory(write bool, src, dst Reg, length uint32) {
	if write {
		t.used(src, false)
		return
	}
	t.written(dst, length, origin{known: true})
}

func (t *tracer) key(k *catalog.Key, set bool, src, dst Reg, length uint32) {
	if set {
		t.used(src, hostKey(k))
		return
	}
	t.written(dst, length, origin{host: hostKey(k), known: true})
}

func (t *tracer) bitwise(e *Bitwise) {
	src := *t.at(e.Src)
	if e.HasSrc2 && !src.known && t.at(e.Src2).known {
		t.used(e.Src, t.at(e.Src2).host)
		src = *t.at(e.Src)
	}
	switch {
	case e.Op == BitwiseMaskXor:
		t.follow(e.Src, &e.Mask, &e.Xor)
	case e.HasSrc2:
		t.used(e.Src2, src.host)
	case e.Op == BitwiseLshift || e.Op == BitwiseRshift:
	default:
		t.follow(e.Src, &e.Data)
	}
	hidden := e.HasSrc2 || e.Op == BitwiseLshift || e.Op == BitwiseRshift
	if hidden && src.length != 0 {
		e.Len = src.length
	}
	src.pending = nil
	t.written(e.Dst, e.Len, src)
}

func (t *tracer) fields(set string) (key, data []ElementField) {
	if t.opts.SetFields == nil {
		return nil, nil
	}
	return t.opts.SetFields(set)
}

func (t *tracer) lookup(e *Lookup) {
	key, data := t.fields(e.Set)
	t.usedFields(e.Src, key)
	if !e.HasDst || e.Dst == RegVerdict || e.Dst.Offset() < 0 {
		return
	}
	if data == nil {
		t.written(e.Dst, 4, origin{})
		return
	}
	word := e.Dst.Offset() / 4
	for _, f := range data {
		if r, ok := wordReg(word); ok {
			t.written(r, uint32(f.Len), origin{host: f.Host, known: true})
		}
		word += (f.Len + 3) / 4
	}
}

// usedFields says that the parts of a concatenation are read.
func (t *tracer) usedFields(r Reg, fields []ElementField) {
	if r.Offset() < 0 {
		return
	}
	word := r.Offset() / 4
	for _, f := range fields {
		if r, ok := wordReg(word); ok {
			t.used(r, f.Host)
		}
		word += (f.Len + 3) / 4
	}
}

// wordReg is the 4-byte register at a word of the register file.
func wordReg(word int) (Reg, bool) {
	r := Reg32_00 + Reg(word-4)
	return r, word >= 4 && r <= Reg32_15
}

// eachConstant visits the constants of an expression.
func eachConstant(e Expr, visit func(v *Value)) {
	switch e := e.(type) {
	case *Immediate:
		visit(&e.Data.Value)
	case *Cmp:
		visit(&e.Value)
	case *Range:
		visit(&e.From)
		visit(&e.To)
	case *Bitwise:
		visit(&e.Mask)
		visit(&e.Xor)
		visit(&e.Data)
	}
}
