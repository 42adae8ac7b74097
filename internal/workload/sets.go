package workload

import (
	"fmt"

	"verdict/catalog"
)

// SetTypes lists the types that sets can be declared with.
func SetTypes() (list []*catalog.Type) {
	for _, typ := range catalog.Types {
		if !typ.NotDeclarable && typ.Bits != 0 && typ.Form != catalog.FormVerdict {
			list = append(list, typ)
		}
	}
	return list
}

// Sets are declarations of sets and maps with keys of a type, with the flags
// and element forms that it allows.
func Sets(typ *catalog.Type) (list []string) {
	s := Selector{Type: typ, Bits: typ.Bits}
	a, b, c := s.values()
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	add("set s { type %s; }", typ.Name)
	add("set s { type %s; elements = { %s, %s } }", typ.Name, a, b)
	add("set s { type %s; size 10; flags timeout; timeout 1h; elements = { %s timeout 10m, %s } }", typ.Name, a, b)
	add("set s { type %s; flags dynamic; size 8; counter; elements = { %s counter packets 1 bytes 2 } }", typ.Name, a)
	add("set s { type %s; elements = { %s comment \"x y\" } }", typ.Name, a)
	add("map m { type %s : verdict; elements = { %s : accept, %s : drop } }", typ.Name, a, b)
	add("map m { type %s : mark; elements = { %s : 0x1, %s : 0x2 } }", typ.Name, a, b)
	add("map m { type mark : %s; elements = { 0x1 : %s } }", typ.Name, a)
	add("set s { type %s . inet_service; elements = { %s . 22, %s . 80 } }", typ.Name, a, b)
	add("set s { type mark . %s . ipv4_addr; elements = { 0x1 . %s . 10.0.0.1 } }", typ.Name, a)
	if ordered(typ) && !named(typ) && a != "0" {
		add("set s { type %s; flags interval; elements = { %s-%s, %s } }", typ.Name, a, b, c)
		add("set s { type %s; flags interval; auto-merge; elements = { %s-%s, %s } }", typ.Name, a, b, b)
		add("map m { type %s : verdict; flags interval; elements = { %s-%s : accept } }", typ.Name, a, b)
		add("set s { type %s . inet_service; flags interval; elements = { %s-%s . 22-80, %s . 443 } }", typ.Name, a, b, c)
		add("map m { type %s . mark : ipv4_addr; flags interval; elements = { %s-%s . 0x1 : 10.0.0.1 } }", typ.Name, a, b)
	}
	return list
}
