package netlink

import (
	"fmt"

	"verdict/nft/ruleset"
)

// Numbers of the attributes of sets and elements.
const (
	setTable    = 1
	setName     = 2
	setFlags    = 3
	setKeyType  = 4
	setKeyLen   = 5
	setDataType = 6
	setDataLen  = 7
	setPolicy   = 8
	setDesc     = 9
	setID       = 10
	setTimeout  = 11
	setGC       = 12
	setUser     = 13
	setPad      = 14
	setObjType  = 15
	setHandle   = 16
	setExpr     = 17
	setExprs    = 18
	setBackend  = 19
	setCount    = 20

	descSize   = 1
	descConcat = 2
	fieldLen   = 1

	listTable = 1
	listSet   = 2
	listElems = 3
	listID    = 4

	elemKey     = 1
	elemData    = 2
	elemFlags   = 3
	elemTimeout = 4
	elemExpires = 5
	elemUser    = 6
	elemExpr    = 7
	elemPad     = 8
	elemObject  = 9
	elemKeyEnd  = 10
	elemExprs   = 11
)

// set appends a set's definition. The fields of a concatenation are told only
// with SetConcat, as nft does.
func (w *encoder) set(table string, d *ruleset.SetDef, id uint32, handle uint64) error {
	w.str(setTable, table)
	w.str(setName, d.Name)
	if handle != 0 {
		w.u64(setHandle, handle)
	}
	w.u32(setFlags, d.Flags)
	w.u32(setKeyType, d.KeyType)
	w.u32(setKeyLen, d.KeyLen)
	if d.Flags&ruleset.SetMap != 0 {
		w.u32(setDataType, d.DataType)
		w.u32(setDataLen, d.DataLen)
	}
	if d.Flags&ruleset.SetObject != 0 {
		w.u32(setObjType, uint32(d.ObjType))
	}
	if id != 0 {
		w.u32(setID, id)
	}
	if d.Timeout != 0 {
		w.u64(setTimeout, d.Timeout)
	}
	if d.GC != 0 {
		w.u32(setGC, d.GC)
	}
	if d.Memory {
		w.u32(setPolicy, 1)
	}
	w.description(d)
	w.userData(setUser, setUserData(d))
	return w.state(setExpr, setExprs, d.Exprs)
}

// description appends the size of a set and the fields of its keys.
func (w *builder) description(d *ruleset.SetDef) {
	concat := d.Flags&ruleset.SetConcat != 0
	if d.Size == 0 && !concat {
		return
	}
	mark := w.begin(setDesc)
	if d.Size != 0 {
		w.u32(descSize, d.Size)
	}
	if concat {
		list := w.begin(descConcat)
		for _, n := range d.Fields {
			one := w.begin(listElem)
			w.u32(fieldLen, uint32(n))
			w.end(one)
		}
		w.end(list)
	}
	w.end(mark)
}

// chunk is how many bytes of elements go into one message: an attribute's
// length has 16 bits.
const chunk = 48 << 10

// elements appends as many elements as fit one message and returns how many
// those are; with none at all the message stands for all elements of the set.
func (w *encoder) elements(table, set string, id uint32, list []ruleset.Element) (int, error) {
	w.str(listTable, table)
	w.str(listSet, set)
	w.setID(listID, id)
	if len(list) == 0 {
		return 0, w.err
	}
	mark := w.begin(listElems)
	n := 0
	for ; n < len(list) && len(w.b)-mark < chunk; n++ {
		inner := w.begin(listElem)
		if err := w.element(&list[n]); err != nil {
			return n, fmt.Errorf("element %d of set %s: %w", n, set, err)
		}
		w.end(inner)
	}
	w.end(mark)
	return n, w.err
}

func (w *encoder) element(el *ruleset.Element) error {
	if el.Flags&ruleset.ElemCatchAll == 0 {
		w.constant(elemKey, el.Key)
	}
	if len(el.KeyEnd) > 0 {
		w.constant(elemKeyEnd, el.KeyEnd)
	}
	if el.Flags != 0 {
		w.u32(elemFlags, el.Flags)
	}
	if el.HasTimeout {
		w.u64(elemTimeout, el.Timeout)
	}
	if el.Expires != 0 {
		w.u64(elemExpires, el.Expires)
	}
	if el.Data != nil {
		w.data(elemData, el.Data)
	}
	if el.Object != "" {
		w.str(elemObject, el.Object)
	}
	var u userData
	u.text(udComment, el.Comment)
	if el.OpenInterval {
		u.u32(udElemFlags, udElemOpen)
	}
	w.userData(elemUser, u)
	return w.state(elemExpr, elemExprs, el.Exprs)
}

func (w *builder) constant(t uint16, v []byte) {
	mark := w.begin(t)
	w.bytes(dataValue, v)
	w.end(mark)
}

// readSet reads a set's definition; userOK is false for user data that is not
// understood.
func (f *fields) readSet() (d ruleset.SetDef, handle uint64, userOK bool, err error) {
	f.skip(setPad, setBackend, setCount, setID)
	d = ruleset.SetDef{
		Name: f.str(setName), Flags: f.u32(setFlags), KeyType: f.u32(setKeyType), KeyLen: f.u32(setKeyLen),
		DataType: f.u32(setDataType), DataLen: f.u32(setDataLen), Timeout: f.u64(setTimeout), GC: f.u32(setGC),
		Memory: f.flag(setPolicy),
	}
	d.ObjType = objectType(f.u32(setObjType))
	desc := parseFields(f.take(setDesc))
	d.Size = desc.u32(descSize)
	err = eachAttr(desc.take(descConcat), func(a attr) error {
		one := parseFields(a.value)
		d.Fields = append(d.Fields, uint8(one.small(fieldLen, 255)))
		f.odd = f.odd || !one.whole() || a.typ != listElem
		return nil
	})
	f.odd = f.odd || !desc.whole()
	if err != nil {
		return d, 0, false, err
	}
	if d.Exprs, err = f.readState(setExpr, setExprs); err != nil {
		return d, 0, false, err
	}
	userOK = readSetUserData(&d, f.take(setUser))
	return d, f.u64(setHandle), userOK, nil
}

// readElement reads one element and says what of it is unknown.
func readElement(b []byte) (ruleset.Element, []attr, error) {
	f := parseFields(b)
	if f.err != nil {
		return ruleset.Element{}, nil, f.err
	}
	f.skip(elemPad)
	el := ruleset.Element{
		Flags: f.u32(elemFlags), Timeout: f.u64(elemTimeout), HasTimeout: f.has(elemTimeout),
		Expires: f.u64(elemExpires), Object: f.str(elemObject),
	}
	if f.has(elemKey) {
		el.Key = f.constant(f.take(elemKey))
	}
	if f.has(elemKeyEnd) {
		el.KeyEnd = f.constant(f.take(elemKeyEnd))
	}
	if f.has(elemData) {
		d := f.data(elemData)
		el.Data = &d
	}
	var unknown []attr
	user, ok := f.take(elemUser), false
	if el.Comment, el.OpenInterval, ok = readElementUserData(user); !ok {
		unknown = append(unknown, attr{elemUser, user})
	}
	list, err := f.readState(elemExpr, elemExprs)
	if err != nil {
		return el, nil, err
	}
	el.Exprs = list
	if f.odd {
		return el, nil, fmt.Errorf("element with a value of a wrong size: %w", errAttr)
	}
	return el, append(unknown, f.rest()...), nil
}
