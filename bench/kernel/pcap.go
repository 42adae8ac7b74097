package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

// readFrames reads the frames of a little-endian pcap file.
func readFrames(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const fileHeader, frameHeader, magic = 24, 16, 0xa1b2c3d4
	if len(b) < fileHeader || binary.LittleEndian.Uint32(b) != magic {
		return nil, fmt.Errorf("%s: no little-endian pcap file", path)
	}
	var frames [][]byte
	for b = b[fileHeader:]; len(b) >= frameHeader; {
		n := frameHeader + int(binary.LittleEndian.Uint32(b[8:]))
		if n > len(b) {
			return nil, fmt.Errorf("%s: the last frame is cut short", path)
		}
		frames = append(frames, b[frameHeader:n])
		b = b[n:]
	}
	if len(frames) == 0 {
		return nil, fmt.Errorf("%s: no frames", path)
	}
	return frames, nil
}
