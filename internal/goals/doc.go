// Package goals holds the goals of each milestone as tests: each prints
// "goal: what: figure (bound): pass or fail". `make show-N` runs those of
// milestone N. Goals that time something run only with VERDICT_GOALS=1, since
// a busy machine would fail them.
package goals
