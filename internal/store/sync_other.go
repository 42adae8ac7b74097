//go:build !linux

package store

import "os"

// syncFile makes a file's content and length durable.
func syncFile(f *os.File) error { return f.Sync() }
