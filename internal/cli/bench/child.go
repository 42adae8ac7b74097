package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// child is a program that measures a peer: it takes a request a line and
// answers each with a line of JSON.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	errs bytes.Buffer
	dir  string // for what requests name
	wait func() error
}

// startChild starts a program of the directory that --peers names.
func startChild(dir, name string) (*child, error) {
	c := &child{cmd: exec.Command(filepath.Join(dir, name))}
	c.cmd.Stderr = &c.errs
	c.wait = sync.OnceValue(c.cmd.Wait)
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewScanner(out)
	if c.dir, err = os.MkdirTemp("", "verdict-bench-"); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the peer: %w (build it: make peers PEERS=DIR)", err), os.RemoveAll(c.dir))
	}
	return c, nil
}

// close ends the program.
func (c *child) close() error {
	err := c.in.Close()
	return errors.Join(err, c.wait(), os.RemoveAll(c.dir))
}

// kill ends the program in the middle of a request, which then fails.
func (c *child) kill() { _ = c.cmd.Process.Kill() }

// ask sends a request, waits for its answer and stores it. An answer that
// reports a failure is an error.
func (c *child) ask(request string, answer any) error {
	if _, err := io.WriteString(c.in, request+"\n"); err != nil {
		return c.gone()
	}
	if !c.out.Scan() {
		return c.gone()
	}
	var failure struct{ Error string }
	if err := json.Unmarshal(c.out.Bytes(), &failure); err != nil {
		return fmt.Errorf("the peer's answer: %w", err)
	}
	if failure.Error != "" {
		return fmt.Errorf("the peer: %s", strings.TrimSpace(failure.Error))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(c.out.Bytes(), answer); err != nil {
		return fmt.Errorf("the peer's answer: %w", err)
	}
	return nil
}

// gone is the error of a program that ended, with its own last words.
func (c *child) gone() error {
	err := c.wait()
	if words := strings.TrimSpace(c.errs.String()); words != "" {
		return fmt.Errorf("the peer is gone: %s", words)
	}
	return fmt.Errorf("the peer is gone: %w", errors.Join(err, io.ErrUnexpectedEOF))
}

// put writes a file for the next request and gives its path.
func (c *child) put(name string, content []byte) (path string, err error) {
	path = filepath.Join(c.dir, name)
	return path, os.WriteFile(path, content, 0o600)
}
