package packet_test

import (
	"fmt"

	"verdict/packet"
)

func ExampleView() {
	frame := []byte{
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
		0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0x26, 0xcf, 10, 0, 0, 1, 10, 0, 0, 2,
		0x9c, 0x40, 0, 53, 0, 8, 0, 0,
	}
	var v packet.View
	v.Decode(packet.LinkEthernet, frame, len(frame))
	fmt.Println(v.L4Proto, v.SrcAddr(), v.DstAddr(), v.NetLen)

	var port [2]byte
	fmt.Println(v.Load(packet.BaseTransport, 2, 2, port[:]), port)
	fmt.Println(v.Load(packet.BaseTransport, 8, 1, port[:]))
	// Output:
	// 17 10.0.0.1 10.0.0.2 28
	// ok [0 53]
	// break
}
