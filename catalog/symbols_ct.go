package catalog

var ctStateSymbols = []Symbol{
	{"invalid", 1}, {"new", 8}, {"established", 2}, {"related", 4}, {"untracked", 64},
}

var ctDirSymbols = []Symbol{{"original", 0}, {"reply", 1}}

// The values of helper, offload and hw-offload are the numbers of their bits,
// not the bits: so nft has them, and what it compiles depends on it.
var ctStatusSymbols = []Symbol{
	{"expected", 0x1}, {"seen-reply", 0x2}, {"assured", 0x4}, {"confirmed", 0x8}, {"snat", 0x10}, {"dnat", 0x20},
	{"seq-adjust", 0x40}, {"snat-done", 0x80}, {"dnat-done", 0x100}, {"dying", 0x200}, {"fixed-timeout", 0x400},
	{"helper", 13}, {"offload", 14}, {"hw-offload", 15},
}

var ctEventSymbols = []Symbol{
	{"new", 0x1}, {"related", 0x2}, {"destroy", 0x4}, {"reply", 0x8}, {"assured", 0x10}, {"protoinfo", 0x20},
	{"helper", 0x40}, {"mark", 0x80}, {"seqadj", 0x100}, {"secmark", 0x200}, {"label", 0x400},
}
