package tc

import (
	"fmt"
	"syscall"
)

// classRequest is a command on classes.
type classRequest struct {
	dev         *Device
	kind        string
	parent, id  uint32
	quantum     uint32
	exclude     bool
	replace     bool
	deletesOnly bool
}

// changeClass adds, changes or deletes a class of drr.
//
// Ref: sch_api.c, tc_ctl_tclass
func (s *System) changeClass(r *classRequest) *KernelError {
	q := r.qdisc()
	if q == nil {
		return refuse(syscall.ENOENT, "Failed to find specified qdisc")
	}
	if !classful(q.Kind) {
		return refuse(syscall.EINVAL, "Qdisc not classful")
	}
	id := r.id
	if id>>16 == 0 {
		id |= q.Handle
	}
	if id&0xffff0000 != q.Handle {
		return errno(syscall.EINVAL)
	}
	c := q.class(id)
	switch {
	case r.deletesOnly && c == nil:
		return refuse(syscall.ENOENT, "Specified class not found")
	case r.deletesOnly && q.Kind == "prio":
		return errno(syscall.EOPNOTSUPP)
	case r.deletesOnly && c.filters > 0:
		return refuse(syscall.EBUSY, "DRR class is in use")
	case r.deletesOnly:
		for i, o := range q.classes {
			if o == c {
				q.classes = append(q.classes[:i:i], q.classes[i+1:]...)
				break
			}
		}
		return nil
	case q.Kind == "prio":
		return errno(syscall.EOPNOTSUPP)
	case c != nil && r.exclude:
		return refuse(syscall.EEXIST, "Class already exists")
	case c == nil:
		c = &class{id: id, parent: handleRoot, quantum: 1514}
		q.classes = append(q.classes, c)
	}
	if r.quantum != 0 {
		c.quantum = r.quantum
	}
	return nil
}

func (r *classRequest) qdisc() *Qdisc {
	switch {
	case r.id>>16 != 0:
		return r.dev.qdisc(r.id & 0xffff0000)
	case r.parent == handleRoot || r.parent == 0:
		return r.dev.at(handleRoot)
	}
	return r.dev.qdisc(r.parent & 0xffff0000)
}

// showClasses lists the classes of a device.
func (s *System) showClasses(o *printer, d *Device) {
	for _, q := range d.qdiscs {
		for _, c := range q.classes {
			o.object("")
			o.put("class", "class %s ", q.Kind)
			o.put("handle", "%s ", classText(c.id))
			if c.parent == handleRoot {
				o.put("root", "root ", true)
			} else {
				o.put("parent", "parent %s ", classText(c.parent))
			}
			if q.Kind == "drr" {
				o.put("quantum", "quantum %s ", quantumText(o, c.quantum))
			}
			o.nl()
			o.endObject()
		}
	}
}

func quantumText(o *printer, n uint32) any {
	if o.JSON {
		return n
	}
	return fmt.Sprintf("%db", n)
}
