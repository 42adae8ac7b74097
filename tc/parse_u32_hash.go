package tc

// parseOffset reads "[plus N] [at O] [mask M] [shift S] [eat]".
func (o *u32Options) parseOffset(w *words) *ToolError {
	for w.more() {
		name := w.peek()
		if prefix(name, "eat") {
			o.offset.eat = true
			w.skip()
			continue
		}
		if !w.matches("plus", "at", "mask", "shift") {
			return nil
		}
		text, err := w.value()
		if err != nil {
			return err
		}
		ok := false
		switch {
		case prefix(name, "plus"):
			o.offset.fixed, ok = number16(text, 0)
			o.offset.set = true
		case prefix(name, "at"):
			o.offset.at, ok = signed(text)
			if ok && o.offset.at%2 != 0 {
				ok = false
			}
			o.offset.variable = true
		case prefix(name, "mask"):
			o.offset.mask, ok = number16(text, 16)
			o.offset.variable = true
		default:
			o.offset.shift, ok = number8(text, 0)
			o.offset.variable = true
		}
		if !ok {
			return bad()
		}
	}
	return nil
}

// parseHash reads "mask M at O".
func (o *u32Options) parseHash(w *words) *ToolError {
	for w.more() {
		name := w.peek()
		if !w.is("mask") && !w.is("at") {
			return nil
		}
		text, err := w.value()
		if err != nil {
			return err
		}
		ok := false
		if name == "mask" {
			o.hashMask, ok = number32(text, 16)
		} else {
			o.hashOff, ok = signed(text)
			ok = ok && o.hashOff%4 == 0
		}
		if !ok {
			return bad()
		}
		o.hasHash = true
	}
	return nil
}

// parseSample computes the bucket of a sample value.
func (o *u32Options) parseSample(w *words) *ToolError {
	var k u32Options
	if err := k.match(w); err != nil {
		return illegal(plain(err), "sample")
	}
	if len(k.keys) != 1 {
		return tool("\"sample\" must contain exactly ONE key.")
	}
	divisor := uint32(0x100)
	if w.is("divisor") {
		text, err := w.value()
		if err != nil {
			return err
		}
		n, ok := number32(text, 0)
		if !ok || n == 0 || n > 0x100 || n&(n-1) != 0 {
			return tool(`Illegal sample "divisor"`)
		}
		divisor = n
	}
	key := k.keys[0]
	hash := key.value & key.mask >> hashShift(key.mask)
	o.ht, o.hasHT = o.ht&0xfff00000|hash%divisor<<12, true
	return nil
}
