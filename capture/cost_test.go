package capture

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
)

// costFile is a capture of n frames of 60 to 1514 bytes.
func costFile(t testing.TB, sink func(io.Writer) Sink, n int, comment bool) []byte {
	var file bytes.Buffer
	out := sink(&file)
	payload := []byte(strings.Repeat("x", 1514))
	sizes := []int{60, 74, 1514, 66, 590, 60, 60, 1514}
	comments := []string{"accept", "drop by rule 7", "accept"}
	for i := range n {
		size := sizes[i%len(sizes)]
		frame := Frame{Data: payload[:size], OrigLen: size, LinkType: 1, HasTime: true, Time: int64(1e18) + int64(i)*1000}
		if comment {
			frame.Comment, frame.Direction = comments[i%3], Inbound
		}
		if err := out.Write(&frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func pcapSink(w io.Writer) Sink   { return NewPcapSink(w) }
func pcapngSink(w io.Writer) Sink { return NewPcapngSink(w) }

// loop serves the same bytes for ever.
type loop struct {
	data []byte
	at   int
}

func (l *loop) Read(b []byte) (int, error) {
	if l.at == len(l.data) {
		l.at = 0
	}
	n := copy(b, l.data[l.at:])
	l.at += n
	return n, nil
}

// Neither reading nor writing allocates per frame.
func TestNoAllocation(t *testing.T) {
	const n = 5000
	for name, file := range map[string][]byte{
		"pcap":                 costFile(t, pcapSink, n, false),
		"pcapng":               costFile(t, pcapngSink, n, false),
		"pcapng with comments": costFile(t, pcapngSink, n, true),
	} {
		reader, err := NewReader(bytes.NewReader(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sink := NewPcapngSink(io.Discard)
		var frame Frame
		step := func() {
			if err := reader.Next(&frame); err != nil {
				t.Fatal(err)
			}
			if err := sink.Write(&frame); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			step()
		}
		if allocs := testing.AllocsPerRun(3000, step); allocs != 0 {
			t.Errorf("%s: %v allocations per frame", name, allocs)
		}
	}
}

// The buffer stays small however long the stream is.
func TestBoundedMemory(t *testing.T) {
	header := newPcapFile(little, pcapMagicMicro, 4, 0, 1).b
	records := newPcapFile(little, pcapMagicMicro, 4, 0, 1).record(0, 0, 1000, 1000, strings.Repeat("x", 1000)).b[24:]
	reader, err := NewReader(io.MultiReader(bytes.NewReader(header), &loop{data: records}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := Skip(reader, 100_000); err != nil {
		t.Fatalf("after %d frames: %v", n, err)
	}
	if len(reader.in.buf) > windowSize {
		t.Errorf("the window grew to %d bytes", len(reader.in.buf))
	}
}

func benchmarkReader(b *testing.B, file []byte, n int, open func() (*Reader, error)) {
	b.SetBytes(int64(len(file) / n))
	b.ReportAllocs()
	var frame Frame
	var reader *Reader
	for i := range b.N {
		if i%n == 0 {
			var err error
			if reader, err = open(); err != nil {
				b.Fatal(err)
			}
		}
		if err := reader.Next(&frame); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads frames of 60 to 1514 bytes from memory; the peer is
// pcapgo of gopacket 1.7.7 with its zero-copy call.
func BenchmarkRead(b *testing.B) {
	const n = 20_000
	for _, format := range []struct {
		name string
		sink func(io.Writer) Sink
	}{{"pcap", pcapSink}, {"pcapng", pcapngSink}} {
		file := costFile(b, format.sink, n, false)
		b.Run(format.name+"/memory", func(b *testing.B) {
			benchmarkReader(b, file, n, func() (*Reader, error) { return NewBytesReader(file, Options{}) })
		})
		b.Run(format.name+"/stream", func(b *testing.B) {
			benchmarkReader(b, file, n, func() (*Reader, error) { return NewReader(bytes.NewReader(file), Options{}) })
		})
	}
	commented := costFile(b, pcapngSink, n, true)
	b.Run("pcapng-comments/memory", func(b *testing.B) {
		benchmarkReader(b, commented, n, func() (*Reader, error) { return NewBytesReader(commented, Options{}) })
	})
	pcap, pcapng := costFile(b, pcapSink, n, false), costFile(b, pcapngSink, n, false)
	b.Run("pcap/pcapgo", func(b *testing.B) {
		benchmarkPcapgo(b, n, func() (zeroCopyReader, error) { return pcapgo.NewReader(bytes.NewReader(pcap)) })
	})
	b.Run("pcapng/pcapgo", func(b *testing.B) {
		benchmarkPcapgo(b, n, func() (zeroCopyReader, error) {
			return pcapgo.NewNgReader(bytes.NewReader(pcapng), pcapgo.DefaultNgReaderOptions)
		})
	})
}

// BenchmarkWrite writes the frames of BenchmarkRead to nowhere.
func BenchmarkWrite(b *testing.B) {
	payload := []byte(strings.Repeat("x", 590))
	for name, sink := range map[string]Sink{"pcap": NewPcapSink(io.Discard), "pcapng": NewPcapngSink(io.Discard)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			frame := Frame{Data: payload, OrigLen: 590, LinkType: 1, HasTime: true, Time: 1e18, Comment: "accept"}
			for range b.N {
				if err := sink.Write(&frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
