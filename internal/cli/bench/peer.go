package bench

import (
	"encoding/binary"
	"encoding/json"
)

// Peer is the kernel, measured by the program bench/kernel.
type Peer struct{ child *child }

// StartPeer starts the program from the directory that --peers names.
func StartPeer(dir string) (*Peer, error) {
	c, err := startChild(dir, "kernel")
	if err != nil {
		return nil, err
	}
	return &Peer{c}, nil
}

// Close ends the program.
func (p *Peer) Close() error { return p.child.close() }

// answer is what the program answers.
type answer struct {
	NS, KernelNS float64
	Bytes        int64
}

// ask sends a request and waits for its answer.
func (p *Peer) ask(request map[string]any) (a answer, err error) {
	line, err := json.Marshal(request)
	if err != nil {
		return a, err
	}
	return a, p.child.ask(string(line), &a)
}

// Ping reports whether the program can measure: it loads an empty ruleset.
func (p *Peer) Ping() error {
	_, err := p.load([]byte("table inet bench {\n}\n"))
	return err
}

// load loads a ruleset and gives the time of the nft command.
func (p *Peer) load(text []byte) (answer, error) { return p.loadBy(LoaderNft, text) }

// loadBy loads rules in the form that a loader takes.
func (p *Peer) loadBy(loader Loader, text []byte) (answer, error) {
	path, err := p.child.put("rules", text)
	if err != nil {
		return answer{}, err
	}
	return p.ask(map[string]any{"do": "load", "loader": loader, "rules": path})
}

// frames hands over frames under a name.
func (p *Peer) frames(name string, frames [][]byte) error {
	b := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0)
	for _, f := range frames {
		b = append(b, make([]byte, 8)...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	path, err := p.child.put(name+".pcap", b)
	if err != nil {
		return err
	}
	_, err = p.ask(map[string]any{"do": "frames", "name": name, "pcap": path})
	return err
}

// lookup measures one lookup of the frames that a name stands for.
func (p *Peer) lookup(name string) (float64, error) {
	a, err := p.ask(map[string]any{"do": "lookup", "name": name, "chain": -300})
	return a.NS, err
}

// change measures an nft command within the kernel.
func (p *Peer) change(text string) (answer, error) {
	return p.ask(map[string]any{"do": "change", "text": text})
}
