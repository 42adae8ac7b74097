package catalog

// RTKeys lists the keys of rt by number.
// Ref: enum nft_rt_keys.
var RTKeys = []*Key{
	{Name: "classid", Number: 0, Type: Realm, Bits: 32, Order: OrderHost},
	{Name: "nexthop", Number: 1, Bytecode: "nexthop4", Type: IPv4Addr, Bits: 32, Order: OrderNetwork, Family: FamilyIP},
	{Name: "nexthop", Number: 2, Bytecode: "nexthop6", Type: IPv6Addr, Bits: 128, Order: OrderNetwork, Family: FamilyIP6},
	{Name: "mtu", Number: 3, Bytecode: "tcpmss", Type: Integer, Bits: 16, Order: OrderHost},
	{Name: "ipsec", Number: 4, Type: Boolean, Bits: 8, Order: OrderHost},
}

// SocketKeys lists the keys of socket by number.
// Ref: enum nft_socket_keys.
var SocketKeys = []*Key{
	{Name: "transparent", Number: 0, Type: Integer, Bits: 8, Order: OrderHost},
	{Name: "mark", Number: 1, Type: Mark, Bits: 32, Order: OrderHost},
	{Name: "wildcard", Number: 2, Type: Integer, Bits: 8, Order: OrderHost},
	{Name: "cgroupv2", Number: 3, Type: CgroupV2, Bits: 64, Order: OrderHost},
}

// TunnelKeys lists the keys of tunnel by number.
// Ref: enum nft_tunnel_keys.
var TunnelKeys = []*Key{
	{Name: "path", Number: 0, Type: Boolean, Bits: 8, Order: OrderHost},
	{Name: "id", Number: 1, Type: Integer, Bits: 32, Order: OrderHost},
}

// XFRMKeys lists the keys of ipsec by number.
// Ref: enum nft_xfrm_keys.
var XFRMKeys = []*Key{
	{Name: "daddr", Number: 1, Bytecode: "daddr4", Type: IPv4Addr, Bits: 32, Order: OrderNetwork, Family: FamilyIP},
	{Name: "daddr", Number: 2, Bytecode: "daddr6", Type: IPv6Addr, Bits: 128, Order: OrderNetwork, Family: FamilyIP6},
	{Name: "saddr", Number: 3, Bytecode: "saddr4", Type: IPv4Addr, Bits: 32, Order: OrderNetwork, Family: FamilyIP},
	{Name: "saddr", Number: 4, Bytecode: "saddr6", Type: IPv6Addr, Bits: 128, Order: OrderNetwork, Family: FamilyIP6},
	{Name: "reqid", Number: 5, Type: Integer, Bits: 32, Order: OrderHost},
	{Name: "spi", Number: 6, Type: Integer, Bits: 32, Order: OrderNetwork},
}

// FibResults lists the results of fib by number. check is oif with the
// present flag: see FibCheck.
// Ref: enum nft_fib_result.
var FibResults = []*Key{
	{Name: "oif", Number: 1, Type: IfIndex, Bits: 32, Order: OrderHost},
	{Name: "oifname", Number: 2, Type: IfName, Bits: 128},
	{Name: "type", Number: 3, Type: FibAddrType, Bits: 32, Order: OrderHost},
}

// FibCheck is the result of a fib lookup with the present flag: whether there
// is a route.
var FibCheck = &Key{Name: "check", Number: 1, Bytecode: "oif", Type: Boolean, Bits: 8, Order: OrderHost}

// FibFlags are the parts of the tuple that fib looks up, in the order of
// bytecode text. Ref: NFTA_FIB_F_*.
var FibFlags = []Symbol{{"saddr", 1}, {"daddr", 2}, {"mark", 4}, {"iif", 8}, {"oif", 16}}

// OSFKeys lists the results of osf. Both are one operation of the kernel; its
// flags tell them apart, and Number is that flag.
var OSFKeys = []*Key{
	{Name: "name", Number: 0, Type: String, Bits: 128},
	{Name: "version", Number: 1, Type: String, Bits: 128},
}

// OSFTTLs are the ways in which osf treats the TTL.
var OSFTTLs = []Symbol{{"loose", 1}, {"skip", 2}}
