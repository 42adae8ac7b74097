// Package tccmd is the drop-in for the tc command: tc's own command line over a
// state file instead of the kernel, and the verbs that only a model has:
// devices with hardware, explanations, the counts of the bypass.
//
// The state file is text: a line for each device and for each command that
// changed something, with its time. Loading executes them again, which gives
// the same handles and indexes.
package tccmd
