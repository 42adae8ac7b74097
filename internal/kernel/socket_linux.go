package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"verdict/catalog"
	"verdict/nft/netlink"
)

// Netlink's own message types. Ref: include/uapi/linux/netlink.h.
const (
	netlinkError = 2
	netlinkDone  = 3
)

// socket is a netfilter netlink socket of the calling thread's namespace.
type socket struct {
	fd  int
	seq uint32
	buf []byte
}

// traceGroup is the multicast group of trace events.
// Ref: include/uapi/linux/netfilter/nfnetlink.h, NFNLGRP_NFTRACE.
const traceGroup = 9

// openSocket opens a socket and joins a group unless it is 0.
func openSocket(group int) (*socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, err
	}
	s := &socket{fd: fd, buf: make([]byte, 256<<10)}
	for _, option := range []int{unix.SO_RCVBUFFORCE, unix.SO_SNDBUFFORCE} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 32<<20); err != nil {
			s.close()
			return nil, err
		}
	}
	timeout := unix.Timeval{Sec: 10}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		s.close()
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		s.close()
		return nil, err
	}
	if group != 0 {
		if err := unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, group); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *socket) close() { unix.Close(s.fd) }

func (s *socket) send(b []byte) error {
	return unix.Sendto(s.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

func bytesPointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// frame is one netlink message as it came.
type frame struct {
	typ  uint16
	seq  uint32
	body []byte
}

// receive reads one datagram and cuts it into messages; they share its bytes.
func (s *socket) receive(flags int) ([]frame, error) {
	n, _, err := unix.Recvfrom(s.fd, s.buf, flags)
	if err != nil {
		return nil, err
	}
	var list []frame
	for b := s.buf[:n]; len(b) >= 16; {
		size := binary.LittleEndian.Uint32(b)
		if size < 16 || int(size) > len(b) {
			return list, errors.New("malformed netlink message")
		}
		list = append(list, frame{binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint32(b[8:]), b[16:size]})
		b = b[min(int(size+3)&^3, len(b)):]
	}
	return list, nil
}

// refusal is an error that the kernel answers a message with.
func refusal(f frame) (unix.Errno, error) {
	if len(f.body) < 4 {
		return 0, errors.New("malformed netlink error")
	}
	return unix.Errno(-int32(binary.LittleEndian.Uint32(f.body))), nil
}

// dump asks for a dump and returns the answers.
func (s *socket) dump(request netlink.Message) ([]netlink.Message, error) {
	s.seq++
	request.Flags |= netlink.FlagDump
	if err := s.send(request.Append(nil, s.seq)); err != nil {
		return nil, err
	}
	var list []netlink.Message
	for {
		frames, err := s.receive(0)
		if err != nil {
			return nil, err
		}
		for _, f := range frames {
			switch {
			case f.seq != s.seq:
			case f.typ == netlinkDone:
				return list, nil
			case f.typ == netlinkError:
				errno, err := refusal(f)
				if err == nil {
					err = errno
				}
				return nil, err
			case len(f.body) >= 4:
				attrs := append([]byte(nil), f.body[4:]...)
				list = append(list, netlink.Message{Type: netlink.Type(f.typ), Family: familyOf(f.body), Attrs: attrs})
			}
		}
	}
}

func familyOf(body []byte) catalog.Family { return catalog.Family(body[0]) }

// Refusal is a message of a batch that the kernel refused.
type Refusal struct {
	Change int // index of the change
	Errno  unix.Errno
}

// batch sends messages as a batch and returns what was refused, in order.
func (s *socket) batch(messages []netlink.Message) ([]Refusal, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	last := len(messages) - 1
	messages[last].Flags |= netlink.FlagAck
	first := s.seq + 1
	s.seq = first + uint32(len(messages)) + 1
	if err := s.send(netlink.AppendBatch(nil, messages, first, 0)); err != nil {
		return nil, fmt.Errorf("send batch: %w", err)
	}
	var list []Refusal
	for {
		frames, err := s.receive(0)
		if err != nil {
			return nil, fmt.Errorf("answer to batch: %w", err)
		}
		for _, f := range frames {
			if f.typ != netlinkError {
				continue
			}
			errno, err := refusal(f)
			if err != nil {
				return nil, err
			}
			i := int(f.seq - first - 1)
			if errno != 0 {
				r := Refusal{Change: -1, Errno: errno}
				if i >= 0 && i <= last {
					r.Change = messages[i].Change
				}
				list = append(list, r)
			}
			if i == last || i < 0 || i > last {
				return list, nil
			}
		}
	}
}
