// Package bench takes the headline measurements of the command: sets, rules,
// classifiers, loads, decoding and evaluation, where wanted beside a peer in the
// same run.
//
// What is compared takes turns, round by round; figures are medians over the
// rounds. Times are processor time, so that other processes' turns on a shared
// machine do not count: of the thread for lookups and changes, of the whole
// process, collections of garbage included, for loads. The threads that measure
// lookups, here and in the peer, have precedence where the system allows it.
// Every figure has its bound from the tables in bounds.go and rules_goals.go, if
// there is one, and the tests of the goals read the same figures.
package bench
