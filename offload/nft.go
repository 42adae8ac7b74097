package offload

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/packet"
)

// maxNFTActions bounds the actions of one rule.
//
// Ref: nf_flow_table.h, NF_FLOW_RULE_ACTION_MAX
const maxNFTActions = 24

// NFTRule is what a rule of an nftables chain with the offload flag becomes.
type NFTRule struct {
	Match   Match
	Actions []Action
	// Counted says that the rule has a counter, which hardware keeps.
	Counted bool
}

// TranslateNFT translates the expressions of a rule as the kernel does when the
// rule is added. device names an interface by its index. The error is a
// *Refusal with the kernel's errno, whose Reason names the expression.
//
// A device name of "" is none. No device may be given: then indexes stand for
// names.
//
// Ref: nf_tables_offload.c, nft_flow_rule_create
func TranslateNFT(rule []expr.Expr, device func(index uint32) string) (*NFTRule, error) {
	t := &nftTranslation{rule: &NFTRule{Match: Match{Key: new(Key), Mask: new(Key)}}, device: device}
	for _, e := range rule {
		if err := t.expr(e); err != nil {
			return nil, err
		}
	}
	if len(t.rule.Actions) == 0 {
		return nil, unsupported("the rule has no action")
	}
	if len(t.rule.Actions) > maxNFTActions {
		return nil, unsupported("the rule has more than %d actions", maxNFTActions)
	}
	t.rotate()
	return t.rule, nil
}

func unsupported(format string, args ...any) error {
	return &Refusal{Errno: syscall.EOPNOTSUPP, Driver: "nft", Reason: fmt.Sprintf(format, args...)}
}

// NFTChain is what the kernel checks of a chain with the offload flag.
type NFTChain struct {
	Netdev, Ingress bool
	Priority        int32
}

// CheckNFTChain makes the checks of a chain that come before its devices:
// family, hook and priority. The error is a *Refusal with EOPNOTSUPP.
//
// Ref: nf_tables_offload.c, nft_chain_offload_support
func CheckNFTChain(c NFTChain) error {
	switch {
	case !c.Netdev || !c.Ingress:
		return unsupported("only base chains of netdev ingress can be offloaded")
	case c.Priority < 1 || c.Priority > 65535:
		return unsupported("the priority of an offloaded chain is 1 to 65535, not %d", c.Priority)
	}
	return nil
}

// nftRegister is what a register holds: a field of the packet, or a constant.
type nftRegister struct {
	set    bool
	fields []nftPart
	length int
	mask   []byte
	data   []byte
	ether  bool // the interface's type
}

// nftPart is where bytes of a register go.
type nftPart struct {
	field Field
	id    KeyID
	put   func(k *Key, b []byte) bool
}

// dependency is what the next comparison settles.
type dependency uint8

const (
	dependsNothing dependency = iota
	dependsNetwork
	dependsTransport
)

type nftTranslation struct {
	rule     *NFTRule
	device   func(uint32) string
	regs     map[expr.Reg]*nftRegister
	pending  dependency
	network  uint16
	protocol uint8
}

func (t *nftTranslation) expr(e expr.Expr) error {
	if t.regs == nil {
		t.regs = map[expr.Reg]*nftRegister{}
	}
	switch x := e.(type) {
	case *expr.Payload:
		return t.payload(x)
	case *expr.Bitwise:
		return t.bitwise(x)
	case *expr.Cmp:
		return t.cmp(x)
	case *expr.Meta:
		return t.meta(x)
	case *expr.Immediate:
		return t.immediate(x)
	case *expr.Counter:
		t.rule.Counted = true
		return nil
	case *expr.Fwd:
		return t.send(ActRedirect, x.Dev, !x.HasAddr, e.Kind())
	case *expr.Dup:
		return t.send(ActMirror, x.Dev, x.HasDev && !x.HasAddr, e.Kind())
	}
	return unsupported("%s cannot be offloaded", e.Kind())
}

// load makes a register hold a field of n bytes, of which the load takes the
// first.
func (t *nftTranslation) load(reg expr.Reg, n, length int, parts ...nftPart) error {
	if n > length {
		return unsupported("payload: a load of %d bytes is longer than the field", n)
	}
	mask := make([]byte, length)
	for i := range n {
		mask[i] = 0xff
	}
	t.regs[reg] = &nftRegister{set: true, fields: parts, length: length, mask: mask}
	return nil
}

// plain is a part that copies its bytes.
func plain(f Field, id KeyID) nftPart {
	return nftPart{field: f, id: id, put: func(k *Key, b []byte) bool {
		copy(k.Get(f), b)
		return true
	}}
}

// tagPart is the control information of a tag: priority and number. The bit
// between them has no field.
func tagPart(vid, prio Field, id KeyID) nftPart {
	return nftPart{field: vid, id: id, put: func(k *Key, b []byte) bool {
		n := binary.BigEndian.Uint16(b)
		binary.BigEndian.PutUint16(k.Get(vid), n&0xfff)
		k.Get(prio)[0] = byte(n >> 13)
		return n&0x1000 == 0
	}}
}

// payload translates loads of known fields.
//
// Ref: nft_payload.c, nft_payload_offload
func (t *nftTranslation) payload(x *expr.Payload) error {
	n := int(x.Len)
	no := func() error { return unsupported("payload: %s + %d cannot be offloaded", x.Base, x.Offset) }
	if x.Write {
		return unsupported("payload: setting fields cannot be offloaded")
	}
	switch x.Base {
	case catalog.BaseLink:
		return t.link(x, n, no)
	case catalog.BaseNetwork:
		return t.networkHeader(x, n, no)
	case catalog.BaseTransport:
		if t.protocol != 6 && t.protocol != 17 {
			return unsupported("payload: ports need the protocol tcp or udp before them")
		}
		switch x.Offset {
		case 0:
			return t.load(x.Dst, n, 2, plain(FieldSrcPort, KeyPorts))
		case 2:
			return t.load(x.Dst, n, 2, plain(FieldDstPort, KeyPorts))
		}
	}
	return no()
}

func (t *nftTranslation) link(x *expr.Payload, n int, no func() error) error {
	switch x.Offset {
	case 0:
		return t.load(x.Dst, n, 6, plain(FieldEthDst, KeyEth))
	case 6:
		return t.load(x.Dst, n, 6, plain(FieldEthSrc, KeyEth))
	case 12:
		t.pending = dependsNetwork
		return t.whole(x, n, 2, plain(FieldNProto, KeyBasic))
	case 14:
		return t.load(x.Dst, n, 2, tagPart(FieldVLANID, FieldVLANPrio, KeyVLAN))
	case 16:
		t.pending = dependsNetwork
		return t.whole(x, n, 2, plain(FieldVLANTPID, KeyVLAN))
	case 18:
		return t.load(x.Dst, n, 2, tagPart(FieldCVLANID, FieldCVLANPrio, KeyCVLAN))
	case 20:
		t.pending = dependsNetwork
		return t.whole(x, n, 2, plain(FieldCVLANTPID, KeyCVLAN))
	}
	return no()
}

// whole is a load that must take all of a field.
func (t *nftTranslation) whole(x *expr.Payload, n, length int, parts ...nftPart) error {
	if n != length {
		return unsupported("payload: %s + %d must be loaded whole", x.Base, x.Offset)
	}
	return t.load(x.Dst, n, length, parts...)
}

func (t *nftTranslation) networkHeader(x *expr.Payload, n int, no func() error) error {
	switch t.network {
	case 0x0800:
		switch x.Offset {
		case 12:
			return t.load(x.Dst, n, 4, plain(FieldSrc, KeyIPv4))
		case 16:
			return t.load(x.Dst, n, 4, plain(FieldDst, KeyIPv4))
		case 9:
			t.pending = dependsTransport
			return t.whole(x, n, 1, plain(FieldIPProto, KeyBasic))
		}
	case 0x86dd:
		switch x.Offset {
		case 8:
			return t.load(x.Dst, n, 16, plain(FieldSrc, KeyIPv6))
		case 24:
			return t.load(x.Dst, n, 16, plain(FieldDst, KeyIPv6))
		case 6:
			t.pending = dependsTransport
			return t.whole(x, n, 1, plain(FieldIPProto, KeyBasic))
		}
	default:
		return unsupported("payload: the network header needs its protocol before it")
	}
	return no()
}

// bitwise narrows a register's mask.
//
// Ref: nft_bitwise.c, nft_bitwise_offload
func (t *nftTranslation) bitwise(x *expr.Bitwise) error {
	r := t.regs[x.Src]
	switch {
	case x.Op != expr.BitwiseMaskXor || x.Src != x.Dst || r == nil || int(x.Len) != r.length:
		return unsupported("bitwise: this form cannot be offloaded")
	}
	for _, b := range x.Xor.Bytes {
		if b != 0 {
			return unsupported("bitwise: an exclusive-or cannot be offloaded")
		}
	}
	r.mask = append([]byte(nil), x.Mask.Bytes...)
	return nil
}

// cmp enters value and mask, and settles what later loads depend on.
//
// Ref: nft_cmp.c, __nft_cmp_offload
func (t *nftTranslation) cmp(x *expr.Cmp) error {
	r := t.regs[x.Src]
	if x.Op != expr.CmpEq || r == nil || len(r.fields) == 0 || len(x.Value.Bytes) > r.length {
		return unsupported("cmp: only equality with a field can be offloaded")
	}
	if r.ether {
		if len(x.Value.Bytes) < 2 || binary.LittleEndian.Uint16(x.Value.Bytes) != 1 {
			return unsupported("meta iiftype: only ether can be offloaded")
		}
		return nil
	}
	value := make([]byte, r.length)
	copy(value, x.Value.Bytes)
	for _, p := range r.fields {
		if !p.put(t.rule.Match.Key, value) || !p.put(t.rule.Match.Mask, r.mask) {
			return unsupported("payload: the drop eligible bit of a tag cannot be offloaded")
		}
		t.rule.Match.Used |= 1 << p.id
		t.addressType(p.id)
	}
	switch t.pending {
	case dependsNetwork:
		t.network = binary.BigEndian.Uint16(value)
	case dependsTransport:
		t.protocol = value[0]
	}
	t.pending = dependsNothing
	return nil
}

// addressType sets what the addresses are.
func (t *nftTranslation) addressType(id KeyID) {
	typ := map[KeyID]byte{KeyIPv4: AddrIPv4, KeyIPv6: AddrIPv6}[id]
	if typ == 0 {
		return
	}
	t.rule.Match.Key.Get(FieldAddrType)[0] = typ
	t.rule.Match.Mask.Get(FieldAddrType)[0] = 0xff
	t.rule.Match.Used |= 1 << KeyControl
}

// meta translates the keys that hardware knows.
//
// Ref: nft_meta.c, nft_meta_get_offload
func (t *nftTranslation) meta(x *expr.Meta) error {
	if !x.Set {
		switch x.Key.Name {
		case "protocol":
			t.pending = dependsNetwork
			return t.load(x.Dst, 2, 2, plain(FieldNProto, KeyBasic))
		case "l4proto":
			t.pending = dependsTransport
			return t.load(x.Dst, 1, 1, plain(FieldIPProto, KeyBasic))
		case "iif":
			return t.load(x.Dst, 4, 4, plain(FieldIIF, KeyMeta))
		case "iiftype":
			if err := t.load(x.Dst, 2, 2, plain(FieldIIF, KeyMeta)); err != nil {
				return err
			}
			t.regs[x.Dst].ether = true
			return nil
		}
	}
	return unsupported("meta %s cannot be offloaded", x.Key.Name)
}

// immediate translates verdicts, and keeps values for fwd and dup.
//
// Ref: nft_immediate.c, nft_immediate_offload
func (t *nftTranslation) immediate(x *expr.Immediate) error {
	v := x.Data.Verdict
	if v == nil {
		t.regs[x.Dst] = &nftRegister{set: true, data: x.Data.Value.Bytes}
		return nil
	}
	switch v.Kind {
	case catalog.VerdictAccept:
		t.rule.Actions = append(t.rule.Actions, Action{ID: ActAccept})
	case catalog.VerdictDrop:
		t.rule.Actions = append(t.rule.Actions, Action{ID: ActDrop})
	default:
		return unsupported("immediate: only accept and drop can be offloaded")
	}
	return nil
}

// send translates fwd and dup to a device that a register holds.
//
// Ref: nf_dup_netdev.c, nft_fwd_dup_netdev_offload
func (t *nftTranslation) send(id ActionID, reg expr.Reg, possible bool, kind string) error {
	r := t.regs[reg]
	if !possible || r == nil || len(r.data) < 4 {
		return unsupported("%s: only a constant device can be offloaded", kind)
	}
	index := binary.LittleEndian.Uint32(r.data)
	name := fmt.Sprintf("if%d", index)
	if t.device != nil {
		name = t.device(index)
	}
	if name == "" {
		return unsupported("%s: no such device", kind)
	}
	t.rule.Actions = append(t.rule.Actions, Action{ID: id, Device: name})
	return nil
}

// rotate puts protocols where drivers look for them: the innermost one is the
// packet's, those before it are the tags'. What the rule does not say stays
// open.
//
// Ref: nf_tables_offload.c, nft_flow_rule_transfer_vlan
func (t *nftTranslation) rotate() {
	m := &t.rule.Match
	if !m.isTag(FieldNProto) {
		return
	}
	inner := FieldVLANTPID
	if m.isTag(FieldVLANTPID) {
		inner = FieldCVLANTPID
	}
	for _, k := range []*Key{m.Key, m.Mask} {
		last := binary.BigEndian.Uint16(k.Get(inner))
		if inner == FieldCVLANTPID {
			copy(k.Get(FieldCVLANTPID), k.Get(FieldVLANTPID))
		}
		copy(k.Get(FieldVLANTPID), k.Get(FieldNProto))
		binary.BigEndian.PutUint16(k.Get(FieldNProto), last)
	}
	m.Used |= 1 << KeyVLAN
	if inner == FieldCVLANTPID {
		m.Used |= 1 << KeyCVLAN
	}
}

// isTag reports whether the match wants a tag's type in a field.
func (m *Match) isTag(f Field) bool {
	typ := binary.BigEndian.Uint16(m.Key.Get(f))
	return m.Mask.IsSet(f) && (typ == packet.TypeVLAN || typ == packet.TypeSVLAN)
}
