package decompile

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Set decompiles a named set or map with its elements.
func Set(s *ruleset.Set, o Options) *syntax.Set {
	x := setFrame(s, &o)
	if !o.Terse && s.Elements != nil {
		if list := newElementWriter(&o, s).literal(); list != nil {
			x.Items = append(x.Items, &syntax.Elements{Value: list})
		}
	}
	return x
}

// setFrame is a set's declaration without its elements.
func setFrame(s *ruleset.Set, o *Options) *syntax.Set {
	x := &syntax.Set{
		Name: text(s.Name), HasBlock: true,
		IsMap: s.Flags&(ruleset.SetMap|ruleset.SetObject) != 0,
	}
	if o.Handles {
		x.Trailing = handle(s.Handle)
	}
	add := func(item syntax.Item) { x.Items = append(x.Items, item) }
	add(keyType(s))
	if s.Flags&ruleset.SetConstant == 0 {
		if s.Memory {
			add(&syntax.SetPolicy{Value: text("memory")})
		}
		if s.Size != 0 {
			add(setSize(s))
		}
	}
	if flags := setFlags(s); flags != nil {
		add(&syntax.SetFlags{Flags: flags})
	}
	for _, e := range s.Exprs {
		if st := o.statefulAs(e, true); st != nil {
			add(&syntax.ElementStatement{Statement: st})
		}
	}
	if s.UserData.AutoMerge && len(s.Fields) < 2 {
		add(&syntax.AutoMerge{})
	}
	if s.Timeout != 0 {
		add(&syntax.Timeout{Value: o.span(s.Timeout)})
	}
	if s.GC != 0 {
		add(&syntax.GCInterval{Value: o.span(uint64(s.GC))})
	}
	if s.UserData.Comment != "" {
		add(&syntax.CommentProperty{Text: text(s.UserData.Comment)})
	}
	return x
}

// setSize is the size with the number of elements in use.
func setSize(s *ruleset.Set) *syntax.Size {
	x := &syntax.Size{Value: decimal(uint64(s.Size))}
	if s.Elements != nil {
		if n := s.Elements.Count(); n > 0 {
			x.Trailing = "count " + strconv.Itoa(n)
		}
	}
	return x
}

// setFlags gives the flags that are written, in their order. A default
// timeout alone needs no flag.
func setFlags(s *ruleset.Set) []syntax.Word {
	shown := s.Flags&(ruleset.SetConstant|ruleset.SetInterval|ruleset.SetEval) != 0
	if !shown && (s.Flags&ruleset.SetTimeout == 0 || s.Timeout != 0) {
		return nil
	}
	var list []syntax.Word
	for _, f := range [...]struct {
		bit  uint32
		name string
	}{
		{ruleset.SetConstant, "constant"}, {ruleset.SetEval, "dynamic"},
		{ruleset.SetInterval, "interval"}, {ruleset.SetTimeout, "timeout"},
	} {
		if s.Flags&f.bit != 0 {
			list = append(list, text(f.name))
		}
	}
	return list
}

// keyType is the declaration of what a set holds.
func keyType(s *ruleset.Set) *syntax.KeyType {
	k := &syntax.KeyType{Key: typeNames(s.KeyType), Interval: s.UserData.DataInterval}
	if s.UserData.KeyTypeof != "" {
		k.Typeof, k.Key = true, typeofExpr(s.UserData.KeyTypeof)
	}
	switch {
	case s.Flags&ruleset.SetObject != 0:
		k.Object = objectKind(s.ObjType)
	case s.Flags&ruleset.SetMap == 0:
	case s.DataType == ruleset.TypeVerdict:
		k.Data = word_(catalog.Verdict.Name)
	case k.Typeof && s.UserData.DataTypeof != "":
		k.Data = typeofExpr(s.UserData.DataTypeof)
	default:
		k.Data = typeNames(s.DataType)
	}
	return k
}

func typeNames(id uint32) syntax.Expr {
	types := catalog.ConcatTypes(id)
	if len(types) == 0 {
		return word_(catalog.Integer.Name)
	}
	if len(types) == 1 {
		return word_(types[0].Name)
	}
	x := &syntax.Concat{}
	for _, t := range types {
		x.Parts = append(x.Parts, word_(t.Name))
	}
	return x
}
