package conntrack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"verdict/packet"

	"pgregory.net/rapid"
)

// cut4 makes a fragment of a raw IPv4 packet.
func cut4(whole []byte, offset, size int, more bool) []byte {
	f := append(bytes.Clone(whole[:20]), whole[20+offset:20+offset+size]...)
	binary.BigEndian.PutUint16(f[2:], uint16(len(f)))
	field := uint16(offset / 8)
	if more {
		field |= 0x2000
	}
	binary.BigEndian.PutUint16(f[6:], field)
	binary.BigEndian.PutUint16(f[10:], packet.IPv4HeaderChecksum(f[:20]))
	return f
}

// cut6 makes a fragment of a raw IPv6 packet without extension headers.
func cut6(whole []byte, offset, size int, more bool) []byte {
	f := bytes.Clone(whole[:40])
	f[6] = packet.ProtoFragment
	field := uint16(offset)
	if more {
		field |= 1
	}
	f = append(f, whole[6], 0, byte(field>>8), byte(field), 0, 0, 0, 1)
	f = append(f, whole[40+offset:40+offset+size]...)
	binary.BigEndian.PutUint16(f[4:], uint16(len(f)-40))
	return f
}

// TestDefragConversations: each line is a series of fragments offset+size of a
// datagram of 64 bytes, an exclamation mark for the last one; what happens to
// each is a letter: c collected, d dropped, r reassembled, p passes.
func TestDefragConversations(t *testing.T) {
	tests := []struct{ name, fragments, v4, v6 string }{
		{"in order", "0+24 24+24 48+16!", "ccr", "ccr"},
		{"backwards", "48+16! 24+24 0+24", "ccr", "ccr"},
		{"duplicate", "0+24 0+24 24+40!", "cdr", "cdr"},
		{"inside of what is there", "0+24 8+8 24+40!", "cdr", "cdr"},
		{"inside of two that joined", "0+24 24+24 16+16 48+16!", "ccdr", "ccdr"},
		{"partial overlap", "0+24 16+16 32+32! 0+32 32+32!", "cdcrc", "cdcrc"},
		{"overlap before the tail", "24+24 16+16 0+24", "cdc", "cdc"},
		{"superset", "8+8 0+24 24+40!", "cdc", "cdc"},
		{"not a multiple of eight", "0+27 24+40!", "cr", "pc"},
		{"shorter than eight", "0+24 24+4 24+40!", "cdc", "cpc"},
		{"two ends", "32+16! 48+16! 0+32", "cdc", "cdr"},
		{"beyond the end", "32+16! 48+16 0+32", "cdc", "cdr"},
		{"end before what is there", "32+32 16+16! 0+16", "cdc", "cdc"},
		{"empty", "0+24 24+0! 24+40!", "cdc", "cdd"},
	}
	for _, six := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/six=%v", tt.name, six), func(t *testing.T) {
				w := newWorld(t, Config{})
				whole := w.frame("ip frag-off 0 udp dport 53 payload length 56")
				want := tt.v4
				if six {
					whole, want = w.frame("ip6 saddr fd00::1 udp dport 53 payload length 56"), tt.v6
				}
				var d Defrag
				got := ""
				for _, text := range strings.Fields(tt.fragments) {
					got += string(w.collect(&d, whole, text, six))
				}
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if got[len(got)-1] == 'r' && !strings.Contains(tt.name, "end") && !strings.Contains(tt.name, "eight") {
					if !bytes.Equal(w.view.Data, whole) {
						t.Errorf("reassembled\n%x, want\n%x", w.view.Data, whole)
					}
				}
				if d.memory != 0 && len(d.queues) == 0 {
					t.Errorf("%d bytes are still counted", d.memory)
				}
			})
		}
	}
}

// collect sends a fragment written as offset+size, with ! for the last.
func (w *world) collect(d *Defrag, whole []byte, text string, six bool) byte {
	w.t.Helper()
	last := strings.HasSuffix(text, "!")
	a, b, _ := strings.Cut(strings.TrimSuffix(text, "!"), "+")
	offset, _ := strconv.Atoi(a)
	size, err := strconv.Atoi(b)
	if err != nil {
		w.t.Fatal(err)
	}
	frame := cut4
	if six {
		frame = cut6
	}
	f := frame(whole, offset, size, !last)
	var mark uint32
	result, _ := d.Collect(w.take(f, len(f)), FragmentPlace{}, &mark, &w.buffer)
	return "pcdr"[result]
}

// TestDefragTimes: a datagram's time counts from its first fragment.
func TestDefragTimes(t *testing.T) {
	for _, tt := range []struct {
		six  bool
		wait float64
		want string
	}{{false, 29.9, "cr"}, {false, 30, "cc"}, {true, 59.9, "cr"}, {true, 60, "cc"}} {
		w := newWorld(t, Config{})
		whole := w.frame("ip frag-off 0 udp dport 53 payload length 56")
		if tt.six {
			whole = w.frame("ip6 saddr fd00::1 udp dport 53 payload length 56")
		}
		var d Defrag
		got := string(w.collect(&d, whole, "0+32", tt.six))
		w.now += int64(tt.wait * float64(second))
		got += string(w.collect(&d, whole, "32+32!", tt.six))
		if got != tt.want {
			t.Errorf("six=%v after %v s: got %s, want %s", tt.six, tt.wait, got, tt.want)
		}
	}
}

// TestDefragKeepsApart: fragments of other hooks, zones and identifications do
// not mix; the first fragment gives zone and mark.
func TestDefragKeepsApart(t *testing.T) {
	w := newWorld(t, Config{})
	whole := w.frame("ip frag-off 0 udp dport 53 payload length 56")
	first, second := cut4(whole, 0, 32, true), cut4(whole, 32, 32, false)
	var d Defrag
	var mark uint32
	send := func(f []byte, place FragmentPlace, zone uint16, m uint32) Defragged {
		w.zone = Zone{ID: zone}
		mark = m
		result, _ := d.Collect(w.take(f, len(f)), place, &mark, &w.buffer)
		return result
	}
	send(first, FragmentPlace{}, 3, 7)
	for _, r := range []Defragged{
		send(second, FragmentPlace{Output: true}, 3, 0),
		send(second, FragmentPlace{}, 4, 0),
		send(second, FragmentPlace{Master: 9}, 3, 0),
		send(second, FragmentPlace{Bridge: true}, 3, 0),
	} {
		if r != Collected {
			t.Errorf("got %d, want collected", r)
		}
	}
	if send(second, FragmentPlace{Device: 5}, 3, 0) != Reassembled || mark != 7 || w.at.TemplateZone.ID != 3 {
		t.Errorf("mark %d, zone %d", mark, w.at.TemplateZone.ID)
	}
	w.take(second, len(second))
	w.at.Reset()
	w.at.Untrack()
	if r, _ := d.Collect(&w.packet, FragmentPlace{}, &mark, &w.buffer); r != NotFragment {
		t.Error("an untracked fragment was collected")
	}
}

// TestDefragBounds: memory is bounded, and a flood from one source restarts an
// old datagram.
func TestDefragBounds(t *testing.T) {
	w := newWorld(t, Config{})
	whole := w.frame("ip frag-off 0 udp dport 53 payload length 1400")
	var d Defrag
	var mark uint32
	send := func(id int, f []byte) Defragged {
		binary.BigEndian.PutUint16(f[4:], uint16(id))
		r, _ := d.Collect(w.take(f, len(f)), FragmentPlace{}, &mark, &w.buffer)
		return r
	}
	send(1, cut4(whole, 0, 8, true))
	for id := 2; id < 100; id++ {
		send(id, cut4(whole, 0, 8, true))
	}
	if send(1, cut4(whole, 8, 1400, false)) != Collected {
		t.Error("a datagram was completed after 64 other fragments of the source")
	}
	if send(1, cut4(whole, 0, 8, true)) != Reassembled {
		t.Error("the restarted datagram was not completed")
	}
	for id := 100; id < 10000; id++ {
		send(id, cut4(whole, 0, 1400, true))
	}
	if d.memory > fragmentMemory+4096 {
		t.Errorf("%d bytes are held", d.memory)
	}
	if send(10001, cut4(whole, 0, 8, true)) != FragmentDropped {
		t.Error("want drops above the bound")
	}
	w.now += 31 * second
	if send(10001, cut4(whole, 0, 8, true)) != Collected || d.Waiting() != 1 {
		t.Errorf("%d datagrams wait", d.Waiting())
	}
}

// TestDefragHeaders: congestion marks and DF of the fragments.
func TestDefragHeaders(t *testing.T) {
	tests := []struct {
		tos    [2]byte
		df     [2]bool
		want   string
		wantDF bool
	}{
		{[2]byte{0, 0}, [2]bool{}, "00", false},
		{[2]byte{2, 3}, [2]bool{}, "03", false},
		{[2]byte{1, 2}, [2]bool{}, "01", false},
		{[2]byte{0, 2}, [2]bool{}, "", false},
		{[2]byte{0, 3}, [2]bool{}, "", false},
		{[2]byte{0xb8, 0}, [2]bool{}, "b8", false},
		{[2]byte{0, 0}, [2]bool{true, false}, "00", true},
		{[2]byte{0, 0}, [2]bool{false, true}, "00", false},
	}
	for _, tt := range tests {
		w := newWorld(t, Config{})
		whole := w.frame("ip frag-off 0 udp dport 53 payload length 56")
		var d Defrag
		var mark uint32
		var result Defragged
		for i, f := range [][]byte{cut4(whole, 0, 40, true), cut4(whole, 40, 24, false)} {
			f[1] = tt.tos[i]
			if tt.df[i] {
				f[6] |= 0x40
			}
			result, _ = d.Collect(w.take(f, len(f)), FragmentPlace{}, &mark, &w.buffer)
		}
		got := ""
		if result == Reassembled {
			got = fmt.Sprintf("%02x", w.view.Data[1])
			if df := w.view.Data[6]&0x40 != 0; df != tt.wantDF {
				t.Errorf("%v %v: DF is %v", tt.tos, tt.df, df)
			}
		}
		if got != tt.want {
			t.Errorf("%v: type of service %q, want %q", tt.tos, got, tt.want)
		}
	}
}

// TestDefragIPv6Atomic: a fragment header around a whole datagram goes away.
func TestDefragIPv6Atomic(t *testing.T) {
	w := newWorld(t, Config{})
	whole := w.frame("ip6 saddr fd00::1 udp dport 53 payload length 56")
	var d Defrag
	if got := w.collect(&d, whole, "0+64!", true); got != 'r' || !bytes.Equal(w.view.Data, whole) {
		t.Errorf("got %c, %x", got, w.view.Data)
	}
	if got := w.collect(&d, whole, "0+7", true); got != 'p' {
		t.Errorf("first fragment without a whole header: got %c", got)
	}
}

// TestDefragCut: a datagram whose fragments were not captured whole is cut too.
func TestDefragCut(t *testing.T) {
	w := newWorld(t, Config{})
	whole := w.frame("ip frag-off 0 udp dport 53 payload length 56")
	var d Defrag
	var mark uint32
	first, second := cut4(whole, 0, 32, true), cut4(whole, 32, 32, false)
	d.Collect(w.take(first, 40), FragmentPlace{}, &mark, &w.buffer)
	result, _ := d.Collect(w.take(second, len(second)), FragmentPlace{}, &mark, &w.buffer)
	if result != Reassembled || len(w.view.Data) != 40 || w.view.OrigLen != len(whole) {
		t.Errorf("result %d, %d of %d bytes", result, len(w.view.Data), w.view.OrigLen)
	}
	if w.table.Track(&w.packet); w.state() != "new" {
		t.Errorf("it is %s", w.state())
	}
}

// TestSplit: a datagram leaves in the pieces that it came in, or in smaller
// ones, and these make the same datagram again.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, Config{})
		six := rapid.Bool().Draw(rt, "six")
		size := rapid.IntRange(16, 4000).Draw(rt, "size")
		whole := w.frame("ip frag-off 0 udp dport 53 payload length " + strconv.Itoa(size-8))
		frame := cut4
		if six {
			whole = w.frame("ip6 saddr fd00::1 udp dport 53 payload length " + strconv.Itoa(size-8))
			frame = cut6
		}
		var frames [][]byte
		for offset := 0; offset < size; {
			n := rapid.IntRange(1, 200).Draw(rt, "eights") * 8
			if offset+n >= size {
				n = size - offset
			}
			frames = append(frames, frame(whole, offset, n, offset+n < size))
			offset += n
		}
		how := reassemble(rt, w, frames, whole, len(frames) == 1 && !six)
		if how == nil {
			return
		}
		mtu := rapid.IntRange(1280, 9000).Draw(rt, "mtu")
		again, leaves := how.Split(&w.view, mtu, 77)
		if leaves == LeavesNot {
			if how.MaxSize <= mtu {
				rt.Fatalf("largest %d, MTU %d: it should leave", how.MaxSize, mtu)
			}
			return
		}
		if leaves == LeavesWhole {
			return
		}
		for _, f := range again {
			if len(f) > mtu {
				rt.Fatalf("a piece of %d bytes, MTU %d", len(f), mtu)
			}
		}
		if how.MaxSize <= mtu && len(again) != len(frames) {
			rt.Fatalf("came in %d pieces, left in %d", len(frames), len(again))
		}
		reassemble(rt, w, again, whole, len(again) == 1 && !six)
	})
}

// reassemble puts fragments together and compares with the datagram.
func reassemble(t *rapid.T, w *world, frames [][]byte, whole []byte, single bool) *Reassembly {
	if single {
		return nil
	}
	var d Defrag
	var mark uint32
	for i, f := range frames {
		result, how := d.Collect(w.take(f, len(f)), FragmentPlace{}, &mark, &w.buffer)
		if i < len(frames)-1 {
			if result != Collected {
				t.Fatalf("fragment %d: %d", i, result)
			}
			continue
		}
		if result != Reassembled {
			t.Fatalf("last fragment: %d", result)
		}
		if !bytes.Equal(w.view.Data, whole) {
			t.Fatalf("got\n%x, want\n%x", w.view.Data, whole)
		}
		return how
	}
	return nil
}

// TestSplitJoinedHeader: a TCP header that came in pieces leaves whole, and what
// follows it in the largest size that came.
func TestSplitJoinedHeader(t *testing.T) {
	for _, tt := range []struct {
		first int
		want  []int
	}{{8, []int{56, 36}}, {16, []int{48, 44}}, {24, []int{24, 40, 28}}} {
		w := newWorld(t, Config{})
		whole := w.frame("ip frag-off 0 tcp flags ack payload length 72")
		var d Defrag
		var mark uint32
		second := 40
		if tt.first < 24 {
			second = 64 - tt.first
		}
		sizes := []int{tt.first, second, 92 - tt.first - second}
		var how *Reassembly
		at := 0
		for i, size := range sizes {
			f := cut4(whole, at, size, i < 2)
			_, how = d.Collect(w.take(f, len(f)), FragmentPlace{}, &mark, &w.buffer)
			at += size
		}
		frames, _ := how.Split(&w.view, 1500, 0)
		var got []int
		for _, f := range frames {
			got = append(got, len(f)-20)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("came as %v: left as %v, want %v", sizes, got, tt.want)
		}
	}
}
