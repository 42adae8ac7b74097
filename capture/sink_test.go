package capture

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// frames draws a list of frames as a capture could hold them.
func frames(t *rapid.T, linkTypes []uint16) []Frame {
	list := make([]Frame, rapid.IntRange(0, 20).Draw(t, "frames"))
	names := []string{"", "lan0", "wan0"}
	for i := range list {
		f := &list[i]
		f.Data = rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "data")
		f.OrigLen = len(f.Data) + rapid.IntRange(0, 2000).Draw(t, "cut")
		f.LinkType = rapid.SampledFrom(linkTypes).Draw(t, "link type")
		f.HasTime = true
		f.Time = rapid.Int64Range(1, 1<<32*1e9-1).Draw(t, "time")
		f.Interface = rapid.IntRange(0, 2).Draw(t, "interface")
		f.InterfaceName = names[f.Interface]
		f.Direction = Direction(rapid.IntRange(0, 2).Draw(t, "direction"))
		f.Reception = Reception(rapid.IntRange(0, 4).Draw(t, "reception"))
		f.Comment = rapid.StringN(0, 20, 80).Draw(t, "comment")
	}
	return list
}

func writeAll(t rapid.TB, sink Sink, list []Frame) {
	for i := range list {
		if err := sink.Write(&list[i]); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// compare reads a written file and wants the same frames, as far as keep
// leaves them.
func compare(t rapid.TB, file []byte, list []Frame, keep func(*Frame)) {
	reader, err := NewBytesReader(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		var got Frame
		if err := reader.Next(&got); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		want := list[i]
		keep(&want)
		// Interfaces are renumbered in order of appearance.
		if g, w := summaryWithoutInterface(got), summaryWithoutInterface(want); g != w {
			t.Fatalf("frame %d: %s, want %s", i, g, w)
		}
	}
	if err := reader.Next(new(Frame)); err != io.EOF {
		t.Fatalf("at the end: %v", err)
	}
}

func summaryWithoutInterface(f Frame) string {
	f.Interface = 0
	return summary(&f)
}

func TestPcapngRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := frames(t, []uint16{0, 1, 101, 276})
		if len(list) > 0 && rapid.Bool().Draw(t, "no time") {
			list[0].HasTime = false
		}
		var file bytes.Buffer
		writeAll(t, NewPcapngSink(&file), list)
		compare(t, file.Bytes(), list, func(*Frame) {})
	})
}

func TestPcapRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := frames(t, []uint16{rapid.Uint16().Draw(t, "link type of all")})
		var file bytes.Buffer
		writeAll(t, NewPcapSink(&file), list)
		compare(t, file.Bytes(), list, func(f *Frame) {
			f.InterfaceName, f.Comment = "", ""
			f.Direction, f.Reception = DirectionUnknown, ReceptionUnknown
		})
	})
}

// Copying a capture keeps what its interfaces say of themselves.
func TestPcapngAddInterface(t *testing.T) {
	described := Interface{Name: "eth0", Description: "uplink", LinkType: 1, SnapLen: 96, HasMAC: true,
		MAC:       [6]byte{2, 0, 0, 0, 0, 1},
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/25"), netip.MustParsePrefix("2001:db8::1/64")}}
	var file bytes.Buffer
	sink := NewPcapngSink(&file)
	sink.AddInterface(4, &described)
	sink.AddInterface(4, &described)
	writeAll(t, sink, []Frame{
		{Data: []byte("a"), LinkType: 1, Interface: 4, InterfaceName: "eth0"},
		{Data: []byte("b"), Interface: 0},
	})
	reader, err := NewBytesReader(file.Bytes(), Options{})
	if got, want := transcript(reader, err), "a/1 link 1 if 0 eth0\nb/1 link 0 if 1\nend"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := reader.Interfaces()[0]
	if got.Name != described.Name || got.Description != described.Description || got.SnapLen != described.SnapLen ||
		got.MAC != described.MAC || len(got.Addresses) != 2 || got.Addresses[0] != described.Addresses[0] ||
		got.Addresses[1] != described.Addresses[1] {
		t.Errorf("%+v, want %+v", got, described)
	}
}

func TestSinkRefusals(t *testing.T) {
	ethernet := Frame{LinkType: 1}
	raw := Frame{LinkType: 101, Index: 4}
	pcap := NewPcapSink(io.Discard)
	if err := pcap.Write(&ethernet); err != nil {
		t.Fatal(err)
	}
	var link *LinkTypeError
	if err := pcap.Write(&raw); !errors.As(err, &link) ||
		err.Error() != "capture: frame 5 has link type 101, the pcap file has 1 (write pcapng to mix them)" {
		t.Errorf("another link type: %v", err)
	}
	for _, time := range []int64{-1, 1 << 32 * 1e9} {
		if err := pcap.Write(&Frame{LinkType: 1, HasTime: true, Time: time}); err == nil {
			t.Errorf("pcap takes the time %d", time)
		}
	}
	if err := NewPcapngSink(io.Discard).Write(&Frame{HasTime: true, Time: -1}); err == nil {
		t.Error("pcapng takes a time before 1970")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestSinkWriteError(t *testing.T) {
	for name, sink := range map[string]Sink{"pcap": NewPcapSink(brokenWriter{}), "pcapng": NewPcapngSink(brokenWriter{})} {
		if err := sink.Write(&Frame{Data: []byte("a")}); err != nil {
			t.Errorf("%s: a buffered write: %v", name, err)
		}
		for range 2 {
			if err := sink.Flush(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s: flush: %v", name, err)
			}
		}
		if err := sink.Write(&Frame{Data: []byte("a")}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: write after the error: %v", name, err)
		}
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]Format{
		"a.pcap": Pcap, "a.cap": Pcap, "a.pcapng": Pcapng, "a": Pcapng, "a.pcap.gz": Pcap, "a.pcapng.gz": Pcapng,
	} {
		path := filepath.Join(dir, name)
		sink, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, sink, []Frame{{Data: []byte("abc"), LinkType: 1, HasTime: true, Time: 7}})
		reader, err := Open(path, Options{})
		if got := transcript(reader, err); got != "abc/3 link 1 if 0 at 7\nend" {
			t.Errorf("%s: %s", name, got)
		}
		if reader.Format() != want {
			t.Errorf("%s: written as %v", name, reader.Format())
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Create(filepath.Join(dir, "none", "a.pcap")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a missing folder: %v", err)
	}
}

// A sink closed without frames leaves a valid file.
func TestSinkWithoutFrames(t *testing.T) {
	var pcap, pcapng bytes.Buffer
	writeAll(t, NewPcapSink(&pcap), nil)
	writeAll(t, NewPcapngSink(&pcapng), nil)
	for _, file := range [][]byte{pcap.Bytes(), pcapng.Bytes()} {
		reader, err := NewBytesReader(file, Options{})
		if got := transcript(reader, err); got != "end" {
			t.Error(got)
		}
	}
}
