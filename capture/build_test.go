package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
)

// order is a byte order that can append as well as put.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var little, big order = binary.LittleEndian, binary.BigEndian

// pcapFile lays out pcap files of any kind, valid or not.
type pcapFile struct {
	order
	b []byte
}

func newPcapFile(o order, magic uint32, minor uint16, snapLen, link uint32) *pcapFile {
	f := &pcapFile{order: o}
	f.b = o.AppendUint32(f.b, magic)
	f.b = o.AppendUint16(f.b, 2)
	f.b = o.AppendUint16(f.b, minor)
	f.b = o.AppendUint64(f.b, 0)
	f.b = o.AppendUint32(f.b, snapLen)
	f.b = o.AppendUint32(f.b, link)
	return f
}

func (f *pcapFile) record(seconds, fraction, captured, original uint32, data string) *pcapFile {
	for _, word := range []uint32{seconds, fraction, captured, original} {
		f.b = f.AppendUint32(f.b, word)
	}
	f.b = append(f.b, data...)
	return f
}

// ngFile lays out pcapng files block by block.
type ngFile struct {
	order
	b []byte
}

func newNgFile(o order) *ngFile {
	f := &ngFile{order: o}
	return f.section(o)
}

// section starts a new section, whose byte order holds from there on.
func (f *ngFile) section(o order) *ngFile {
	f.order = o
	body := o.AppendUint32(nil, 0x1a2b3c4d)
	body = o.AppendUint16(body, 1)
	body = o.AppendUint16(body, 0)
	body = o.AppendUint64(body, 1<<64-1)
	return f.block(0x0a0d0d0a, body)
}

func (f *ngFile) block(kind uint32, body []byte) *ngFile {
	body = append(body, make([]byte, -len(body)&3)...)
	f.b = f.AppendUint32(f.b, kind)
	f.b = f.AppendUint32(f.b, uint32(len(body)+12))
	f.b = append(f.b, body...)
	f.b = f.AppendUint32(f.b, uint32(len(body)+12))
	return f
}

// option is one option of a block.
type option struct {
	code  uint16
	value string
}

func (f *ngFile) options(body []byte, options []option) []byte {
	body = append(body, make([]byte, -len(body)&3)...)
	if len(options) == 0 {
		return body
	}
	for _, o := range append(options, option{}) {
		body = f.AppendUint16(body, o.code)
		body = f.AppendUint16(body, uint16(len(o.value)))
		body = append(body, o.value...)
		body = append(body, make([]byte, -len(o.value)&3)...)
	}
	return body
}

func (f *ngFile) iface(link uint16, snapLen uint32, options ...option) *ngFile {
	body := f.AppendUint16(nil, link)
	body = f.AppendUint16(body, 0)
	body = f.AppendUint32(body, snapLen)
	return f.block(1, f.options(body, options))
}

func (f *ngFile) enhanced(id uint32, stamp uint64, original uint32, data string, options ...option) *ngFile {
	body := f.AppendUint32(nil, id)
	body = f.AppendUint32(body, uint32(stamp>>32))
	body = f.AppendUint32(body, uint32(stamp))
	body = f.AppendUint32(body, uint32(len(data)))
	body = f.AppendUint32(body, original)
	return f.block(6, f.options(append(body, data...), options))
}

func (f *ngFile) obsolete(id uint16, stamp uint64, original uint32, data string, options ...option) *ngFile {
	body := f.AppendUint16(nil, id)
	body = f.AppendUint16(body, 7) // drops
	body = f.AppendUint32(body, uint32(stamp>>32))
	body = f.AppendUint32(body, uint32(stamp))
	body = f.AppendUint32(body, uint32(len(data)))
	body = f.AppendUint32(body, original)
	return f.block(2, f.options(append(body, data...), options))
}

func (f *ngFile) simple(original uint32, data string) *ngFile {
	return f.block(3, append(f.AppendUint32(nil, original), data...))
}

func gzipped(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}
