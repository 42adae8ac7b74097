// Package render prints the events of a traced packet: as text for people, or
// in the form of `nft monitor trace`.
package render
