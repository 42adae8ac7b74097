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
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	skip := (begin+Size-1)&^(Size-1) - begin
	length := (bytes - skip) &^ (Size - 1)
	whole := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), skip)), length)
	_ = unix.Madvise(whole, unix.MADV_HUGEPAGE)
	return s
}
