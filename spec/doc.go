// Package spec runs executable cases: rulesets, packets, and what must become
// of the packets. The cases define what every executor of rulesets has to do;
// they were written from the kernel's documented behaviour.
//
// A file holds the cases of one feature, in txtar form. Its comment says what
// they show and where the behaviour comes from. Sections before the first case
// belong to all cases; a case may give its own instead.
//
//	Compare is bytewise and unsigned. Ref: nft_cmp.c, nft_cmp_eval.
//	-- ruleset.nft --
//	table ip t {
//		chain input { type filter hook input priority 0; policy drop; }
//	}
//	-- case: less than --
//	-- bytecode --
//	input
//	  [ payload load 2b @ transport header + 2 => reg 1 ]
//	  [ cmp lt reg 1 0x0400 ]
//	  [ immediate reg 0 accept ]
//	-- packets @input --
//	below: tcp dport 1023
//	equal: tcp dport 1024
//	-- expect --
//	below: accept by input#1
//	equal: drop by policy of input
//
// Sections:
//
// Batches and packets come in the order of their sections: a batch behind
// packets changes the ruleset that they met, at the time of the last one.
//
//   - ruleset.nft: a batch in the nft language.
//   - bytecode: a batch of rules as expressions. A line without bracket names
//     the chain (CHAIN or FAMILY TABLE CHAIN); an empty line ends a rule.
//   - elements: a batch of set elements as the kernel takes them, unchecked by
//     nft. A line says add, create, delete or destroy and names the set (SET or
//     FAMILY TABLE SET); the lines behind it are its elements: "element KEY",
//     "element KEY - KEYEND", "element KEY flags N", in hexadecimal. A range of
//     a single field is two elements, its start and the first key behind it with
//     flags 1; flags 2 is the catch-all element, which has no key.
//   - host.json: the simulated host.
//   - options: engine options, one a line: "accounting", "known routes",
//     "replies" (the host answers, and the packets that it makes are shown),
//     "before 7.1" (as Linux was then), "sets"
//     (list all named sets, not only those that packets change).
//   - packets: one packet a line: NAME [@HOOK] [+DURATION] [at TIME] [cut N]
//     [xN]: and its text as package packet/build reads it. No time passes
//     unless said. cut N leaves only N captured bytes; xN sends the packet N
//     times. A hook after the section's name is that of all its packets;
//     packets without one go the whole way of a host.
//   - expect: what must come out, in the form that Run renders: one line for
//     each refusal and each packet, in order, then counters, quotas and the
//     contents of sets that packets may change.
//
// A packet's line gives its fate, what decided, and everything else that the
// rules did to it:
//
//	web: accept by postrouting#1, mark=0x1, ct=new → ip saddr 192.0.2.1
//
// Why the host itself lost a packet is not part of it.
package spec
