package nftcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterh/liner"

	"verdict/diag"
	"verdict/internal/store"
)

// lines gives the lines of an interactive session one by one; io.EOF ends it.
type lines interface {
	next(prompt string) (string, error)
	close()
}

// The prompts of nft.
const (
	promptFirst = "nft> "
	promptMore  = ".... "
)

// interactive runs each line as a batch until the input ends or a line says
// quit. Errors of a line do not end the session; its status is that of the
// last line. A line that ends in a backslash goes on in the next.
func (n *session) interactive() int {
	in := n.lines()
	defer in.close()
	defer n.end()
	status := succeeded
	var held strings.Builder // the lines that go on in the next
	for {
		prompt := promptFirst
		if held.Len() > 0 {
			prompt = promptMore
		}
		line, err := in.next(prompt)
		if err == nil && held.Len()+len(line) > maxLine {
			err = bufio.ErrTooLong
		}
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return n.status(fmt.Errorf("a line is longer than %d MB", maxLine>>20))
		case err != nil:
			return status
		}
		if rest, more := strings.CutSuffix(line, "\\"); more {
			held.WriteString(rest)
			continue
		}
		held.WriteString(line)
		line = held.String()
		held.Reset()
		switch strings.TrimSpace(line) {
		case "":
			continue
		case "quit", "exit":
			return succeeded
		}
		src := diag.NewSource("", []byte(line+"\n"))
		src.CommandLine = true
		status = n.status(n.execute(src))
	}
}

// end releases what the session owned.
func (n *session) end() {
	if n.options.check {
		return
	}
	state, err := n.store.Read()
	if err != nil || state.Rules.Release(n.owner) == state.Rules {
		return
	}
	err = n.store.Update(func(state store.State) (*store.Transaction, error) {
		t := &store.Transaction{Next: state.Rules, Time: n.clock(), Owner: n.owner, PID: uint32(n.pid), Command: n.program}
		n.release(t)
		return t, nil
	})
	if err != nil {
		n.status(err)
	}
}

// lines reads from a terminal with editing, history and completion, from
// anything else as it comes.
func (n *session) lines() lines {
	if !n.Terminal {
		s := bufio.NewScanner(n.In)
		s.Buffer(nil, maxLine)
		return &plainLines{s}
	}
	t := &terminalLines{State: liner.NewLiner(), history: filepath.Join(filepath.Dir(n.store.Path()), "nft.history")}
	t.SetCtrlCAborts(true)
	t.SetWordCompleter(n.complete)
	if f, err := os.Open(t.history); err == nil {
		_, _ = t.ReadHistory(f) // a history that cannot be read is none
		f.Close()
	}
	return t
}

// maxLine bounds a line together with those that it continues.
const maxLine = 16 << 20

type plainLines struct{ *bufio.Scanner }

func (p *plainLines) next(string) (string, error) {
	if !p.Scan() {
		if err := p.Err(); err != nil {
			return "", err
		}
		return "", io.EOF
	}
	return p.Text(), nil
}

func (p *plainLines) close() {}

type terminalLines struct {
	*liner.State
	history string
}

func (t *terminalLines) next(prompt string) (string, error) {
	line, err := t.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", nil
	}
	if err == nil && strings.TrimSpace(line) != "" {
		t.AppendHistory(line)
	}
	return line, err
}

// close gives the terminal back and keeps the history. Without the folder of
// the state file there is nothing to keep it in.
func (t *terminalLines) close() {
	t.Close()
	f, err := os.OpenFile(t.history, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, _ = t.WriteHistory(f)
	f.Close()
}
