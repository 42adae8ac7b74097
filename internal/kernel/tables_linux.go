package kernel

import (
	"errors"
	"fmt"
	"os/exec"

	"verdict/catalog"
	"verdict/diag"
	"verdict/iptables"
)

// TablesAvailable tells why legacy tables cannot be compared here, nil if they
// can: besides what Available asks for, that needs the programs of iptables
// and a kernel with its tables.
func TablesAvailable() error {
	for _, name := range []string{"iptables-legacy-restore", "iptables-legacy-save", "ip6tables-legacy-restore", "ip6tables-legacy-save"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("no command %s", name)
		}
	}
	if err := Available(); err != nil {
		return err
	}
	return InNamespace(func() error {
		_, err := tool("*filter\nCOMMIT\n", "iptables-legacy-restore")
		return err
	})
}

func legacy(f catalog.Family, what string) string {
	if f == catalog.FamilyIP6 {
		return "ip6tables-legacy-" + what
	}
	return "iptables-legacy-" + what
}

// LoadTables loads a save file into the kernel's legacy tables.
func (l *Lab) LoadTables(f catalog.Family, text []byte) error {
	_, err := tool(string(text), legacy(f, "restore"))
	return err
}

// SavedTables reads the kernel's legacy tables back, with their counters.
func (l *Lab) SavedTables(f catalog.Family) (*iptables.File, error) {
	text, err := tool("", legacy(f, "save"), "-c")
	if err != nil {
		return nil, err
	}
	file, found := iptables.Parse(diag.NewSource(legacy(f, "save"), text), iptables.Options{Family: f})
	if found.HasErrors() {
		return nil, errors.Join(errors.New("what the kernel has is not understood"), found.Err())
	}
	return file, nil
}
