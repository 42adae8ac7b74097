package kernel

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"verdict/catalog"
	"verdict/nft/netlink"
)

// connections compares the connection tables.
func (l *Lab) connections(runs *runs, result *Result) error {
	if e := runs.traced.engine; !e.Tracks(catalog.FamilyIP) && !e.Tracks(catalog.FamilyIP6) {
		return nil
	}
	kernel, err := l.control.kernelConnections()
	if err != nil {
		return err
	}
	for _, r := range []*run{runs.traced, runs.fast} {
		var own []string
		for c := range r.engine.Connections().All(r.worker.Now()) {
			own = append(own, string(c.AppendText(nil)))
		}
		slices.Sort(own)
		// Deleted rules stop tracking in the kernel's own time.
		kernel := slices.DeleteFunc(slices.Clone(kernel), func(line string) bool {
			return !r.engine.Tracks(catalog.FamilyIP) && strings.HasPrefix(line, "ipv4") ||
				!r.engine.Tracks(catalog.FamilyIP6) && strings.HasPrefix(line, "ipv6")
		})
		if k, e := missing(kernel, own), missing(own, kernel); k+e != "" {
			result.differ(-1, "connections", k, e)
		}
	}
	return nil
}

// missing lists the lines of one list that the other one does not have.
func missing(list, other []string) string {
	var lines []string
	for _, line := range list {
		if !slices.Contains(other, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n    ")
}

// flushConnections forgets all connections of the namespace.
// Ref: nf_conntrack_netlink.c, ctnetlink_del_conntrack.
func (s *socket) flushConnections() error {
	const deleteConnections = 1<<8 | 2
	s.seq++
	b := []byte{20, 0, 0, 0, deleteConnections & 0xff, deleteConnections >> 8, netlink.FlagRequest | netlink.FlagAck, 0,
		byte(s.seq), byte(s.seq >> 8), byte(s.seq >> 16), byte(s.seq >> 24), 0, 0, 0, 0, 0, 0, 0, 0}
	if err := s.send(b); err != nil {
		return err
	}
	for {
		frames, err := s.receive(0)
		if err != nil {
			return fmt.Errorf("flush connections: %w", err)
		}
		for _, f := range frames {
			if f.typ != netlinkError || f.seq != s.seq {
				continue
			}
			if errno, err := refusal(f); err != nil || errno != 0 && errno != unix.ENOENT {
				return fmt.Errorf("flush connections: %w", errno)
			}
			return nil
		}
	}
}
