package offload

import "encoding/binary"

// Field is one field of a Key: where it lies and which group it belongs to.
// Values are in network order; those without one (interface index, marks,
// counts, flags of the dissector) are little endian.
type Field struct {
	Name string
	Off  int
	Len  int
	ID   KeyID
}

// The fields, in the order in which they lie in a Key: what filters use most
// stands together, so that a mask spans few words.
var (
	FieldNProto    = field("n_proto", 2, KeyBasic)
	FieldIPProto   = field("ip_proto", 1, KeyBasic)
	FieldAddrType  = field("addr_type", 1, KeyControl) // 0, AddrIPv4 or AddrIPv6
	FieldFlags     = field("flags", 4, KeyControl)
	FieldSrcPort   = field("src_port", 2, KeyPorts)
	FieldDstPort   = field("dst_port", 2, KeyPorts)
	FieldTCPFlags  = field("tcp_flags", 2, KeyTCP)
	FieldSrc       = field("src", 16, KeyIPv6) // IPv4 addresses take the first 4 bytes
	FieldDst       = field("dst", 16, KeyIPv6)
	FieldEthDst    = field("eth_dst", 6, KeyEth)
	FieldEthSrc    = field("eth_src", 6, KeyEth)
	FieldTOS       = field("tos", 1, KeyIP)
	FieldTTL       = field("ttl", 1, KeyIP)
	FieldICMPType  = field("icmp_type", 1, KeyICMP)
	FieldICMPCode  = field("icmp_code", 1, KeyICMP)
	FieldVLANID    = field("vlan_id", 2, KeyVLAN)
	FieldVLANPrio  = field("vlan_prio", 1, KeyVLAN)
	FieldVLANTPID  = field("vlan_tpid", 2, KeyVLAN)
	FieldVLANType  = field("vlan_eth_type", 2, KeyVLAN)
	FieldCVLANID   = field("cvlan_id", 2, KeyCVLAN)
	FieldCVLANPrio = field("cvlan_prio", 1, KeyCVLAN)
	FieldCVLANTPID = field("cvlan_tpid", 2, KeyCVLAN)
	FieldCVLANType = field("cvlan_eth_type", 2, KeyCVLAN)
	FieldNumVLAN   = field("num_of_vlans", 1, KeyNumVLAN)
	FieldIIF       = field("ingress_ifindex", 4, KeyMeta)
	FieldL2Miss    = field("l2_miss", 1, KeyMeta)
	FieldCTState   = field("ct_state", 2, KeyCT)
	FieldCTZone    = field("ct_zone", 2, KeyCT)
	FieldCTMark    = field("ct_mark", 4, KeyCT)
	FieldCTLabels  = field("ct_labels", 16, KeyCT)

	FieldRangeSrc    = field("range_src", 2, KeyPortsRange)
	FieldRangeDst    = field("range_dst", 2, KeyPortsRange)
	FieldRangeSrcMin = field("range_src_min", 2, KeyPortsRange)
	FieldRangeSrcMax = field("range_src_max", 2, KeyPortsRange)
	FieldRangeDstMin = field("range_dst_min", 2, KeyPortsRange)
	FieldRangeDstMax = field("range_dst_max", 2, KeyPortsRange)

	FieldARPSIP = field("arp_sip", 4, KeyARP)
	FieldARPTIP = field("arp_tip", 4, KeyARP)
	FieldARPOp  = field("arp_op", 1, KeyARP)
	FieldARPSHA = field("arp_sha", 6, KeyARP)
	FieldARPTHA = field("arp_tha", 6, KeyARP)

	// FieldMPLS is seven label stack entries as they stand in the packet.
	FieldMPLS     = field("mpls", 4*MaxMPLS, KeyMPLS)
	FieldMPLSUsed = field("mpls_used", 1, KeyMPLS)

	FieldEncKeyID    = field("enc_key_id", 4, KeyEncKeyID)
	FieldEncSrc      = field("enc_src", 16, KeyEncIPv6)
	FieldEncDst      = field("enc_dst", 16, KeyEncIPv6)
	FieldEncAddrType = field("enc_addr_type", 1, KeyEncControl)
	FieldEncFlags    = field("enc_flags", 4, KeyEncControl)
	FieldEncSrcPort  = field("enc_src_port", 2, KeyEncPorts)
	FieldEncDstPort  = field("enc_dst_port", 2, KeyEncPorts)
	FieldEncTOS      = field("enc_tos", 1, KeyEncIP)
	FieldEncTTL      = field("enc_ttl", 1, KeyEncIP)
	FieldEncOptLen   = field("enc_opt_len", 1, KeyEncOpts)
	FieldEncOptKind  = field("enc_opt_kind", 2, KeyEncOpts)
	FieldEncOpt      = field("enc_opts", MaxEncOpts, KeyEncOpts)

	FieldHash      = field("hash", 4, KeyHash)
	FieldPPPoESID  = field("pppoe_sid", 2, KeyPPPoE)
	FieldPPPProto  = field("ppp_proto", 2, KeyPPPoE)
	FieldPPPoEType = field("pppoe_type", 2, KeyPPPoE)
	FieldL2TPv3SID = field("l2tpv3_sid", 4, KeyL2TPv3)
	FieldSPI       = field("spi", 4, KeyIPsec)
	FieldCFMMdl    = field("cfm_mdl", 1, KeyCFM)
	FieldCFMOp     = field("cfm_op", 1, KeyCFM)
)

// Bounds of the fields that hold lists.
const (
	MaxMPLS    = 7
	MaxEncOpts = 255
)

// KeySize is the length of a Key in bytes, a multiple of eight.
const KeySize = 496

// Values of FieldAddrType and FieldEncAddrType.
const (
	AddrIPv4 = 2
	AddrIPv6 = 3
)

// Bits of FieldFlags.
//
// Ref: include/net/flow_dissector.h, FLOW_DIS_IS_FRAGMENT
const (
	FlagFragment      = 1
	FlagFirstFragment = 2
)

// Fields lists all fields in order.
func Fields() []Field { return fields }

var fields []Field

// Key is the value or the mask of all fields.
type Key [KeySize]byte

// Get returns the bytes of a field.
func (k *Key) Get(f Field) []byte { return k[f.Off : f.Off+f.Len : f.Off+f.Len] }

// IsSet reports whether any bit of a field is set.
func (k *Key) IsSet(f Field) bool {
	for _, b := range k.Get(f) {
		if b != 0 {
			return true
		}
	}
	return false
}

// Span returns the first and the end of the bytes that are not zero, rounded
// to words of eight bytes; both are 0 for the zero Key.
func (k *Key) Span() (first, end int) {
	for first < KeySize && binary.LittleEndian.Uint64(k[first:]) == 0 {
		first += 8
	}
	if first == KeySize {
		return 0, 0
	}
	for end = KeySize; binary.LittleEndian.Uint64(k[end-8:]) == 0; {
		end -= 8
	}
	return first, end
}

func field(name string, n int, id KeyID) Field {
	off := 0
	if len(fields) > 0 {
		last := fields[len(fields)-1]
		off = last.Off + last.Len
	}
	f := Field{Name: name, Off: off, Len: n, ID: id}
	fields = append(fields, f)
	return f
}
