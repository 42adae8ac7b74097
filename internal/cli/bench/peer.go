package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Peer is the kernel, measured by the program bench/kernel.
type Peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	errs bytes.Buffer
	dir  string // for rulesets and frames
}

// StartPeer starts the program from the directory that --peers names.
func StartPeer(dir string) (*Peer, error) {
	p := &Peer{cmd: exec.Command(filepath.Join(dir, "kernel"))}
	p.cmd.Stderr = &p.errs
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if p.dir, err = os.MkdirTemp("", "verdict-bench-"); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the peer: %w (build it: cd bench && go build -o DIR ./...)", err), os.RemoveAll(p.dir))
	}
	return p, nil
}

// Close ends the program.
func (p *Peer) Close() error {
	err := p.in.Close()
	return errors.Join(err, p.cmd.Wait(), os.RemoveAll(p.dir))
}

// answer is what the program answers.
type answer struct {
	NS, KernelNS float64
	Bytes        int64
	Error        string
}

// ask sends a request and waits for its answer.
func (p *Peer) ask(request map[string]any) (answer, error) {
	var a answer
	line, err := json.Marshal(request)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return a, fmt.Errorf("the peer is gone: %w: %s", err, p.errs.String())
	}
	if !p.out.Scan() {
		return a, fmt.Errorf("the peer is gone: %s", p.errs.String())
	}
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("the peer's answer: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("the peer: %s", a.Error)
	}
	return a, nil
}

// Ping reports whether the program can measure: it loads an empty ruleset.
func (p *Peer) Ping() error {
	_, err := p.load([]byte("table inet bench {\n}\n"))
	return err
}

// load loads a ruleset and gives the time of the nft command.
func (p *Peer) load(text []byte) (answer, error) {
	path := filepath.Join(p.dir, "rules.nft")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return answer{}, err
	}
	return p.ask(map[string]any{"do": "load", "rules": path})
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
	path := filepath.Join(p.dir, name+".pcap")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	_, err := p.ask(map[string]any{"do": "frames", "name": name, "pcap": path})
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
