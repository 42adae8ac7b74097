package packet

// IPv4 option types that exthdr finds.
//
// Ref: RFC 791 §3.1, RFC 2113
const (
	OptionEnd  = 0
	OptionNOP  = 1
	OptionRR   = 7   // record route
	OptionTS   = 68  // internet timestamp
	OptionLSRR = 131 // loose source and record route
	OptionRA   = 148 // router alert
	OptionSSRR = 137 // strict source and record route
)

// FindIPv4 finds an IPv4 option (OptionSSRR, OptionLSRR, OptionRR or
// OptionRA) and returns the offset of its type byte. The whole option area
// must be well-formed, else the option is absent. For a packet that is not
// IPv4 the rule breaks: FoundBreak.
//
// Ref: nft_exthdr.c, ipv4_find_option; ip_options.c, __ip_options_compile
func (v *View) FindIPv4(option uint8) (off int, found Found) {
	if v.EtherType != TypeIPv4 {
		return 0, FoundBreak
	}
	h, result := v.span(v.NetOff, 20)
	if result != OK {
		return 0, missing(result)
	}
	length := int(h[0]&0xf)*4 - 20
	if length <= 0 {
		return 0, Absent
	}
	area, result := v.span(v.NetOff+20, length)
	if result != OK {
		return 0, missing(result)
	}
	var options ipv4Options
	if !options.parse(area) {
		return 0, Absent
	}
	at := -1
	switch option {
	case OptionSSRR, OptionLSRR:
		if options.sourceRoute >= 0 && area[options.sourceRoute] == option {
			at = options.sourceRoute
		}
	case OptionRR:
		at = options.recordRoute
	case OptionRA:
		at = options.routerAlert
	}
	if at < 0 {
		return 0, Absent
	}
	return v.NetOff + 20 + at, Present
}

// ipv4Options holds the offsets of options in the option area, -1 if absent.
type ipv4Options struct {
	sourceRoute, recordRoute, timestamp, routerAlert int
}

// parse checks the option area the way the kernel does for options that no
// received packet has set, and reports whether it is well-formed.
func (o *ipv4Options) parse(area []byte) bool {
	*o = ipv4Options{-1, -1, -1, -1}
	for at := 0; at < len(area); {
		switch area[at] {
		case OptionEnd:
			return true
		case OptionNOP:
			at++
			continue
		}
		if len(area)-at < 2 {
			return false
		}
		length := int(area[at+1])
		if length < 2 || length > len(area)-at {
			return false
		}
		if !o.accept(area[at:at+length], at) {
			return false
		}
		at += length
	}
	return true
}

// accept checks one option that starts at offset at of the area.
func (o *ipv4Options) accept(option []byte, at int) bool {
	switch option[0] {
	case OptionSSRR, OptionLSRR:
		ok := o.sourceRoute < 0 && validSourceRoute(option)
		o.sourceRoute = at
		return ok
	case OptionRR:
		ok := o.recordRoute < 0 && validRecordRoute(option)
		o.recordRoute = at
		return ok
	case OptionTS:
		ok := o.timestamp < 0 && validTimestamp(option)
		o.timestamp = at
		return ok
	case OptionRA:
		if len(option) < 4 {
			return false
		}
		if option[2] == 0 && option[3] == 0 {
			o.routerAlert = at
		}
	}
	return true
}

// validSourceRoute wants a route that is still at its beginning: pointer 4
// and a whole number of addresses, at least one.
func validSourceRoute(option []byte) bool {
	return len(option) >= 7 && option[2] == 4 && (len(option)-3)%4 == 0
}

// validRecordRoute wants a full route, or room for one more address.
func validRecordRoute(option []byte) bool {
	if len(option) < 3 || option[2] < 4 {
		return false
	}
	pointer := int(option[2])
	return pointer > len(option) || pointer+3 <= len(option)
}

// validTimestamp wants room for one more entry, or an overflow counter that
// still can count.
func validTimestamp(option []byte) bool {
	const onlyTimestamps, prespecified = 0, 3
	if len(option) < 4 || option[2] < 5 {
		return false
	}
	pointer, flag := int(option[2]), option[3]&0xf
	switch {
	case pointer > len(option):
		return flag == prespecified || option[3]>>4 != 15
	case pointer+3 > len(option):
		return false
	case flag == onlyTimestamps:
		return true
	}
	// With addresses an entry takes eight bytes. Other flags are for
	// privileged senders, as the kernel itself is.
	return flag != 1 && flag != prespecified || pointer+7 <= len(option)
}
