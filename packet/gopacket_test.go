package packet

import (
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"pgregory.net/rapid"
)

// TestAgainstGopacket serializes ordinary packets with another library and
// compares what it put in with what the view finds.
func TestAgainstGopacket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stack, want := drawStack(t)
		buffer := gopacket.NewSerializeBuffer()
		options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
		if err := gopacket.SerializeLayers(buffer, options, stack...); err != nil {
			t.Fatal(err)
		}
		v := decoded(LinkEthernet, buffer.Bytes())
		if v.Validity != Valid || !v.L4OK || v.L4Proto != want.Proto {
			t.Fatalf("%s, want protocol %d: % x", describe(v), want.Proto, v.Data)
		}
		var flow Flow
		if result := v.Flow(&flow); result != OK || flow != want {
			t.Fatalf("flow %+v %v, want %+v", flow, result, want)
		}
		if ok, result := v.VerifyTransport(); !ok || result != OK {
			t.Fatalf("transport checksum: %v %v", ok, result)
		}
		if v.Receive(false) != Delivered {
			t.Fatal("not delivered")
		}
		compareOffsets(t, v)
	})
}

// compareOffsets decodes the frame with gopacket and compares where headers
// start.
func compareOffsets(t *rapid.T, v *View) {
	parsed := gopacket.NewPacket(v.Data, layers.LayerTypeEthernet, gopacket.NoCopy)
	off := 0
	for _, layer := range parsed.Layers() {
		switch layer.LayerType() {
		case layers.LayerTypeIPv4, layers.LayerTypeIPv6:
			if off != v.NetOff {
				t.Fatalf("network header at %d, gopacket says %d", v.NetOff, off)
			}
		case layers.LayerTypeTCP, layers.LayerTypeUDP, layers.LayerTypeICMPv4:
			if off != v.ThOff {
				t.Fatalf("transport header at %d, gopacket says %d", v.ThOff, off)
			}
		}
		off += len(layer.LayerContents())
	}
}

// drawStack makes up layers and the flow that they mean.
func drawStack(t *rapid.T) ([]gopacket.SerializableLayer, Flow) {
	var flow Flow
	flow.IPv6 = rapid.Bool().Draw(t, "ipv6")
	size := 4
	network := layers.EthernetTypeIPv4
	if flow.IPv6 {
		size, network = 16, layers.EthernetTypeIPv6
	}
	src := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "src")
	dst := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "dst")
	src[0], dst[0] = 0x20, 0x20 // addresses that the stack does not refuse
	copy(flow.Src[:], src)
	copy(flow.Dst[:], dst)

	ethernet := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: network}
	stack := []gopacket.SerializableLayer{ethernet}
	for range rapid.IntRange(0, 2).Draw(t, "tags") {
		ethernet.EthernetType = layers.EthernetTypeDot1Q
		if len(stack) > 1 {
			stack[len(stack)-1].(*layers.Dot1Q).Type = layers.EthernetTypeDot1Q
		}
		stack = append(stack, &layers.Dot1Q{VLANIdentifier: 5, Type: network})
	}
	transport := rapid.SampledFrom([]layers.IPProtocol{layers.IPProtocolTCP, layers.IPProtocolUDP}).Draw(t, "transport")
	var under gopacket.NetworkLayer
	if flow.IPv6 {
		ip := &layers.IPv6{Version: 6, SrcIP: src, DstIP: dst, NextHeader: transport, HopLimit: 64}
		stack, under = append(stack, ip), ip
		if rapid.Bool().Draw(t, "destination options") {
			ip.NextHeader = layers.IPProtocolIPv6Destination
			options := &layers.IPv6Destination{}
			options.NextHeader = transport
			options.Options = append(options.Options, &layers.IPv6DestinationOption{OptionType: 1, OptionData: make([]byte, 4), OptionLength: 4, ActualLength: 6})
			stack = append(stack, options)
		}
	} else {
		ip := &layers.IPv4{Version: 4, SrcIP: src, DstIP: dst, Protocol: transport, TTL: 64}
		if rapid.Bool().Draw(t, "options") {
			ip.Options = []layers.IPv4Option{{OptionType: 148, OptionLength: 4, OptionData: []byte{0, 0}}}
		}
		stack, under = append(stack, ip), ip
	}
	flow.Proto = uint8(transport)
	flow.SrcPort = rapid.Uint16().Draw(t, "sport")
	flow.DstPort = rapid.Uint16().Draw(t, "dport")
	if transport == layers.IPProtocolTCP {
		tcp := &layers.TCP{SrcPort: layers.TCPPort(flow.SrcPort), DstPort: layers.TCPPort(flow.DstPort), SYN: true}
		if err := tcp.SetNetworkLayerForChecksum(under); err != nil {
			t.Fatal(err)
		}
		stack = append(stack, tcp)
	} else {
		udp := &layers.UDP{SrcPort: layers.UDPPort(flow.SrcPort), DstPort: layers.UDPPort(flow.DstPort)}
		if err := udp.SetNetworkLayerForChecksum(under); err != nil {
			t.Fatal(err)
		}
		stack = append(stack, udp)
	}
	return append(stack, gopacket.Payload(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "payload"))), flow
}
