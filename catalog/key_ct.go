package catalog

// CTKeys lists the keys of ct by number. saddr and daddr come in three
// variants: without family (the register then holds an address of the
// connection's family, 4 or 16 bytes), of IPv4 and of IPv6.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nft_ct_keys.
var CTKeys = []*Key{
	{Name: "state", Number: 0, Type: CTState, Bits: 32, Order: OrderHost},
	{Name: "direction", Number: 1, Type: CTDir, Bits: 8, Order: OrderHost},
	{Name: "status", Number: 2, Type: CTStatus, Bits: 32, Order: OrderHost},
	{Name: "mark", Number: 3, Type: Mark, Bits: 32, Order: OrderHost, Settable: true},
	{Name: "secmark", Number: 4, Type: Integer, Bits: 32, Order: OrderHost, Settable: true},
	{Name: "expiration", Number: 5, Type: Time, Bits: 32, Order: OrderHost},
	{Name: "helper", Number: 6, Type: String, Bits: 128},
	{Name: "l3proto", Number: 7, Bytecode: "l3protocol", Type: NFProto, Bits: 8, DirOK: true},
	{Name: "saddr", Number: 8, Bytecode: "src", Type: Integer, Order: OrderNetwork, NeedsDir: true, DirOK: true},
	{Name: "daddr", Number: 9, Bytecode: "dst", Type: Integer, Order: OrderNetwork, NeedsDir: true, DirOK: true},
	{Name: "protocol", Number: 10, Type: InetProto, Bits: 8, Order: OrderNetwork, DirOK: true},
	{Name: "proto-src", Number: 11, Bytecode: "proto_src", Type: InetService, Bits: 16, Order: OrderNetwork, NeedsDir: true, DirOK: true},
	{Name: "proto-dst", Number: 12, Bytecode: "proto_dst", Type: InetService, Bits: 16, Order: OrderNetwork, NeedsDir: true, DirOK: true},
	{Name: "label", Number: 13, Type: CTLabel, Bits: 128, Order: OrderHost, Settable: true},
	{Name: "packets", Number: 14, Type: Integer, Bits: 64, Order: OrderHost, DirOK: true},
	{Name: "bytes", Number: 15, Type: Integer, Bits: 64, Order: OrderHost, DirOK: true},
	{Name: "avgpkt", Number: 16, Type: Integer, Bits: 64, Order: OrderHost, DirOK: true},
	{Name: "zone", Number: 17, Type: Integer, Bits: 16, Order: OrderHost, Settable: true, DirOK: true},
	{Name: "event", Number: 18, Type: CTEvent, Bits: 32, Order: OrderHost, Settable: true, SetOnly: true},
	{Name: "saddr", Number: 19, Bytecode: "src_ip", Type: IPv4Addr, Bits: 32, Order: OrderNetwork, NeedsDir: true, DirOK: true, Family: FamilyIP},
	{Name: "daddr", Number: 20, Bytecode: "dst_ip", Type: IPv4Addr, Bits: 32, Order: OrderNetwork, NeedsDir: true, DirOK: true, Family: FamilyIP},
	{Name: "saddr", Number: 21, Bytecode: "src_ip6", Type: IPv6Addr, Bits: 128, Order: OrderNetwork, NeedsDir: true, DirOK: true, Family: FamilyIP6},
	{Name: "daddr", Number: 22, Bytecode: "dst_ip6", Type: IPv6Addr, Bits: 128, Order: OrderNetwork, NeedsDir: true, DirOK: true, Family: FamilyIP6},
	{Name: "id", Number: 23, Bytecode: "unknown", Type: Integer, Bits: 32, Order: OrderNetwork},
}
