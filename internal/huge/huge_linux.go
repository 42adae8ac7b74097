package huge

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Slice returns a zeroed slice of n elements. If it is large, the system is
// asked to put it on huge pages; that it may decline is no error.
func Slice[T any](n int) []T {
	s := make([]T, n)
	var t T
	bytes := uintptr(n) * unsafe.Sizeof(t)
	if bytes < 2*Size {
		return s
	}
	// The pages in which the slice begins and ends are asked for as well: they
	// belong to the same heap, mostly to slices of the same kind.
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	first := begin &^ (Size - 1)
	length := (begin+bytes+Size-1)&^(Size-1) - first
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, length, unix.MADV_HUGEPAGE)
	return s
}
