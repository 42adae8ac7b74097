package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes a file's content and length durable.
func syncFile(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
