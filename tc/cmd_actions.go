package tc

import (
	"fmt"
	"syscall"
)

const actionsUsage = "usage: tc actions { add | change | replace } ACTIONSPEC\n" +
	"       tc actions { get | delete } action KIND index INDEX\n" +
	"       tc actions { ls | flush } action KIND"

func (c *session) actions(w *words) error {
	w.skip()
	if !w.more() {
		return usageOnly("%s", actionsUsage)
	}
	verb := w.peek()
	w.skip()
	switch {
	case prefix(verb, "add"):
		return c.actionsModify(w, false)
	case prefix(verb, "change"), prefix(verb, "replace"):
		return c.actionsModify(w, true)
	case prefix(verb, "delete"):
		return c.actionsNamed(w, true)
	case prefix(verb, "get"):
		return c.actionsNamed(w, false)
	case prefix(verb, "list"), prefix(verb, "show"), prefix(verb, "lst"):
		return c.actionsList(w)
	case prefix(verb, "flush"):
		return c.actionsFlush(w)
	case prefix(verb, "help"):
		return usageOnly("%s", actionsUsage)
	}
	return unknown(verb, "actions")
}

// everyActionFails makes the status of an error 255, as the object has it.
func everyActionFails(err *ToolError) *ToolError {
	err.Status = exitUsage
	return err
}

// actionsModify adds or changes shared actions, all or none.
//
// Ref: act_api.c, tcf_action_add
func (c *session) actionsModify(w *words, replace bool) error {
	list, err := c.s.parseActions(w)
	if err != nil {
		return everyActionFails(illegal(err, "action"))
	}
	if len(list) > maxActions {
		return everyActionFails(tool("too many actions"))
	}
	var made []*Action
	for _, r := range list {
		a, fresh, kerr := c.s.initAction(r, nil, replace)
		if kerr == nil && fresh {
			made = append(made, a)
			kerr = c.s.offloadAlone(a)
		}
		if kerr != nil {
			for _, m := range made {
				c.s.release(m, false)
			}
			c.kernel(kerr, true)
			c.status = exitUsage
			return nil
		}
	}
	return nil
}

// offloadAlone offers an action on its own to hardware. No device of the model
// takes actions without filters.
//
// Ref: act_api.c, tcf_action_offload_add
func (s *System) offloadAlone(a *Action) *KernelError {
	if a.skipSW && a.skipHW {
		return errno(syscall.EINVAL)
	}
	if a.skipSW {
		return errno(syscall.EOPNOTSUPP)
	}
	return nil
}

// named is one "action KIND index N".
type named struct {
	kind  string
	index uint32
}

func (c *session) parseNamed(w *words) ([]named, *ToolError) {
	var list []named
	for w.more() {
		if w.is("action") {
			w.skip()
			continue
		}
		n := named{kind: w.peek()}
		if actionKinds[n.kind] == nil {
			return nil, tool("Error: non existent action: %s\nbad action parsing\nparse_action: bad value (%d:%s)!", n.kind, w.left(), n.kind)
		}
		w.skip()
		if !w.matches("index") {
			return nil, tool("Error: no index specified action: %s\nbad action parsing\nparse_action: bad value (%d:%s)!", n.kind, w.left(), w.peek())
		}
		text, err := w.value()
		if err != nil {
			return nil, err
		}
		index, ok := number32(text, 10)
		if !ok {
			return nil, tool("Illegal \"index\"")
		}
		n.index = index
		list = append(list, n)
	}
	return list, nil
}

// actionsNamed gets or deletes actions by index, all or none.
//
// Ref: act_api.c, tca_action_gd
func (c *session) actionsNamed(w *words, del bool) error {
	start := w.peek()
	list, err := c.parseNamed(w)
	if err != nil {
		return everyActionFails(illegal(err, "action"))
	}
	var found []*Action
	for _, n := range list {
		a := c.s.table(n.kind).byIndex.get(n.index)
		var kerr *KernelError
		switch {
		case a == nil:
			kerr = refuse(syscall.ENOENT, "TC action with specified index not found")
		case del && a.binds > 0:
			kerr = refuse(syscall.EPERM, "Failed to delete TC action")
		}
		if kerr != nil {
			c.kernel(kerr, true)
			return unknown(start, "actions")
		}
		found = append(found, a)
	}
	if del {
		for _, a := range found {
			c.s.release(a, false)
		}
		return nil
	}
	o := c.printer()
	c.s.listActions(&o, found, 1, 0)
	c.out.WriteString(o.finish())
	return nil
}

// listActions writes a listing of shared actions.
func (s *System) listActions(o *printer, list []*Action, first, total int) {
	o.array("")
	o.object("")
	o.put("total acts", "total acts %d", total)
	o.endObject()
	o.nl()
	o.nl()
	o.object("")
	s.showActions(o, list, first, true)
	o.endObject()
	o.endArray()
}

func (c *session) actionsList(w *words) error {
	kind, err := c.kindWord(w)
	if err != nil {
		return err
	}
	list := c.s.table(kind).sorted()
	o := c.printer()
	if len(list) == 0 {
		o.array("")
		o.endArray()
	} else {
		c.s.listActions(&o, list, 0, len(list))
	}
	c.out.WriteString(o.finish())
	return nil
}

// kindWord reads "action KIND".
func (c *session) kindWord(w *words) (string, error) {
	if w.is("action") {
		w.skip()
	}
	if !w.more() {
		return "", usageOnly("%s", actionsUsage)
	}
	kind := w.peek()
	w.skip()
	if actionKinds[kind] == nil {
		return "", usageOnly("bad action %s", kind)
	}
	return kind, nil
}

// actionsFlush deletes the actions of a kind in order, up to the first that a
// filter uses.
//
// Ref: act_api.c, tcf_del_walker
func (c *session) actionsFlush(w *words) error {
	kind, err := c.kindWord(w)
	if err != nil {
		return err
	}
	deleted := 0
	for _, a := range c.s.table(kind).sorted() {
		if a.binds > 0 {
			if deleted > 0 {
				c.kernel(&KernelError{Message: "Unable to flush all TC actions", Warning: true}, false)
				return nil
			}
			fmt.Fprintln(&c.errs, errno(syscall.EPERM).Error())
			return tool("We have an error flushing")
		}
		c.s.release(a, false)
		deleted++
	}
	return nil
}
