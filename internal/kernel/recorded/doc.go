// Package recorded reads verdicts that a real kernel gave: rulesets, packets,
// and what Linux did with each, step by step. Tests compare the engine with
// them.
package recorded
