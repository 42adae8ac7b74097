package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// magic begins every state file; the digit is the version of the framing.
const magic = "verdict state 1\n"

// recordKind says what a record holds.
type recordKind uint32

const (
	recordSchema recordKind = iota + 1
	recordSnapshot
	recordBatch
	recordHandles
	recordIdentity
)

// headerSize is the size of a record's header: kind, length, checksum.
const headerSize = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends a record.
func appendRecord(b []byte, kind recordKind, content []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(kind))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	sum := crc32.Update(crc32.Checksum(b[at:], castagnoli), castagnoli, content)
	b = binary.LittleEndian.AppendUint32(b, sum)
	return append(b, content...)
}

// errTorn is a record at the end of the file that was never written wholly.
var errTorn = fmt.Errorf("the record is cut off")

// nextRecord reads the record at the head of data. The error is errTorn if
// data ends within the record.
func nextRecord(data []byte) (kind recordKind, content []byte, size int, err error) {
	if len(data) < headerSize || allZero(data) {
		return 0, nil, 0, errTorn
	}
	kind = recordKind(binary.LittleEndian.Uint32(data))
	length := binary.LittleEndian.Uint64(data[4:])
	if kind < recordSchema || kind > recordIdentity {
		return 0, nil, 0, fmt.Errorf("no record of kind %d is known", kind)
	}
	if length > uint64(len(data)-headerSize) {
		return 0, nil, 0, errTorn
	}
	content = data[headerSize : headerSize+int(length)]
	sum := crc32.Update(crc32.Checksum(data[:12], castagnoli), castagnoli, content)
	if want := binary.LittleEndian.Uint32(data[12:]); sum != want {
		return 0, nil, 0, fmt.Errorf("the checksum is %08x, the content has %08x", want, sum)
	}
	return kind, content, headerSize + int(length), nil
}

// allZero tells whether data is what a file system leaves behind when power
// fails after a file grew and before its content was written.
func allZero(data []byte) bool {
	if data[0] != 0 {
		return false
	}
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}
