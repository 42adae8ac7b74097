// Package chain compiles the chains of a program, so that a packet meets only
// the rules that it can match. What a rule compares at its beginning becomes
// constraints on fields; a classify.Table over them gives the candidates in
// order, and the virtual machine executes these, so that verdicts, counters and
// everything else are those of the plain interpreter.
//
// The rules for exactness:
//
//   - Constraints come from the expressions in front of the first one that has
//     an effect (a counter, a limit, a log, …): a rule that a table leaves out
//     could not have had any.
//   - A load that breaks a rule makes a field absent. For each set of absent
//     fields there is a table of its own, without the rules that need them.
//   - Where a load would need bytes that the capture cut off, the rules run one
//     by one, since only then it is known which of them makes the verdict
//     unknown.
//   - A rule that changes what others read (marks, packet bytes, …) makes the
//     fields be read anew.
//   - What no table can express, such as look-ups in large sets, stays with the
//     candidate and is executed.
package chain
