// Package workload makes captures of traffic that never happened: seeded,
// the same bytes on every machine, with correct checksums and plausible
// times. The examples, benchmarks and tests of this repository use them.
//
// [Server] is what a server's interface sees, [Gateway] what the two
// interfaces of a home gateway receive and send. Their variables name the
// hosts that take part, so that rulesets can be written for them. All
// addresses are from documentation or private ranges.
//
// [ElementShape] makes sets of up to millions of elements: their text, keys to
// look up, and frames that lead to a look-up.
package workload
