// Package ruleset is what the kernel would hold: tables, chains, rules as
// bytecode, sets with their elements, stateful objects, flowtables; and the
// transactions that change it, with the kernel's checks and errnos.
//
// # Snapshots and batches
//
// A Ruleset is an immutable snapshot. Apply takes a snapshot and a batch of
// changes and gives the next snapshot, or the errors and nothing else: all or
// nothing. Snapshots share what did not change and are safe for concurrent
// readers. The elements of a set live in a structure of package set that the
// snapshots share as well; each snapshot has its own view of it.
//
// # State
//
// What packets change is not here: counters, quotas, limits, connections and
// what else an expression remembers belong to a state that whoever runs
// packets keeps, and takes over from one snapshot to the next by identity:
//
//   - of an expression in a rule: handle of the table, handle of the rule,
//     Revision of the rule, and the expression's place in it. A rule that is
//     replaced keeps its handle but gets another revision.
//   - of an object, set, chain or flowtable: handle of the table and its own.
//   - of an element: the address of its set.Entry, which stays the same in all
//     snapshots as long as the element does. (A batch on a snapshot that is not
//     the newest copies the sets it changes, with new entries.)
//
// Handles are never given twice. Exceptions are the elements of sets with the
// flag SetEval, which packets add and remove through Elements.Set, and the
// times of elements: both show in all snapshots at once.
package ruleset
