//go:build !linux

package huge

// Slice returns a zeroed slice of n elements.
func Slice[T any](n int) []T { return make([]T, n) }
