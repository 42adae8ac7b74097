package recorded

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"verdict"
)

// StateOf reads what an engine's packets left behind, in the form of the truth:
// from the JSON listing and the connection table.
func StateOf(e *verdict.Engine) (*After, error) {
	var text bytes.Buffer
	if err := e.ListJSON(&text); err != nil {
		return nil, err
	}
	var listing struct {
		Items []map[string]Object `json:"nftables"`
	}
	if err := json.Unmarshal(text.Bytes(), &listing); err != nil {
		return nil, err
	}
	after := &After{}
	places := map[[3]string]int{}
	for _, item := range listing.Items {
		for kind, body := range item {
			after.add(kind, body, places)
		}
	}
	for c := range e.Engine().Connections().All(e.Worker().Now()) {
		after.Conntrack = append(after.Conntrack, string(c.AppendText(nil)))
	}
	return after, nil
}

// add takes one object of a listing.
func (a *After) add(kind string, body Object, places map[[3]string]int) {
	switch kind {
	case "rule":
		at := [3]string{body["family"].(string), body["table"].(string), body["chain"].(string)}
		r := RuleState{Family: at[0], Table: at[1], Chain: at[2], Index: places[at]}
		places[at]++
		for _, e := range body["expr"].([]any) {
			r.addExpr(e.(Object))
		}
		a.Rules = append(a.Rules, r)
	case "counter":
		a.Objects = append(a.Objects, pick(kind, body, "packets", "bytes"))
	case "quota":
		a.Objects = append(a.Objects, pick(kind, body, "bytes", "used"))
	case "set", "map":
		o := pick(kind, body)
		elements, _ := body["elem"].([]any)
		o["elem"] = sorted(timeless(elements).([]any))
		a.Sets = append(a.Sets, o)
	}
}

func (r *RuleState) addExpr(e Object) {
	if c, ok := e["counter"].(Object); ok {
		r.Counter = append(r.Counter, [2]uint64{number(c["packets"]), number(c["bytes"])})
	}
	if q, ok := e["quota"].(Object); ok {
		used, unit := q["used"], q["used_unit"]
		if used == nil {
			used, unit = 0.0, 0.0
		}
		r.Quota = append(r.Quota, [2]any{used, unit})
	}
}

func number(v any) uint64 {
	f, _ := v.(float64)
	return uint64(f)
}

func pick(kind string, body Object, fields ...string) Object {
	o := Object{"kind": kind}
	for _, f := range []string{"family", "table", "name"} {
		o[f] = body[f]
	}
	for _, f := range fields {
		o[f] = body[f]
		if o[f] == nil {
			o[f] = 0.0
		}
	}
	return o
}

// timeless leaves out what depends on the clock.
func timeless(v any) any {
	switch x := v.(type) {
	case map[string]any:
		o := Object{}
		for k, e := range x {
			if k != "expires" {
				o[k] = timeless(e)
			}
		}
		return o
	case []any:
		list := make([]any, 0, len(x))
		for _, e := range x {
			list = append(list, timeless(e))
		}
		return list
	}
	return v
}

func sorted(list []any) []any {
	text := func(v any) string {
		b, _ := json.Marshal(v)
		return string(b)
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	return list
}

// Sort brings the elements of all sets into the order that StateOf gives.
func (a *After) Sort() {
	for _, s := range a.Sets {
		elements, _ := s["elem"].([]any)
		s["elem"] = sorted(timeless(elements).([]any))
	}
}
