package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// modifiedPcap are the magic numbers of pcap variants whose records have
// further fields. They are refused rather than misread.
var modifiedPcap = map[uint32]string{
	0xa1b2cd34: "modified pcap (per-packet interface and protocol, magic a1b2cd34)",
	0xa1b234cd: "modified pcap (magic a1b234cd)",
	0xa12b3c4d: "modified pcap (Navtel, magic a12b3c4d)",
	0xa1b2c3cb: "pcap variant with BPF extensions (magic a1b2c3cb)",
	0x1c0001ac: "IXIA hardware capture (magic 1c0001ac)",
	0x1c0001ab: "IXIA software capture (magic 1c0001ab)",
}

// foreignMagic are first bytes of other files that people may hand over.
var foreignMagic = []struct {
	prefix string
	what   string
}{
	{"\x1f\x8b", "gzip inside gzip; decompress it once first"},
	{"\x28\xb5\x2f\xfd", "zstd-compressed; decompress it first (zstd -dc FILE | ...)"},
	{"\xfd7zXZ\x00", "xz-compressed; decompress it first (xz -dc FILE | ...)"},
	{"BZh", "bzip2-compressed; decompress it first (bzip2 -dc FILE | ...)"},
	{"\x04\x22\x4d\x18", "lz4-compressed; decompress it first (lz4 -dc FILE | ...)"},
	{"PK\x03\x04", "a zip archive; extract it first"},
	{"snoop\x00\x00\x00", "a Solaris snoop capture; convert it to pcapng first"},
	{"RTSS", "a Microsoft Network Monitor 1 capture; convert it to pcapng first"},
	{"GMBU", "a Microsoft Network Monitor 2 capture; convert it to pcapng first"},
}

// foreignFormat names what an unreadable file is, as far as its first bytes tell.
func foreignFormat(start []byte) string {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if name, known := modifiedPcap[order.Uint32(start)]; known {
			return name + " is not supported; convert it to pcap or pcapng first"
		}
	}
	for _, foreign := range foreignMagic {
		if bytes.HasPrefix(start, []byte(foreign.prefix)) {
			return "not a pcap or pcapng capture: " + foreign.what
		}
	}
	return fmt.Sprintf("not a pcap or pcapng capture: starts with % x", start)
}
