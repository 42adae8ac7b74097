package netlink

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/set"
)

// Difference compares two rulesets in all that netlink carries and describes
// the first difference, or gives "". Counters of handles and generations are
// not compared, nor is what only exists before loading (see the package's
// documentation). now is the time at which elements count as expired.
func Difference(want, got *ruleset.Ruleset, now int64) string {
	if len(want.Tables) != len(got.Tables) {
		return fmt.Sprintf("%d tables instead of %d", len(got.Tables), len(want.Tables))
	}
	for i := range want.Tables {
		if d := tableDifference(want.Tables[i], got.Tables[i], now); d != "" {
			return fmt.Sprintf("table %s %s: %s", want.Tables[i].Family, want.Tables[i].Name, d)
		}
	}
	return ""
}

func tableDifference(want, got *ruleset.Table, now int64) string {
	if d := different(reflect.ValueOf(want), reflect.ValueOf(got)); d != "" {
		return d
	}
	for i, s := range want.Sets {
		a, b := elementsOf(s, now), elementsOf(got.Sets[i], now)
		if d := different(reflect.ValueOf(a), reflect.ValueOf(b)); d != "" {
			return fmt.Sprintf("elements of %s: %s", s.Name, d)
		}
	}
	return ""
}

// elementsOf lists a set's elements. The order of hash tables, which depends on
// a seed, is replaced by that of the keys.
func elementsOf(s *ruleset.Set, now int64) []*ruleset.Element {
	list := slices.Collect(s.Elements.Alive(now))
	switch s.Elements.Kind() {
	case set.HashFast, set.Hash, set.Rhash:
		slices.SortStableFunc(list, func(a, b *ruleset.Element) int { return bytes.Compare(a.Key, b.Key) })
	}
	return list
}

// skipped are fields that the kernel does not have.
var skipped = map[string]bool{
	"NextHandle": true, "Elements": true, "Revision": true, "Host": true, "SetID": true,
	"FieldHost": true, "DataFieldHost": true, "DataFields": true, "Meter": true,
}

var spanType = reflect.TypeFor[diag.Span]()

// different walks two values of one type.
func different(a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return fmt.Sprintf("%v instead of %v", b, a)
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s instead of %s", show(b), show(a))
			}
			return ""
		}
		if a.Elem().Type() != b.Elem().Type() {
			return fmt.Sprintf("%s instead of %s", show(b), show(a))
		}
		return different(a.Elem(), b.Elem())
	case reflect.Struct:
		if p, ok := a.Interface().(ruleset.TimeoutPolicy); ok {
			q := b.Interface().(ruleset.TimeoutPolicy)
			a, b = reflect.ValueOf(withUsual(p)), reflect.ValueOf(withUsual(q))
		}
		return differentFields(a, b)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%d items instead of %d", b.Len(), a.Len())
		}
		for i := range a.Len() {
			if d := different(a.Index(i), b.Index(i)); d != "" {
				return fmt.Sprintf("%d: %s", i, d)
			}
		}
		return ""
	}
	if !reflect.DeepEqual(a.Interface(), b.Interface()) {
		return fmt.Sprintf("%v instead of %v", b, a)
	}
	return ""
}

func differentFields(a, b reflect.Value) string {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || skipped[f.Name] || f.Type == spanType {
			continue
		}
		if d := different(a.Field(i), b.Field(i)); d != "" {
			return f.Name + ": " + d
		}
	}
	return ""
}

// show prints an expression as bytecode text, and other values as they are.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "nothing"
		}
		if e, ok := v.Interface().(expr.Expr); ok {
			return string(e.AppendText(nil))
		}
		v = v.Elem()
	}
	return fmt.Sprintf("%+v", v)
}

// withUsual gives a timeout policy the times that it does not name.
func withUsual(p ruleset.TimeoutPolicy) ruleset.TimeoutPolicy {
	values := map[string]uint32{}
	for _, s := range catalog.TimeoutStates(p.Protocol) {
		values[s.Name] = s.Usual
	}
	maps.Copy(values, p.Values)
	p.Values = values
	return p
}
