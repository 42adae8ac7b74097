// Package pipapo holds sets of concatenated ranges: each element is a box over
// up to 16 fields of up to 16 bytes, a lookup finds the box that a key lies in.
// It is the kernel's kind pipapo.
package pipapo
