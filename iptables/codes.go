package iptables

import "verdict/diag"

// Codes are the codes of this package's diagnostics, with what they mean.
var Codes = map[diag.Code]string{
	"iptables/address":      "a word that is no address or network of the file's family",
	"iptables/chain":        "a chain that does not exist, exists already, or cannot have its name",
	"iptables/command":      "a line without command, or with one that files of rules do not have",
	"iptables/commit":       "a table that is not closed by COMMIT",
	"iptables/compile":      "tables that cannot be run",
	"iptables/counter":      "counters that are not written [packets:bytes]",
	"iptables/family":       "nothing tells whether a file is of IPv4 or IPv6",
	"iptables/interface":    "the name of an interface is too long, or its option cannot be used in the chain",
	"iptables/jump":         "a rule goes to a chain that is built in or does not exist",
	"iptables/line":         "a line is too long, or its quotes are not closed",
	"iptables/loop":         "jumps lead back to where they began",
	"iptables/match":        "a match that does not exist",
	"iptables/option":       "an option that does not exist, is given twice, or lacks its value",
	"iptables/place":        "a match or target that cannot be used in this table or chain",
	"iptables/policy":       "a policy that is missing, unknown, or not for this chain",
	"iptables/position":     "a rule inserted behind the end of its chain",
	"iptables/protocol":     "a protocol that does not exist, or is not what a match or target needs",
	"iptables/rule":         "the options of a match or target contradict each other or are incomplete",
	"iptables/table":        "a table that does not exist, or a line outside of any",
	"iptables/target":       "a target or chain that does not exist",
	"iptables/unsupported":  "a match or target of iptables that is not carried out here",
	"iptables/untranslated": "a rule that nft cannot express",
	"iptables/value":        "an option's value is wrong",
	"iptables/word":         "a word that belongs to no option, or a ! where none can stand",
}
