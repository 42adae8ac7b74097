package offload

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// MaskRule is what hardware can do with the mask of a field group.
type MaskRule string

// The rules, from the least to the most demanding of hardware.
const (
	MaskExact  MaskRule = "exact"  // every bit of a field or none
	MaskPrefix MaskRule = "prefix" // leading bits
	MaskAny    MaskRule = "any"
)

// TableSize bounds the rules of one shape.
type TableSize struct {
	Keys    []string `json:"keys"`  // the shape: groups that the table can hold
	Rules   int      `json:"rules"` // its size
	keySet  KeySet
	Chained bool `json:"chained,omitempty"` // it also serves chains other than 0
}

// Model is what a device can do, as data. Its JSON form is that of the files
// that ReadModel reads.
type Model struct {
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Driver      string              `json:"driver"` // prefix of its messages
	Kinds       []string            `json:"kinds"`  // flower, matchall, u32, nft
	KeyNames    []string            `json:"keys"`
	ActionNames []string            `json:"actions"`
	Masks       map[string]MaskRule `json:"masks,omitempty"` // by group; any where absent
	Tables      []TableSize         `json:"tables,omitempty"`
	MaxRules    int                 `json:"max_rules"`
	MaxChain    uint32              `json:"max_chain"` // 0: only chain 0
	MaxChains   int                 `json:"max_chains,omitempty"`
	MinPriority uint32              `json:"min_priority,omitempty"`
	MaxPriority uint32              `json:"max_priority,omitempty"` // 0: no bound
	Egress      bool                `json:"egress,omitempty"`
	Counts      bool                `json:"counts"`
	Resumes     bool                `json:"resumes"` // a miss in a chain goes on there in software
	Loopback    bool                `json:"loopback,omitempty"`
	AnyGoto     bool                `json:"any_goto,omitempty"` // goto is taken whatever the chain

	Keys    KeySet    `json:"-"`
	Actions ActionSet `json:"-"`
}

//go:embed models.json
var shippedModels []byte

// Models returns the shipped models: a full-featured NIC in eswitch mode, a
// switch with few chains and tables of fixed size, a basic NIC.
func Models() []Model {
	var l []Model
	if err := json.Unmarshal(shippedModels, &l); err != nil {
		return nil // a test reads the embedded file
	}
	for i := range l {
		if err := l[i].resolve(); err != nil {
			return nil
		}
	}
	return l
}

// ModelNamed finds a shipped model.
func ModelNamed(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("unknown device model %q; shipped are %s", name, strings.Join(names, ", "))
}

// ReadModel reads one model as JSON. Members that are not known are refused.
func ReadModel(r io.Reader) (Model, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var m Model
	if err := d.Decode(&m); err != nil {
		return Model{}, fmt.Errorf("device model: %w", err)
	}
	if err := m.resolve(); err != nil {
		return Model{}, fmt.Errorf("device model %s: %w", m.Name, err)
	}
	return m, nil
}

// resolve checks the names and turns them into sets.
func (m *Model) resolve() (err error) {
	if m.Name == "" {
		return fmt.Errorf("name is missing")
	}
	if m.Driver == "" {
		m.Driver = m.Name
	}
	if m.Keys, err = ParseKeys(m.KeyNames); err != nil {
		return err
	}
	m.Keys |= Keys(KeyControl, KeyBasic)
	if m.Actions, err = ParseActions(m.ActionNames); err != nil {
		return err
	}
	for _, k := range m.Kinds {
		switch Kind(k) {
		case Flower, Matchall, U32, NFT:
		default:
			return fmt.Errorf("unknown kind %q; known are flower, matchall, u32, nft", k)
		}
	}
	for name, rule := range m.Masks {
		if _, ok := keyByName(name); !ok {
			return fmt.Errorf("masks: unknown dissector key %q", name)
		}
		switch rule {
		case MaskExact, MaskPrefix, MaskAny:
		default:
			return fmt.Errorf("masks: %s: unknown rule %q; known are exact, prefix, any", name, rule)
		}
	}
	for i := range m.Tables {
		t := &m.Tables[i]
		if t.keySet, err = ParseKeys(t.Keys); err != nil {
			return fmt.Errorf("tables: %w", err)
		}
		t.keySet |= Keys(KeyControl, KeyBasic)
	}
	return nil
}

func (m *Model) takesKind(k Kind) bool {
	for _, known := range m.Kinds {
		if known == string(k) {
			return true
		}
	}
	return false
}
