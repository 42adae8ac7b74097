// Package simd has the inner loops on bit maps: for each a generic form, which
// is always built and defines the result, and on amd64 vector forms that are
// chosen by Level.
//
// Bit maps are slices of 64-bit words, bit r in word r/64. No kernel reads or
// writes beyond the words that its documentation names.
package simd
