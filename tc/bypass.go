package tc

// countChange keeps the counts of both generations after a successful change.
//
// Ref: cls_api.c, tcf_proto_count_usesw; tcf_block_filter_cnt_update
func (s *System) countChange(i *Instance) {
	b := i.chain.block
	if i.useSW && !i.counted {
		i.counted = true
		if b.useSWCount++; b.useSWCount == 1 {
			s.needSW++
		}
	}
	if !i.countedV1 {
		i.countedV1 = true
		b.filterCount++
	}
	s.recountV1(b)
}

// uncount takes an instance out of the counts.
func (s *System) uncount(i *Instance) {
	b := i.chain.block
	if i.counted {
		i.counted = false
		if b.useSWCount--; b.useSWCount == 0 {
			s.needSW--
		}
	}
	if i.countedV1 {
		i.countedV1 = false
		b.filterCount--
	}
	s.recountV1(b)
}

// recountV1 evaluates the first generation's condition. The count of the
// system moves only when it changes.
func (s *System) recountV1(b *Block) {
	wants := b.filterCount > 0 && b.filterCount == b.skipSWCount
	if wants == b.wantsBypass {
		return
	}
	b.wantsBypass = wants
	if wants {
		s.wantBypass++
	} else {
		s.wantBypass--
	}
}

// needsSoftware updates an instance after a filter was added or changed:
// only filters that are skip_sw and in hardware need none.
//
// Ref: cls_api.c, tcf_proto_update_usesw
func (i *Instance) needsSoftware(flags uint32) {
	if flags&flagSkipSW == 0 || flags&flagInHW == 0 {
		i.useSW = true
	}
}

// bypassed tells whether a block's filters are not asked at all.
//
// Ref: dev.c, tc_run
func (s *System) bypassed(b *Block) bool {
	switch s.Bypass {
	case BypassRefined:
		return s.needSW == 0 || b.useSWCount == 0
	case BypassFirst:
		return s.wantBypass > 0 && b.wantsBypass
	}
	return false
}
