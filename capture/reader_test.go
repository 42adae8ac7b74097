package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// summary prints a frame on one line: what the tables below expect.
func summary(f *Frame) string {
	line := fmt.Sprintf("%s/%d link %d if %d", f.Data, f.OrigLen, f.LinkType, f.Interface)
	if f.InterfaceName != "" {
		line += " " + f.InterfaceName
	}
	if f.HasTime {
		line += fmt.Sprintf(" at %d", f.Time)
	}
	if f.Direction != DirectionUnknown {
		line += " " + f.Direction.String()
	}
	if f.Reception != ReceptionUnknown {
		line += fmt.Sprintf(" reception %d", f.Reception)
	}
	if f.Comment != "" {
		line += fmt.Sprintf(" %q", f.Comment)
	}
	return line
}

// transcript lists all frames of a source, then how it ended.
func transcript(source Source, err error) string {
	var lines []string
	var frame Frame
	for err == nil {
		if err = source.Next(&frame); err == nil {
			lines = append(lines, summary(&frame))
		}
	}
	var format *FormatError
	switch {
	case err == io.EOF:
		lines = append(lines, "end")
	case errors.As(err, &format):
		lines = append(lines, fmt.Sprintf("%d: %s", format.Offset, format.Reason))
	default:
		lines = append(lines, "error: "+err.Error())
	}
	return strings.Join(lines, "\n")
}

var readTable = []struct {
	name string
	file []byte
	want string
}{
	{"little-endian microseconds",
		newPcapFile(little, pcapMagicMicro, 4, 65535, 1).record(1, 2, 3, 5, "abc").b,
		"abc/5 link 1 if 0 at 1000002000\nend"},
	{"big-endian microseconds",
		newPcapFile(big, pcapMagicMicro, 4, 65535, 113).record(1, 2, 3, 3, "abc").b,
		"abc/3 link 113 if 0 at 1000002000\nend"},
	{"little-endian nanoseconds",
		newPcapFile(little, pcapMagicNano, 4, 65535, 101).record(1, 2, 3, 3, "abc").record(4294967295, 999999999, 0, 0, "").b,
		"abc/3 link 101 if 0 at 1000000002\n/0 link 101 if 0 at 4294967295999999999\nend"},
	{"big-endian nanoseconds",
		newPcapFile(big, pcapMagicNano, 4, 65535, 276).record(1, 2, 1, 1, "a").b,
		"a/1 link 276 if 0 at 1000000002\nend"},
	{"pcap without frames", newPcapFile(little, pcapMagicMicro, 4, 0, 1).b, "end"},
	{"version 2.2 has its lengths swapped",
		newPcapFile(little, pcapMagicMicro, 2, 0, 1).record(0, 0, 5, 3, "abc").b,
		"abc/5 link 1 if 0 at 0\nend"},
	{"version 2.3 exists both ways",
		newPcapFile(little, pcapMagicMicro, 3, 0, 1).record(0, 0, 5, 3, "abc").record(0, 0, 3, 5, "abc").b,
		"abc/5 link 1 if 0 at 0\nabc/5 link 1 if 0 at 0\nend"},
	{"original length below the captured one",
		newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 3, 1, "abc").b,
		"abc/3 link 1 if 0 at 0\nend"},
	{"frame check sequence declared, whole frame",
		newPcapFile(little, pcapMagicMicro, 4, 0, 2<<28|1<<26|1).record(0, 0, 7, 7, "abcFCSF").b,
		"abc/3 link 1 if 0 at 0\nend"},
	{"frame check sequence declared, cut frame",
		newPcapFile(little, pcapMagicMicro, 4, 0, 2<<28|1<<26|1).record(0, 0, 3, 9, "abc").record(0, 0, 2, 2, "ab").b,
		"abc/5 link 1 if 0 at 0\n/0 link 1 if 0 at 0\nend"},

	{"enhanced packets of two interfaces",
		newNgFile(little).iface(1, 0, option{2, "eth0"}).iface(101, 0).
			enhanced(0, 1000, 4, "abc").enhanced(1, 1001, 1, "d").b,
		"abc/4 link 1 if 0 eth0 at 1000000\nd/1 link 101 if 1 at 1001000\nend"},
	{"sections of different byte order number their interfaces anew",
		newNgFile(big).iface(1, 0, option{2, "a\x00"}).enhanced(0, 1, 1, "x").
			section(little).iface(101, 0, option{2, "b"}).enhanced(0, 2, 1, "y").
			section(big).iface(1, 0, option{2, "c"}).enhanced(0, 1<<40, 1, "z").b,
		"x/1 link 1 if 0 a at 1000\ny/1 link 101 if 1 b at 2000\nz/1 link 1 if 2 c at 1099511627776000\nend"},
	{"simple packets end at the snap length",
		newNgFile(little).iface(1, 3).simple(5, "abc").simple(2, "ab").b,
		"abc/5 link 1 if 0\nab/2 link 1 if 0\nend"},
	{"obsolete packet blocks",
		newNgFile(big).iface(1, 0).obsolete(0, 5, 9, "abc", option{2, "\x00\x00\x00\x01"}, option{1, "old"}).b,
		"abc/9 link 1 if 0 at 5000 inbound \"old\"\nend"},
	{"comments and flags, little-endian",
		newNgFile(little).iface(1, 0).
			enhanced(0, 1, 1, "x", option{1, "one"}, option{5, "12345678"}, option{2, "\x0e\x00\x00\x00"}, option{1, "two"}).
			enhanced(0, 1, 1, "y", option{1, "one"}).enhanced(0, 1, 1, "z", option{2, "\x1f\x00\x00\x00"}).b,
		"x/1 link 1 if 0 at 1000 outbound reception 3 \"one\\ntwo\"\ny/1 link 1 if 0 at 1000 \"one\"\nz/1 link 1 if 0 at 1000\nend"},
	{"flags, big-endian, with a frame check sequence",
		newNgFile(big).iface(1, 0).enhanced(0, 1, 6, "abFCSF", option{2, "\x00\x00\x00\x85"}).b,
		"ab/2 link 1 if 0 at 1000 inbound reception 1\nend"},
	{"frame check sequence of the interface",
		newNgFile(big).iface(1, 0, option{13, "\x04"}).enhanced(0, 1, 6, "abFCSF").simple(5, "aFCSF").b,
		"ab/2 link 1 if 0 at 1000\na/1 link 1 if 0\nend"},
	{"frame check sequence of the interface, in bits",
		newNgFile(little).iface(1, 0, option{13, "\x20"}).enhanced(0, 1, 6, "abFCSF").b,
		"ab/2 link 1 if 0 at 1000\nend"},
	{"other blocks are passed over",
		newNgFile(little).block(4, make([]byte, 20)).iface(1, 0).block(5, make([]byte, 12)).
			block(10, make([]byte, 600000)).block(0x0bad, []byte("pen!custom")).block(0x40000bad, nil).enhanced(0, 1, 1, "x").b,
		"x/1 link 1 if 0 at 1000\nend"},
	{"time offset and resolution",
		newNgFile(big).iface(1, 0, option{9, "\x03"}, option{14, "\x00\x00\x00\x00\x00\x00\x00\x64"}).enhanced(0, 5, 1, "x").b,
		"x/1 link 1 if 0 at 100005000000\nend"},
	{"pcapng without frames", newNgFile(little).b, "end"},
	{"all-zero timestamps mean none", newNgFile(little).iface(1, 0).enhanced(0, 0, 1, "x").b, "x/1 link 1 if 0\nend"},

	{"empty", nil, "0: empty input, not a capture"},
	{"three bytes", []byte("abc"), "0: file header cut short: 3 of 24 bytes"},
	{"text", []byte("table inet filter {"), "0: not a pcap or pcapng capture: starts with 74 61 62 6c 65 20 69 6e"},
	{"five bytes of text", []byte("table"), "0: not a pcap or pcapng capture: starts with 74 61 62 6c 65"},
	{"modified pcap", newPcapFile(little, 0xa1b2cd34, 4, 0, 1).b,
		"0: modified pcap (per-packet interface and protocol, magic a1b2cd34) is not supported; convert it to pcap or pcapng first"},
	{"modified pcap, big-endian", newPcapFile(big, 0xa1b234cd, 4, 0, 1).b,
		"0: modified pcap (magic a1b234cd) is not supported; convert it to pcap or pcapng first"},
	{"zstd", []byte("\x28\xb5\x2f\xfdabcd"),
		"0: not a pcap or pcapng capture: zstd-compressed; decompress it first (zstd -dc FILE | ...)"},
	{"gzip twice", gzipped(gzipped(newPcapFile(little, pcapMagicMicro, 4, 0, 1).b)),
		"0: not a pcap or pcapng capture: gzip inside gzip; decompress it once first"},
	{"pcap version 3", append(append(little.AppendUint32(nil, pcapMagicMicro), 3, 0, 1, 0), make([]byte, 16)...),
		"4: pcap version 3.1 is not supported (known is 2.x)"},
	{"file header cut short", newPcapFile(little, pcapMagicMicro, 4, 0, 1).b[:20], "0: pcap file header cut short: 20 of 24 bytes"},
	{"record header cut short",
		newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").record(0, 0, 1, 1, "b").b[:24+17+9],
		"a/1 link 1 if 0 at 0\n41: packet record header cut short: 9 of 16 bytes"},
	{"packet data cut short",
		newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").record(0, 0, 4, 4, "bc").b,
		"a/1 link 1 if 0 at 0\n41: packet data cut short: 2 of 4 bytes"},
	{"captured length without sense",
		newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 0xfffffff0, 4, "bc").b,
		"24: captured length 4294967280 exceeds the limit of 262144 bytes"},
	{"no byte order magic", append(newNgFile(little).b[:8], "abcdefghijklmnopqrst"...),
		"8: section header without the byte order magic 1a2b3c4d: 61 62 63 64"},
	{"section header alone cut short", newNgFile(little).b[:10], "0: section header block cut short: 10 of 28 bytes"},
	{"section header cut short", newNgFile(little).b[:20], "0: block cut short: 20 of 28 bytes"},
	{"pcapng version 2", bytes.Replace(newNgFile(little).b, []byte{1, 0, 0, 0, 255}, []byte{2, 0, 0, 0, 255}, 1),
		"12: pcapng version 2.0 is not supported (known is 1.x)"},
	{"packet of an interface that is not defined",
		newNgFile(little).iface(1, 0).section(little).enhanced(0, 1, 1, "x").b,
		"76: packet of interface 0, but the section has defined 0"},
	{"packet longer than its block",
		newNgFile(little).iface(1, 0).block(6, append(make([]byte, 12), "\x05\x00\x00\x00\x05\x00\x00\x00abcd"...)).b,
		"48: captured length 5 exceeds the 4 bytes of its block"},
	{"packet block without room for its header", newNgFile(little).iface(1, 0).block(6, make([]byte, 8)).b,
		"48: enhanced packet block of only 20 bytes"},
	{"block lengths disagree", append(newNgFile(little).iface(1, 0).b[:44], 24, 0, 0, 0),
		"28: block lengths disagree: 20 at its start, 24 at its end"},
	{"skipped block with lengths that disagree", append(newNgFile(little).block(5, nil).b[:36], 24, 0, 0, 0),
		"28: block lengths disagree: 12 at its start, 24 at its end"},
	{"skipped block cut short", newNgFile(little).block(5, make([]byte, 300000)).b[:200000],
		"28: block cut short: 199972 of 300012 bytes"},
	{"block length too small", append(newNgFile(little).b, 5, 0, 0, 0, 8, 0, 0, 0), "28: block length 8 is below the minimum of 12"},
	{"block length odd", append(newNgFile(little).b, 5, 0, 0, 0, 15, 0, 0, 0), "28: block length 15 is not a multiple of 4"},
	{"block length without sense", append(newNgFile(little).b, 5, 0, 0, 0, 0, 0, 0, 0x7f),
		"28: block length 2130706432 exceeds the limit of 16777216 bytes"},
	{"option beyond its block: the frame is delivered",
		newNgFile(little).iface(1, 0).block(6, append(make([]byte, 12), "\x04\x00\x00\x00\x04\x00\x00\x00abcd\x01\x00\x09\x00abcd"...)).
			enhanced(0, 1, 1, "x").b,
		"abcd/4 link 1 if 0\n80: option 1 of 9 bytes exceeds its block"},
}

// Each file reads the same from memory, as a stream, byte by byte, and
// compressed.
func TestRead(t *testing.T) {
	for _, test := range readTable {
		t.Run(test.name, func(t *testing.T) {
			memory, err := NewBytesReader(test.file, Options{})
			if got := transcript(memory, err); got != test.want {
				t.Errorf("from memory:\n%s\nwant:\n%s", got, test.want)
			}
			stream, err := NewReader(bytes.NewReader(test.file), Options{})
			if got := transcript(stream, err); got != test.want {
				t.Errorf("as a stream:\n%s\nwant:\n%s", got, test.want)
			}
			trickle, err := NewReader(iotest.OneByteReader(bytes.NewReader(test.file)), Options{})
			if got := transcript(trickle, err); got != test.want {
				t.Errorf("byte by byte:\n%s\nwant:\n%s", got, test.want)
			}
			if bytes.HasPrefix(test.file, []byte("\x1f\x8b")) {
				return
			}
			packed, err := NewReader(bytes.NewReader(gzipped(test.file)), Options{})
			if got := transcript(packed, err); got != test.want {
				t.Errorf("compressed:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestReadGzipDamage(t *testing.T) {
	file := newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").b
	packed := gzipped(file)
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"trailer cut off", packed[:len(packed)-3],
			"a/1 link 1 if 0 at 0\n41: gzip stream damaged: unexpected EOF (offset in the decompressed data)"},
		{"checksum wrong", append(packed[:len(packed)-8:len(packed)-8], 0, 0, 0, 0, 41, 0, 0, 0),
			"a/1 link 1 if 0 at 0\n41: gzip stream damaged: gzip: invalid checksum (offset in the decompressed data)"},
		{"other bytes after it", append(packed[:len(packed):len(packed)], "trailing bytes"...),
			"a/1 link 1 if 0 at 0\n41: gzip stream damaged: gzip: invalid header (offset in the decompressed data)"},
		{"header cut off", packed[:5], "0: gzip header damaged: unexpected EOF"},
		{"two members", append(gzipped(file[:30]), gzipped(file[30:])...), "a/1 link 1 if 0 at 0\nend"},
		{"pcapng", gzipped(newNgFile(big).iface(1, 0).simple(1, "a").b), "a/1 link 1 if 0\nend"},
	} {
		reader, err := NewReader(bytes.NewReader(test.file), Options{})
		if got := transcript(reader, err); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
		if reader != nil {
			if err := reader.Close(); err != nil {
				t.Errorf("%s: Close repeats what Next said: %v", test.name, err)
			}
		}
	}
}

// An error of the reader beneath is passed on, not taken for damage.
func TestReadError(t *testing.T) {
	broken := errors.New("the disk is on fire")
	file := newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").b
	reader, err := NewReader(io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken)), Options{})
	got := transcript(reader, err)
	if want := "a/1 link 1 if 0 at 0\nerror: capture: read at offset 41: the disk is on fire"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if err := reader.Next(new(Frame)); !errors.Is(err, broken) {
		t.Errorf("%v does not wrap the reader's error", err)
	}
}

func TestTruncationIsUnexpectedEOF(t *testing.T) {
	reader, err := NewBytesReader(newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 4, 4, "a").b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Next(new(Frame)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is no io.ErrUnexpectedEOF", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.pcap")
	if err := os.WriteFile(name, newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").b, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(name, Options{})
	if got, want := transcript(reader, err), "a/1 link 1 if 0 at 0\nend"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if reader.Format() != Pcap {
		t.Errorf("format %v", reader.Format())
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestOpenStandardInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.pcap.gz")
	if err := os.WriteFile(name, gzipped(newPcapFile(big, pcapMagicMicro, 4, 0, 1).record(0, 0, 1, 1, "a").b), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func(before *os.File) { os.Stdin = before }(os.Stdin)
	os.Stdin = file
	reader, err := Open("-", Options{})
	if got, want := transcript(reader, err), "a/1 link 1 if 0 at 0\nend"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if _, err := file.Stat(); err != nil {
		t.Errorf("Close closed standard input: %v", err)
	}
}

func TestMaxFrame(t *testing.T) {
	large := strings.Repeat("x", 300000)
	file := newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 300000, 300000, large).b
	for limit, want := range map[int]int{0: 0, 299999: 0, 300000: 1, 1 << 30: 1} {
		reader, err := NewReader(bytes.NewReader(file), Options{MaxFrame: limit})
		if err != nil {
			t.Fatal(err)
		}
		frames, _ := readAll(t, reader)
		if frames != want {
			t.Errorf("limit %d: %d frames, want %d", limit, frames, want)
		}
	}
}

func TestInterfaces(t *testing.T) {
	file := newNgFile(big).iface(1, 96, option{2, "eth0"}, option{3, "uplink"}, option{6, "\x02\x00\x00\x00\x00\x01"},
		option{4, "\xc0\x00\x02\x01\xff\xff\xff\x00"}, option{5, "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x40"}).
		section(little).iface(101, 0).b
	reader, err := NewBytesReader(file, Options{})
	if got := transcript(reader, err); got != "end" {
		t.Fatal(got)
	}
	got := fmt.Sprintf("%+v", reader.Interfaces())
	want := "[{Name:eth0 Description:uplink LinkType:1 SnapLen:96 Section:0 MAC:[2 0 0 0 0 1] HasMAC:true Addresses:[192.0.2.1/24 2001:db8::1/64]}" +
		" {Name: Description: LinkType:101 SnapLen:0 Section:1 MAC:[0 0 0 0 0 0] HasMAC:false Addresses:[]}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
