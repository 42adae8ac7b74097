// Package huge asks the system to back large tables with huge pages: a lookup
// in a table of many megabytes otherwise pays for address translation more
// than for the memory itself.
package huge

// Size is the size of a huge page.
const Size = 2 << 20
