package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded returns n bytes that end directly in front of a page which cannot be
// touched, or begin directly behind one.
func guarded(t *testing.T, n int, atEnd bool) []byte {
	t.Helper()
	page := unix.Getpagesize()
	body := (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, body+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, p := range [][]byte{all[:page], all[page+body:]} {
		if err := unix.Mprotect(p, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if atEnd {
		return all[page+body-n : page+body]
	}
	return all[page : page+n]
}

func guardedWords(t *testing.T, n int, atEnd bool) []uint64 {
	b := guarded(t, 8*n, atEnd)
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), n)
}

// The kernels touch nothing outside what they are given: beyond it the process
// would die.
func TestGuardPages(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 5))
		for _, atEnd := range []bool{true, false} {
			for _, size := range []int{1, 4, 5, 8, 12, 33, 64, 68} {
				table := guardedWords(t, 2*256*size, atEnd)
				dst := guardedWords(t, size, atEnd)
				for i := range table {
					table[i] = rnd.Uint64()
				}
				And8(dst, table, size, []byte{255, 255}, false)
				And8(dst, table, size, []byte{0, 0}, true)
				And4(dst, table[:2*32*size], size, []byte{255, 255}, false)
				And4(dst, table[len(table)-2*32*size:], size, []byte{255, 255}, false)
			}
			box := (*[64]uint32)(unsafe.Pointer(&guarded(t, 256, atEnd)[0]))
			if Match16(box, 0, 0) != 1<<16-1 || CountNotAbove(box, 64, 0) != 64 {
				t.Error("wrong results in a guarded page")
			}
			Prefetch(unsafe.Pointer(box), 64)
		}
	})
}
