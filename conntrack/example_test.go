package conntrack_test

import (
	"fmt"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/packet/rewrite"
)

// A router translates the source of a connection, and its answers back.
func Example() {
	table := conntrack.NewTable(conntrack.Config{})
	public := conntrack.NATRange{HasAddr: true, MinAddr: [16]byte{203, 0, 113, 1}, MaxAddr: [16]byte{203, 0, 113, 1}}
	var view packet.View
	var buffer rewrite.Buffer
	for _, text := range []string{
		"ip saddr 10.0.0.1 ip daddr 192.0.2.7 udp sport 4000 udp dport 53",
		"ip saddr 192.0.2.7 ip daddr 203.0.113.1 udp sport 53 udp dport 4000",
	} {
		p, err := build.Parse(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		var at conntrack.Attachment
		at.Reset()
		buffer.Start()
		view.Decode(p.Link, p.Data, len(p.Data))
		pkt := conntrack.Packet{View: &view, Attachment: &at, Family: catalog.FamilyIP, Prerouting: true, Now: 1}

		table.Track(&pkt)
		table.Translate(&pkt, conntrack.DestinationManip, true, &buffer)
		if table.NATUndecided(&pkt, conntrack.SourceManip) {
			table.SetupNAT(&pkt, conntrack.SourceManip, &public)
		}
		table.Translate(&pkt, conntrack.SourceManip, false, &buffer)
		table.Confirm(&pkt)

		fmt.Println(at.State(), build.Summary(&view))
		at.Reset()
	}
	for c := range table.All(1) {
		fmt.Println(string(c.AppendText(nil)))
	}
	// Output:
	// 8 IP 203.0.113.1.4000 > 192.0.2.7.53: udp len 0
	// 2 IP 192.0.2.7.53 > 10.0.0.1.4000: udp len 0
	// ipv4 2 udp 17 src=10.0.0.1 dst=192.0.2.7 sport=4000 dport=53 src=192.0.2.7 dst=203.0.113.1 sport=53 dport=4000 mark=0 zone=0
}
