// Package vm is the nf_tables virtual machine: the plain interpreter of
// bytecode, and with it the definition of what a ruleset means. Every faster
// executor is tested against it.
//
// Link turns a ruleset snapshot into a Program: one flat array of fixed-size
// instructions per chain. A Machine runs base chains of a Program on packets,
// one at a time; it belongs to one goroutine. State holds what packets change
// (counters, limits, quotas, …) and outlives programs.
package vm
