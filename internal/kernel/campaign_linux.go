package kernel

import (
	"sync"
	"time"

	"verdict/nft/ruleset"
)

// Campaign is a run of many random cases.
type Campaign struct {
	// Seed is the seed of the first case; case n has Seed + n.
	Seed uint64
	// Packets in each case.
	Packets int
	// Workers run cases side by side, each in a namespace of its own.
	Workers int
	// Time bounds the run, and so does Cases unless it is 0.
	Time  time.Duration
	Cases int
	// Keep is how many differing cases are shrunk and reported; after as many
	// the run ends.
	Keep int
}

// Report is what a campaign found.
type Report struct {
	Cases, Refused int
	Pairs          int // of ruleset and packet
	Elapsed        time.Duration
	// Differing are the cases in which the two do not agree, shrunk, with
	// their differences as text.
	Differing []Finding
}

// Finding is a case that shows a difference.
type Finding struct {
	Case *Case
	Text string
	Spec string // the case in the form of package spec, what is expected left open
}

// Rate is the number of pairs compared per second.
func (r *Report) Rate() float64 { return float64(r.Pairs) / r.Elapsed.Seconds() }

// casesPerLab bounds how long a namespace is used: reassembly and the like
// leave things behind that only time takes away.
const casesPerLab = 500

// Run runs a campaign. The error is about the oracle itself.
func (c Campaign) Run() (*Report, error) {
	job := &campaign{Campaign: c, begin: time.Now()}
	var all sync.WaitGroup
	for range max(c.Workers, 1) {
		all.Go(func() {
			for job.more() {
				if err := InNamespace(job.lab); err != nil {
					job.fail(err)
				}
			}
		})
	}
	all.Wait()
	job.report.Elapsed = time.Since(job.begin)
	return &job.report, job.err
}

// campaign is a campaign at work.
type campaign struct {
	Campaign
	begin time.Time

	mu     sync.Mutex
	next   int
	report Report
	err    error
}

func (j *campaign) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// more reports whether another case is to be run.
func (j *campaign) more() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.err != nil, j.Cases > 0 && j.next >= j.Cases, j.Time > 0 && time.Since(j.begin) > j.Time:
		return false
	}
	return j.Keep == 0 || len(j.report.Differing) < j.Keep
}

// take gives the next seed.
func (j *campaign) take() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next++
	return j.Seed + uint64(j.next-1)
}

// lab runs cases in one namespace.
func (j *campaign) lab() error {
	lab, err := OpenLab()
	if err != nil {
		return err
	}
	defer lab.Close()
	for n := 0; n < casesPerLab && j.more(); n++ {
		c := Generate(j.take(), j.Packets)
		result, err := lab.Compare(c)
		if err != nil {
			return err
		}
		if err := j.note(lab, c, result); err != nil {
			return err
		}
	}
	return nil
}

// note adds a result to the report.
func (j *campaign) note(lab *Lab, c *Case, result *Result) error {
	var finding *Finding
	if len(result.Differences) > 0 {
		made, err := lab.find(c, result)
		if err != nil {
			return err
		}
		finding = made
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.report.Cases++
	j.report.Pairs += result.Compared
	if result.Refused {
		j.report.Refused++
	}
	if finding != nil {
		j.report.Differing = append(j.report.Differing, *finding)
	}
	return nil
}

// find shrinks a differing case and describes what is left.
func (l *Lab) find(c *Case, result *Result) (*Finding, error) {
	what := result.Differences[0].What
	differs := func(c *Case) (*Result, bool) {
		next := *c
		r, err := l.Compare(&next)
		return r, err == nil && len(r.Differences) > 0 && r.Differences[0].What == what
	}
	small := Shrink(c, func(c *Case) bool { _, ok := differs(c); return ok })
	again, ok := differs(small)
	if !ok { // it depends on time, or on what was there before
		small, again = c, result
	}
	text := small.Text(&again.Differences[0], again.injected)
	if again.rules != nil {
		text += Listing(&ruleset.Ruleset{Tables: withoutTracer(again.rules.Tables)})
	} else {
		text += small.Ruleset
	}
	spec, err := small.Spec(&again.Differences[0], again.injected, l.Host)
	if err != nil {
		return nil, err
	}
	return &Finding{Case: small, Text: text, Spec: spec}, nil
}
