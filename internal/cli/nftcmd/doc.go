// Package nftcmd is a drop-in for the nft command: it takes nft's command
// line, prints what nft prints, and exits as nft does, but keeps the ruleset
// in a state file instead of the kernel.
//
// A command line, a file, or a line of an interactive session is one batch:
// it is parsed, its commands that read are answered, and its changes apply
// wholly or not at all. Exit status is 0 or, for every failure, 1.
package nftcmd
