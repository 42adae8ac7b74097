package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"

	"verdict/catalog"
)

// Type is the number of a message within the subsystem nf_tables.
// Ref: include/uapi/linux/netfilter/nf_tables.h, enum nf_tables_msg_types.
type Type uint8

// The message types.
const (
	NewTable         Type = 0
	GetTable         Type = 1
	DelTable         Type = 2
	NewChain         Type = 3
	GetChain         Type = 4
	DelChain         Type = 5
	NewRule          Type = 6
	GetRule          Type = 7
	DelRule          Type = 8
	NewSet           Type = 9
	GetSet           Type = 10
	DelSet           Type = 11
	NewSetElem       Type = 12
	GetSetElem       Type = 13
	DelSetElem       Type = 14
	NewGen           Type = 15
	GetGen           Type = 16
	TraceEvent       Type = 17
	NewObj           Type = 18
	GetObj           Type = 19
	DelObj           Type = 20
	GetObjReset      Type = 21
	NewFlowtable     Type = 22
	GetFlowtable     Type = 23
	DelFlowtable     Type = 24
	GetRuleReset     Type = 25
	DestroyTable     Type = 26
	DestroyChain     Type = 27
	DestroyRule      Type = 28
	DestroySet       Type = 29
	DestroySetElem   Type = 30
	DestroyObj       Type = 31
	DestroyFlowtable Type = 32
	GetSetElemReset  Type = 33
)

// Subsystem is nf_tables' number in netlink's netfilter family.
const Subsystem = 10

// Flags of a message. Ref: include/uapi/linux/netlink.h.
const (
	FlagRequest = 0x1
	FlagAck     = 0x4
	FlagDump    = 0x300
	FlagReplace = 0x100
	FlagExcl    = 0x200
	FlagCreate  = 0x400
	FlagAppend  = 0x800
	// FlagNonRec keeps a deletion from taking what is inside along.
	FlagNonRec = 0x100
)

// Numbers of the messages around a batch.
// Ref: include/uapi/linux/netfilter/nfnetlink.h.
const (
	batchBegin = 0x10
	batchEnd   = 0x11
	attrGenID  = 1
)

// Message is one message of nf_tables without its netlink header.
type Message struct {
	Type   Type
	Flags  uint16
	Family catalog.Family
	// Attrs are the attributes, as bytes.
	Attrs []byte
	// Change is the index of the change that the message is part of.
	Change int
}

const (
	headerSize  = 16 // struct nlmsghdr
	genericSize = 4  // struct nfgenmsg
	prefixSize  = headerSize + genericSize
)

// Append appends the message with its headers. Ref: struct nlmsghdr, struct
// nfgenmsg.
func (m *Message) Append(b []byte, seq uint32) []byte {
	return appendFrame(b, Subsystem<<8|uint16(m.Type), m.Flags|FlagRequest, seq, uint8(m.Family), 0, m.Attrs)
}

func appendFrame(b []byte, typ, flags uint16, seq uint32, family uint8, resource uint16, attrs []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(prefixSize+len(attrs)))
	b = binary.LittleEndian.AppendUint16(b, typ)
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint32(b, seq)
	b = append(b, 0, 0, 0, 0) // the port is the socket's
	b = append(b, family, 0)
	b = binary.BigEndian.AppendUint16(b, resource)
	return append(b, attrs...)
}

// AppendBatch appends messages between the begin and the end of a batch.
// Message i has the sequence number first+1+i. generation, if not 0, makes the
// kernel refuse the batch (ERESTART) when another generation is current.
func AppendBatch(b []byte, messages []Message, first, generation uint32) []byte {
	var gen builder
	if generation != 0 {
		gen.u32(attrGenID, generation)
	}
	b = appendFrame(b, batchBegin, FlagRequest, first, 0, Subsystem, gen.b)
	for i := range messages {
		b = messages[i].Append(b, first+1+uint32(i))
	}
	return appendFrame(b, batchEnd, FlagRequest, first+1+uint32(len(messages)), 0, Subsystem, nil)
}

// Errors of parsing.
var (
	errShort     = errors.New("message is cut off")
	errSubsystem = errors.New("message of another subsystem")
)

// ParseMessages reads messages with their headers, such as Append and
// AppendBatch write them; begins and ends of batches are read over. The
// attributes share the bytes.
func ParseMessages(b []byte) ([]Message, error) {
	var list []Message
	for len(b) > 0 {
		if len(b) < prefixSize {
			return list, errShort
		}
		n := binary.LittleEndian.Uint32(b)
		if n < prefixSize || uint64(n) > uint64(len(b)) {
			return list, fmt.Errorf("%w: length %d of %d bytes", errShort, n, len(b))
		}
		typ := binary.LittleEndian.Uint16(b[4:])
		flags := binary.LittleEndian.Uint16(b[6:])
		switch {
		case typ == batchBegin || typ == batchEnd:
		case typ>>8 != Subsystem:
			return list, fmt.Errorf("%w: type %#x", errSubsystem, typ)
		default:
			list = append(list, Message{Type: Type(typ), Flags: flags, Family: catalog.Family(b[headerSize]), Attrs: b[prefixSize:n:n]})
		}
		b = b[min(int(n+3)&^3, len(b)):]
	}
	return list, nil
}
