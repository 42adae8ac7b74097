package store

import (
	"fmt"
	"sync"

	"verdict/catalog"
)

// Expressions point to rows of the catalog. A file names these rows in its
// schema and refers to them by number, so that the catalog may grow.

// keyLists are the lists that expressions point into.
var keyLists = []struct {
	name string
	keys []*catalog.Key
}{
	{"meta", catalog.MetaKeys}, {"ct", catalog.CTKeys}, {"rt", catalog.RTKeys}, {"socket", catalog.SocketKeys},
	{"tunnel", catalog.TunnelKeys}, {"xfrm", catalog.XFRMKeys},
}

// keyTable numbers the keys, counting from 1; 0 is no key.
type keyTable struct {
	names  []string
	keys   []*catalog.Key
	number map[*catalog.Key]uint64
}

var ownKeys = sync.OnceValue(func() *keyTable {
	t := &keyTable{number: map[*catalog.Key]uint64{}}
	for _, l := range keyLists {
		for _, k := range l.keys {
			t.keys = append(t.keys, k)
			t.names = append(t.names, keyName(l.name, k))
			t.number[k] = uint64(len(t.keys))
		}
	}
	return t
})

func keyName(list string, k *catalog.Key) string {
	return fmt.Sprintf("%s %s %d %s", list, k.Name, k.Family, k.Bytecode)
}

// resolveKeys finds the keys that a file names; those that the catalog lacks
// are nil and only matter if they are used.
func resolveKeys(names []string) []*catalog.Key {
	own := ownKeys()
	byName := make(map[string]*catalog.Key, len(own.names))
	for i, n := range own.names {
		byName[n] = own.keys[i]
	}
	keys := make([]*catalog.Key, len(names))
	for i, n := range names {
		keys[i] = byName[n]
	}
	return keys
}
