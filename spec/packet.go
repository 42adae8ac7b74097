package spec

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"verdict/engine"
	"verdict/packet/build"
)

// Packet is one packet of a case.
type Packet struct {
	Name  string
	Text  string
	Hook  engine.Hook
	After time.Duration // since the packet before
	At    time.Time     // instead of After, if not zero
	Cut   int           // captured bytes, -1 for all
	Times int           // how often it is sent
}

// parsePackets reads a section of packets; rest is what followed its name.
func parsePackets(text, rest string) ([]Packet, error) {
	usual := Packet{Cut: -1, Times: 1}
	if err := usual.settings(strings.Fields(rest)); err != nil {
		return nil, err
	}
	var list []Packet
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, body, ok := strings.Cut(line+" ", ": ")
		words := strings.Fields(head)
		if !ok || len(words) == 0 {
			return nil, fmt.Errorf("%q is not NAME: PACKET", line)
		}
		p := usual
		p.Name, p.Text = words[0], strings.TrimSpace(body)
		if err := p.settings(words[1:]); err != nil {
			return nil, fmt.Errorf("packet %s: %w", p.Name, err)
		}
		if _, err := build.Parse(p.Text); err != nil {
			return nil, fmt.Errorf("packet %s: %w", p.Name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// settings reads what stands between a packet's name and its text.
func (p *Packet) settings(words []string) error {
	for i := 0; i < len(words); i++ {
		w := words[i]
		value := ""
		if w == "at" || w == "cut" {
			if i++; i == len(words) {
				return fmt.Errorf("%s lacks its value", w)
			}
			value = words[i]
		}
		if err := p.setting(w, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *Packet) setting(w, value string) (err error) {
	switch {
	case w == "at":
		p.At, err = time.Parse(time.RFC3339, value)
	case w == "cut":
		p.Cut, err = strconv.Atoi(value)
	case w[0] == '@':
		p.Hook, err = engine.HookByName(w[1:])
	case w[0] == '+':
		p.After, err = time.ParseDuration(w[1:])
	case w[0] == 'x':
		p.Times, err = strconv.Atoi(w[1:])
	default:
		err = fmt.Errorf("unknown setting %q", w)
	}
	return err
}
