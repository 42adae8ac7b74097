// Package iptables reads what iptables-save and ip6tables-save write, gives it
// the meaning that the kernel's legacy tables have, and translates it into the
// language of nft.
//
// Parse reads a file into Tables: header tests, extension matches in order, and
// one target per rule. Check makes the checks of the kernel and of iptables at
// load. Compile makes a Program of loaded tables, and a Machine walks it for
// each packet. Translate writes nft commands.
//
// Each extension is one file: its options, how a listing shows it, its nft
// form, and what it does to a packet. What this package does not know is an
// error that names it.
//
// Ref: ip_tables.c, ip6_tables.c, x_tables.c.
package iptables
