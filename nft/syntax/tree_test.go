package syntax_test

import (
	"fmt"
	"reflect"

	"verdict/nft/syntax"
)

// difference compares two trees apart from places, comments, blank lines and
// the layout of lists, and names the first field that differs, "" if none.
func difference(a, b any) string { return differ("", reflect.ValueOf(a), reflect.ValueOf(b)) }

var (
	placeType    = reflect.TypeFor[syntax.At]()
	triviaType   = reflect.TypeFor[syntax.Trivia]()
	commentsType = reflect.TypeFor[[]syntax.Comment]()
	notesType    = reflect.TypeFor[[]syntax.Note]()
	itemsType    = reflect.TypeFor[[]syntax.Item]()
)

func differ(path string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return fmt.Sprintf("%s: only one is set", path)
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprintf("%s: %s and %s", path, a.Type(), b.Type())
	}
	switch a.Type() {
	case placeType, triviaType, commentsType, notesType:
		return ""
	case itemsType:
		a, b = withoutEmpty(a), withoutEmpty(b)
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return path + ": only one is set"
			}
			return ""
		}
		return differ(path, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d entries", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Struct:
		return differFields(path, a, b)
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	return ""
}

func differFields(path string, a, b reflect.Value) string {
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		switch path + "/" + name {
		case "/Source":
			continue
		}
		if name == "PerLine" {
			continue
		}
		x, y := a.Field(i), b.Field(i)
		if quoted := a.Type() == reflect.TypeFor[syntax.ObjectRef]() || a.Type() == reflect.TypeFor[syntax.Log](); quoted {
			x, y = unquoted(x), unquoted(y)
		}
		if d := differ(path+"/"+name, x, y); d != "" {
			return d
		}
	}
	return ""
}

// unquoted replaces the name or prefix of a statement, for which quotes mean
// nothing, by its text.
func unquoted(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return v
	}
	if l, ok := v.Interface().(*syntax.Literal); ok {
		return reflect.ValueOf(l.Text)
	}
	return v
}

// withoutEmpty drops the items that hold nothing but comments.
func withoutEmpty(items reflect.Value) reflect.Value {
	var kept []syntax.Item
	for _, item := range items.Interface().([]syntax.Item) {
		if _, empty := item.(*syntax.Empty); !empty {
			kept = append(kept, item)
		}
	}
	return reflect.ValueOf(kept)
}
