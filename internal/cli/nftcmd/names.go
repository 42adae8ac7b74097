package nftcmd

import (
	"context"
	"net"
	"net/netip"
	"os/user"
	"strconv"
	"strings"
	"time"

	"verdict/host"
	"verdict/internal/store"
	"verdict/nft/compile"
	"verdict/nft/decompile"
)

// naming finds the numbers of names and the names of numbers for one batch.
type naming struct {
	session *session
	host    *host.Host
}

// naming prepares the host's names. Interfaces that earlier calls made up keep
// their numbers.
func (n *session) naming(made []store.Interface) (*naming, error) {
	if n.host != nil {
		return &naming{session: n, host: n.host}, nil
	}
	var config host.Config
	for _, i := range made {
		config.Interfaces = append(config.Interfaces, host.Interface{Name: i.Name, Index: int(i.Index)})
	}
	h, err := host.New(config)
	if err != nil {
		return nil, err
	}
	return &naming{session: n, host: h}, nil
}

// made lists the interfaces that this batch made up.
func (x *naming) made() []store.Interface {
	if x.session.host != nil {
		return nil
	}
	var list []store.Interface
	for _, a := range x.host.Assumptions() {
		list = append(list, store.Interface{Index: uint32(a.Index), Name: a.Interface})
	}
	return list
}

func (x *naming) interfaceIndex(name string) (uint32, bool) {
	if i, ok := x.host.ByName(name); ok {
		return uint32(i.Index), true
	}
	if x.session.host != nil {
		return 0, false
	}
	i, err := x.host.Assume(name)
	if err != nil {
		return 0, false
	}
	return uint32(i.Index), true
}

func (x *naming) interfaceName(index uint32) string {
	if i, ok := x.host.ByIndex(int(index)); ok {
		return i.Name
	}
	return ""
}

// userID asks the host file, or without one this machine.
func (x *naming) userID(name string) (uint32, bool) {
	if id, ok := x.host.UserID(name); ok || x.session.host != nil {
		return id, ok
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, false
	}
	return number(u.Uid)
}

func (x *naming) groupID(name string) (uint32, bool) {
	if id, ok := x.host.GroupID(name); ok || x.session.host != nil {
		return id, ok
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return 0, false
	}
	return number(g.Gid)
}

func number(text string) (uint32, bool) {
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err == nil
}

func userName(id uint32) string {
	u, err := user.LookupId(strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return ""
	}
	return u.Username
}

func groupName(id uint32) string {
	g, err := user.LookupGroupId(strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return ""
	}
	return g.Name
}

// lookupTime bounds the search for the name of an address.
const lookupTime = 2 * time.Second

func hostName(a netip.Addr) string {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	names, err := net.DefaultResolver.LookupAddr(ctx, a.String())
	if err != nil || len(names) == 0 {
		return ""
	}
	return strings.TrimSuffix(names[0], ".")
}

// compileOptions are what the compiler needs to know of the host.
func (x *naming) compileOptions() compile.Options {
	n := x.session
	return compile.Options{
		Interface: x.interfaceIndex, User: x.userID, Group: x.groupID,
		Now: n.Now(), Clock: n.clock(), Location: n.Zone, Defines: n.options.defines,
	}
}

// listOptions are what the command line says about listings.
func (x *naming) listOptions() decompile.Options {
	n := x.session
	f := n.options
	o := decompile.Options{
		Location: n.Zone, Now: n.Now(), Clock: n.clock(), InterfaceName: x.interfaceName,
		UserName: userName, GroupName: groupName, HostName: hostName,
	}
	if f.numeric {
		o = o.Numeric()
	}
	o.NumericPriority = o.NumericPriority || f.priority
	o.NumericProtocol = o.NumericProtocol || f.protocol
	o.NumericTime = o.NumericTime || f.time
	o.Stateless, o.Terse, o.Handles = f.stateless, f.terse, f.handles
	o.ServiceNames, o.UserNames, o.HostNames = f.services, f.users, f.names
	return o
}
