package conntrack

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"verdict/packet"
)

const million = 1_000_000

// flowFrame is a UDP packet of one of many flows.
func flowFrame(n uint32) []byte {
	segment := make([]byte, 26)
	binary.BigEndian.PutUint16(segment, uint16(1024+n%50000))
	binary.BigEndian.PutUint16(segment[2:], 53)
	binary.BigEndian.PutUint16(segment[4:], 26)
	return ipv4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}, [4]byte{192, 0, 2, byte(n >> 3)}, packet.ProtoUDP, segment)
}

// fill makes a table of n connections.
func fill(t testing.TB, n int) *world {
	w := newWorld(t, Config{Max: n})
	for i := range n {
		if w.send(flowFrame(uint32(i))) != Accept {
			t.Fatal("dropped")
		}
	}
	return w
}

// TestMemory holds a million connections to the bound of 400 MB.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million connections: not with -short")
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w := fill(t, million)
	used := heap() - before
	if w.table.Len() != million {
		t.Fatalf("%d connections", w.table.Len())
	}
	t.Logf("a million connections take %d MB; one entry %d bytes", used>>20, unsafe.Sizeof(Conn{}))
	if size := unsafe.Sizeof(Conn{}); unsafe.Sizeof(uintptr(0)) == 8 && size%64 != 0 {
		t.Errorf("an entry takes %d bytes: entries straddle cache lines", size)
	}
	if used > 400e6 {
		t.Errorf("a million connections take %d bytes, more than 400 MB", used)
	}
	runtime.KeepAlive(w)
}

// TestNoAllocation: packets of known connections allocate nothing, with and
// without NAT.
func TestNoAllocation(t *testing.T) {
	w := newWorld(t, Config{})
	rules := natRules{to("10.0.0.9", "", 8080, 8080, 0), to("203.0.113.1", "", 0, 0, 0)}
	frame := w.frame(syn)
	w.forward(rules, frame)
	if n := testing.AllocsPerRun(100, func() { w.send(frame) }); n != 0 {
		t.Errorf("tracking allocates %v times", n)
	}
	n := testing.AllocsPerRun(100, func() {
		p := w.take(frame, len(frame))
		w.table.Track(p)
		w.table.Translate(p, DestinationManip, true, &w.buffer)
		w.table.Translate(p, SourceManip, false, &w.buffer)
		w.table.Confirm(p)
	})
	if n != 0 {
		t.Errorf("translating allocates %v times", n)
	}
}

func benchmarkTrack(b *testing.B, flows int, prerouting bool) {
	w := fill(b, flows)
	r := rand.New(rand.NewPCG(1, 2))
	frames := make([][]byte, 1<<14)
	for i := range frames {
		frames[i] = flowFrame(r.Uint32N(uint32(flows)))
	}
	views := make([]packet.View, len(frames))
	for i := range views {
		views[i].Decode(packet.LinkRaw, frames[i], len(frames[i]))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.at.Reset()
		w.packet.View, w.packet.Prerouting = &views[i&(1<<14-1)], prerouting
		w.table.Track(&w.packet)
		i++
	}
}

func BenchmarkTrack(b *testing.B) {
	b.Run("flows=1k", func(b *testing.B) { benchmarkTrack(b, 1000, false) })
	b.Run("flows=1k/checksum", func(b *testing.B) { benchmarkTrack(b, 1000, true) })
	b.Run("flows=16k", func(b *testing.B) { benchmarkTrack(b, 16384, false) })
	b.Run("flows=1M", func(b *testing.B) { benchmarkTrack(b, million, false) })
}

// BenchmarkLookup looks tuples up, among a million connections.
func BenchmarkLookup(b *testing.B) {
	w := fill(b, million)
	r := rand.New(rand.NewPCG(1, 2))
	tuples := make([]Tuple, 1<<16)
	for i := range tuples {
		c := w.table.slabs.at(r.Uint32N(million))
		tuples[i] = c.Tuples[i&1]
	}
	i := 0
	for b.Loop() {
		if c, _, ok := w.table.Lookup(&tuples[i&(1<<16-1)], Zone{}, w.now); !ok || c == nil {
			b.Fatal("not found")
		}
		i++
	}
}

// BenchmarkTCP tracks the packets of one established connection.
func BenchmarkTCP(b *testing.B) {
	w := newWorld(b, Config{})
	for _, words := range [][]string{
		{">", "S", "seq", "1000"}, {"<", "SA", "seq", "5000", "ack", "1001"}, {">", "A", "seq", "1001", "ack", "5001"},
	} {
		frame, _, _ := tcpFrame(b, words)
		w.send(frame)
	}
	frame, _, _ := tcpFrame(b, []string{"<", "A", "seq", "5001", "ack", "1001"})
	p := w.take(frame, len(frame))
	p.Prerouting = false
	b.ReportAllocs()
	for b.Loop() {
		w.at.Reset()
		w.table.Track(p)
	}
}

// BenchmarkNewFlow opens and confirms connections.
func BenchmarkNewFlow(b *testing.B) {
	w := newWorld(b, Config{Max: 1 << 22})
	frames := make([][]byte, 1<<16)
	for i := range frames {
		frames[i] = flowFrame(uint32(i))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w.now += 31 * second / (1 << 16)
		w.send(frames[i&(1<<16-1)])
		i++
	}
}

// BenchmarkTranslate rewrites both ends of an established connection's packet.
func BenchmarkTranslate(b *testing.B) {
	w := newWorld(b, Config{})
	frame := w.frame(syn)
	w.forward(natRules{to("10.0.0.9", "", 8080, 8080, 0), to("203.0.113.1", "", 0, 0, 0)}, frame)
	b.ReportAllocs()
	for b.Loop() {
		p := w.take(frame, len(frame))
		p.Prerouting = false
		w.table.Track(p)
		w.table.Translate(p, DestinationManip, true, &w.buffer)
		w.table.Translate(p, SourceManip, false, &w.buffer)
	}
}

// BenchmarkDefrag passes whole packets, and puts two fragments together.
func BenchmarkDefrag(b *testing.B) {
	w := newWorld(b, Config{})
	whole := w.frame("ip frag-off 0 udp dport 53 payload length 1400")
	var d Defrag
	var mark uint32
	b.Run("whole", func(b *testing.B) {
		p := w.take(whole, len(whole))
		b.ReportAllocs()
		for b.Loop() {
			d.Collect(p, FragmentPlace{}, &mark, &w.buffer)
		}
	})
	b.Run("fragments=2", func(b *testing.B) {
		first, second := cut4(whole, 0, 704, true), cut4(whole, 704, 704, false)
		for b.Loop() {
			d.Collect(w.take(first, len(first)), FragmentPlace{}, &mark, &w.buffer)
			d.Collect(w.take(second, len(second)), FragmentPlace{}, &mark, &w.buffer)
		}
	})
}
