package chain

import (
	"fmt"
	"strings"

	"verdict/catalog"
)

// payloadName names a payload load in the words of the language, where one
// header field is just that.
func payloadName(s source) string {
	for _, p := range []string{"ip", "ip6", "th", "ether", "arp"} {
		proto := catalog.ProtocolByName(p)
		if proto == nil || proto.Base != s.base {
			continue
		}
		for _, f := range proto.Fields {
			switch {
			case f.Offset != 8*s.offset:
			case f.Bits == 8*s.length:
				return p + " " + f.Name
			case f.Bits > 8*s.length: // a prefix of whole bytes
				return fmt.Sprintf("%s %s/%d", p, f.Name, 8*s.length)
			}
		}
	}
	return fmt.Sprintf("@%s,%d,%d", [...]string{"ll", "nh", "th", "ih", "th"}[min(s.base, catalog.BaseTunnel)], 8*s.offset, 8*s.length)
}

// selectorName shortens the text of a load: meta load mark => reg 1.
func selectorName(text string) string {
	text, _, _ = strings.Cut(text, " =>")
	return strings.Replace(text, " load ", " ", 1)
}
