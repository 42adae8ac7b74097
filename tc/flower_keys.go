package tc

import (
	"encoding/binary"
	"syscall"

	"verdict/offload"
	"verdict/packet"
)

// flowerAttr is one field as a command gives it.
type flowerAttr struct {
	field       offload.Field
	value, mask []byte
}

// flowerOptions are flower's words.
type flowerOptions struct {
	ethType  uint16 // 0: all protocols
	indev    string
	attrs    []flowerAttr
	addrType byte // of src_ip and dst_ip
	encType  byte
	lse      []mplsEntry
	hwTC     int16
	ready    *flowerReady // computed in advance
}

// mplsEntry is "mpls lse depth N …".
type mplsEntry struct {
	depth               int
	label, tc, bos, ttl int // -1: not given
}

// put remembers a field; the last word on it counts.
func (o *flowerOptions) put(f offload.Field, value, mask []byte) {
	for i := range o.attrs {
		if o.attrs[i].field.Off == f.Off {
			o.attrs[i] = flowerAttr{f, value, mask}
			return
		}
	}
	o.attrs = append(o.attrs, flowerAttr{f, value, mask})
}

func (o *flowerOptions) attr(f offload.Field) *flowerAttr {
	for i := range o.attrs {
		if o.attrs[i].field.Off == f.Off {
			return &o.attrs[i]
		}
	}
	return nil
}

// keySetter writes fields into a filter's key and mask.
type keySetter struct {
	o         *flowerOptions
	key, mask *offload.Key
}

// set copies fields that were given.
func (k *keySetter) set(fields ...offload.Field) {
	for _, f := range fields {
		if a := k.o.attr(f); a != nil {
			copy(k.key.Get(f), a.value)
			copy(k.mask.Get(f), a.mask)
		}
	}
}

// fix writes a two-byte field with a full mask.
func (k *keySetter) fix(f offload.Field, v uint16) {
	binary.BigEndian.PutUint16(k.key.Get(f), v)
	binary.BigEndian.PutUint16(k.mask.Get(f), 0xffff)
}

func (k *keySetter) nProto() uint16 { return binary.BigEndian.Uint16(k.key.Get(offload.FieldNProto)) }

// keys fills key and mask. Fields whose outer fields were not given are
// silently ignored, as the kernel does.
//
// Ref: cls_flower.c, fl_set_key
func (o *flowerOptions) keys(s *System, key, mask *offload.Key) *KernelError {
	k := &keySetter{o: o, key: key, mask: mask}
	if o.indev != "" {
		index, err := s.indevOf(o.indev)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(key.Get(offload.FieldIIF), index)
		binary.LittleEndian.PutUint32(mask.Get(offload.FieldIIF), 0xffffffff)
	}
	k.set(offload.FieldL2Miss, offload.FieldEthDst, offload.FieldEthSrc, offload.FieldNumVLAN)
	k.setVLAN()
	if k.nProto() == packet.TypePPPoES {
		k.setPPPoE()
	}
	if p := k.nProto(); p == packet.TypeIPv4 || p == packet.TypeIPv6 {
		k.set(offload.FieldIPProto, offload.FieldTOS, offload.FieldTTL)
	}
	if o.addrType != 0 {
		key.Get(offload.FieldAddrType)[0], mask.Get(offload.FieldAddrType)[0] = o.addrType, 0xff
		k.set(offload.FieldSrc, offload.FieldDst)
	}
	if err := k.setTransport(); err != nil {
		return err
	}
	k.setLower()
	k.setTunnel()
	if err := k.setCT(); err != nil {
		return err
	}
	k.set(offload.FieldFlags, offload.FieldEncFlags, offload.FieldHash)
	return nil
}

// setVLAN sets the tags and the protocol behind them.
//
// Ref: cls_flower.c, is_vlan_key, fl_set_key_vlan
func (k *keySetter) setVLAN() {
	tags := int(k.key.Get(offload.FieldNumVLAN)[0])
	typ := k.o.ethType
	if !k.isVLAN(typ, tags > 0) {
		return
	}
	k.set(offload.FieldVLANID, offload.FieldVLANPrio)
	if typ != 0 {
		k.fix(offload.FieldVLANTPID, typ)
	}
	next := uint16(0)
	if a := k.o.attr(offload.FieldVLANType); a != nil {
		k.set(offload.FieldVLANType)
		next = binary.BigEndian.Uint16(a.value)
	}
	if !k.isVLAN(next, tags > 1) {
		return
	}
	k.set(offload.FieldCVLANID, offload.FieldCVLANPrio)
	if next != 0 {
		k.fix(offload.FieldCVLANTPID, next)
	}
	if a := k.o.attr(offload.FieldCVLANType); a != nil {
		k.set(offload.FieldCVLANType)
		k.fix(offload.FieldNProto, binary.BigEndian.Uint16(a.value))
	}
}

// isVLAN tells whether keys of a tag are honoured; a type that is no tag's is
// the packet's protocol.
func (k *keySetter) isVLAN(typ uint16, enough bool) bool {
	if typ == 0 {
		return enough
	}
	if enough || isVLAN(typ) {
		return true
	}
	k.fix(offload.FieldNProto, typ)
	return false
}

func (k *keySetter) setPPPoE() {
	k.fix(offload.FieldPPPoEType, packet.TypePPPoES)
	k.set(offload.FieldPPPoESID, offload.FieldPPPProto)
	switch a := k.o.attr(offload.FieldPPPProto); {
	case a == nil:
		clear(k.key.Get(offload.FieldNProto))
		clear(k.mask.Get(offload.FieldNProto))
	case binary.BigEndian.Uint16(a.value) == 0x21:
		k.fix(offload.FieldNProto, packet.TypeIPv4)
	case binary.BigEndian.Uint16(a.value) == 0x57:
		k.fix(offload.FieldNProto, packet.TypeIPv6)
	}
}

// setTransport sets what depends on the transport protocol.
func (k *keySetter) setTransport() *KernelError {
	proto := k.key.Get(offload.FieldIPProto)[0]
	net := k.nProto()
	switch proto {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP:
		k.set(offload.FieldSrcPort, offload.FieldDstPort, offload.FieldRangeSrcMin, offload.FieldRangeSrcMax,
			offload.FieldRangeDstMin, offload.FieldRangeDstMax)
		if err := k.checkRange(offload.FieldRangeDstMin, offload.FieldRangeDstMax, "destination"); err != nil {
			return err
		}
		if err := k.checkRange(offload.FieldRangeSrcMin, offload.FieldRangeSrcMax, "source"); err != nil {
			return err
		}
		if proto == packet.ProtoTCP {
			k.set(offload.FieldTCPFlags)
		}
	case packet.ProtoICMP:
		if net == packet.TypeIPv4 {
			k.set(offload.FieldICMPType, offload.FieldICMPCode)
		}
	case packet.ProtoICMPv6:
		if net == packet.TypeIPv6 {
			k.set(offload.FieldICMPType, offload.FieldICMPCode)
		}
	case protoL2TP:
		k.set(offload.FieldL2TPv3SID)
	case packet.ProtoESP, packet.ProtoAH:
		k.set(offload.FieldSPI)
		return nil
	}
	if k.o.attr(offload.FieldSPI) != nil {
		return refuse(syscall.EINVAL, "Protocol must be either ESP or AH")
	}
	return nil
}

func (k *keySetter) checkRange(low, high offload.Field, name string) *KernelError {
	a, b := k.mask.IsSet(low), k.mask.IsSet(high)
	if a != b {
		return refuse(syscall.EINVAL, "Both min and max %s ports must be specified", name)
	}
	if a && binary.BigEndian.Uint16(k.key.Get(high)) <= binary.BigEndian.Uint16(k.key.Get(low)) {
		return refuse(syscall.EINVAL, "Invalid %s port range (min must be strictly smaller than max)", name)
	}
	return nil
}

// setLower sets what depends on the network protocol.
func (k *keySetter) setLower() {
	switch k.nProto() {
	case packet.TypeMPLS, packet.TypeMPLSMC:
		k.setMPLS()
	case packet.TypeARP, typeRARP:
		k.set(offload.FieldARPSIP, offload.FieldARPTIP, offload.FieldARPOp, offload.FieldARPSHA, offload.FieldARPTHA)
	case typeCFM:
		k.set(offload.FieldCFMMdl, offload.FieldCFMOp)
	}
}

func (k *keySetter) setMPLS() {
	k.set(offload.FieldMPLS)
	key, mask := k.key.Get(offload.FieldMPLS), k.mask.Get(offload.FieldMPLS)
	for _, e := range k.o.lse {
		at := 4 * (e.depth - 1)
		v, m := e.words()
		binary.BigEndian.PutUint32(key[at:], binary.BigEndian.Uint32(key[at:])&^m|v)
		binary.BigEndian.PutUint32(mask[at:], binary.BigEndian.Uint32(mask[at:])|m)
		k.key.Get(offload.FieldMPLSUsed)[0] |= 1 << (e.depth - 1)
		k.mask.Get(offload.FieldMPLSUsed)[0] |= 1 << (e.depth - 1)
	}
	if k.o.attr(offload.FieldMPLS) != nil {
		k.key.Get(offload.FieldMPLSUsed)[0] |= 1
		k.mask.Get(offload.FieldMPLSUsed)[0] |= 1
	}
}

// words are an entry's value and mask as a label stack entry.
func (e mplsEntry) words() (v, m uint32) {
	add := func(n, shift int, bits uint32) {
		if n >= 0 {
			v |= uint32(n) << shift
			m |= bits << shift
		}
	}
	add(e.label, 12, 0xfffff)
	add(e.tc, 9, 7)
	add(e.bos, 8, 1)
	add(e.ttl, 0, 0xff)
	return v, m
}

func (k *keySetter) setTunnel() {
	if t := k.o.encType; t != 0 {
		k.key.Get(offload.FieldEncAddrType)[0], k.mask.Get(offload.FieldEncAddrType)[0] = t, 0xff
	}
	k.set(offload.FieldEncSrc, offload.FieldEncDst, offload.FieldEncKeyID, offload.FieldEncSrcPort, offload.FieldEncDstPort,
		offload.FieldEncTOS, offload.FieldEncTTL, offload.FieldEncOpt, offload.FieldEncOptKind, offload.FieldEncOptLen)
}

// setCT sets the fields of the connection, whose states must go together.
//
// Ref: cls_flower.c, fl_validate_ct_state
func (k *keySetter) setCT() *KernelError {
	k.set(offload.FieldCTState, offload.FieldCTZone, offload.FieldCTMark, offload.FieldCTLabels)
	state := binary.LittleEndian.Uint16(k.key.Get(offload.FieldCTState)) & binary.LittleEndian.Uint16(k.mask.Get(offload.FieldCTState))
	switch {
	case state != 0 && state&ctTracked == 0:
		return refuse(syscall.EINVAL, "no trk, so no other flag can be set")
	case state&ctNew != 0 && state&ctEstablished != 0:
		return refuse(syscall.EINVAL, "new and est are mutually exclusive")
	case state&ctInvalid != 0 && state&^(ctTracked|ctInvalid) != 0:
		return refuse(syscall.EINVAL, "when inv is set, only trk may be set")
	case state&ctNew != 0 && state&ctReply != 0:
		return refuse(syscall.EINVAL, "new and rpl are mutually exclusive")
	}
	return nil
}
