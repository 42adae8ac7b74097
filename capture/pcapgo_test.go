package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// zeroCopyReader is what pcapgo's two readers have in common.
type zeroCopyReader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

func benchmarkPcapgo(b *testing.B, n int, open func() (zeroCopyReader, error)) {
	b.ReportAllocs()
	var reader zeroCopyReader
	for i := range b.N {
		if i%n == 0 {
			var err error
			if reader, err = open(); err != nil {
				b.Fatal(err)
			}
		}
		if _, _, err := reader.ZeroCopyReadPacketData(); err != nil {
			b.Fatal(err)
		}
	}
}

// pcapgoReader opens a capture with gopacket.
func pcapgoReader(file []byte, format Format) (zeroCopyReader, error) {
	if format == Pcap {
		return pcapgo.NewReader(bytes.NewReader(file))
	}
	return pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.NgReaderOptions{WantMixedLinkType: true})
}

// Every frame that gopacket's reader gives is the same as ours, over the
// corpus: bytes, lengths, time. Where it stops earlier the reason is logged.
func TestCorpusAgainstPcapgo(t *testing.T) {
	dir, entries := corpus(t)
	compared := 0
	for _, entry := range entries {
		file, err := os.ReadFile(filepath.Join(dir, entry.File))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := NewReader(bytes.NewReader(file), Options{}) // the large files move the window
		if err != nil {
			t.Errorf("%s: %v", entry.File, err)
			continue
		}
		peer, err := pcapgoReader(file, ours.Format())
		if err != nil {
			t.Logf("%s: pcapgo cannot open it: %v", entry.File, err)
			continue
		}
		compared += compareWithPcapgo(t, entry.File, ours, peer)
	}
	t.Logf("%d frames compared", compared)
	if compared == 0 {
		t.Error("no frame was compared")
	}
}

func compareWithPcapgo(t *testing.T, name string, ours *Reader, peer zeroCopyReader) int {
	var frame Frame
	for n := 0; ; n++ {
		data, info, peerErr := peer.ZeroCopyReadPacketData()
		err := ours.Next(&frame)
		if peerErr != nil {
			if err != io.EOF || peerErr != io.EOF {
				t.Logf("%s: frame %d: pcapgo ends with %q, we with %v", name, n, peerErr, err)
			}
			return n
		}
		if err != nil {
			t.Errorf("%s: frame %d: %v, pcapgo reads on", name, n, err)
			return n
		}
		if !bytes.Equal(data, frame.Data) || info.Length != frame.OrigLen {
			t.Errorf("%s: frame %d: %d of %d bytes, pcapgo %d of %d, equal bytes %v", name, n,
				len(frame.Data), frame.OrigLen, info.CaptureLength, info.Length, bytes.Equal(data, frame.Data))
			return n
		}
		if frame.HasTime && info.Timestamp.UnixNano() != frame.Time {
			t.Errorf("%s: frame %d: time %d, pcapgo %d", name, n, frame.Time, info.Timestamp.UnixNano())
			return n
		}
	}
}

// What we write, gopacket reads.
func TestWrittenForPcapgo(t *testing.T) {
	list := []Frame{
		{Data: []byte("abc"), OrigLen: 3, LinkType: 1, HasTime: true, Time: 1_700_000_000_123_456_789, Interface: 0, InterfaceName: "lan0", Comment: "accept", Direction: Inbound},
		{Data: []byte("defgh"), OrigLen: 9, LinkType: 1, HasTime: true, Time: 1_700_000_001_000_000_001, Interface: 1, InterfaceName: "wan0", Direction: Outbound},
	}
	var pcap, pcapng bytes.Buffer
	writeAll(t, NewPcapSink(&pcap), list)
	writeAll(t, NewPcapngSink(&pcapng), list)
	for format, file := range map[Format][]byte{Pcap: pcap.Bytes(), Pcapng: pcapng.Bytes()} {
		peer, err := pcapgoReader(file, format)
		if err != nil {
			t.Fatalf("%v: %v", format, err)
		}
		for i, want := range list {
			data, info, err := peer.ZeroCopyReadPacketData()
			if err != nil {
				t.Fatalf("%v: frame %d: %v", format, i, err)
			}
			if string(data) != string(want.Data) || info.Length != want.OrigLen || info.Timestamp.UnixNano() != want.Time {
				t.Errorf("%v: frame %d: %q %+v", format, i, data, info)
			}
		}
		if _, _, err := peer.ZeroCopyReadPacketData(); err != io.EOF {
			t.Errorf("%v: at the end: %v", format, err)
		}
		if ng, ok := peer.(*pcapgo.NgReader); ok {
			first, err := ng.Interface(1)
			if err != nil || first.Name != "wan0" || first.LinkType != layers.LinkTypeEthernet {
				t.Errorf("interface 1: %+v, %v", first, err)
			}
		}
	}
}
