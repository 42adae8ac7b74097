package bench

import (
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"verdict"
	"verdict/diag"
	"verdict/nft/compile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// What is measured of a load.
const (
	StageParse   What = "parse"
	StageCompile What = "compile"
	StageApply   What = "apply"
	StageEngine  What = "make an engine"
	LoadWhole    What = "from text to ready ruleset"
	HeapWhole    What = "heap when done"
)

// Load measures how a ruleset is loaded, in all and stage by stage. With
// kernel set, nft loads it into a namespace of its own by turns.
func Load(name string, text []byte, o *Options, kernel func() (time.Duration, error)) ([]Figure, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(LoadPercent))
	var whole, held, peer samples
	stages := map[What]samples{}
	var elements int
	for i := range o.Rounds {
		o.tell("%s: round %d of %d", name, i+1, o.Rounds)
		before := heap()
		src := diag.NewSource(name, text)
		var rules *verdict.Ruleset
		var findings *diag.List
		whole = append(whole, timedLoad(func() { rules, findings = verdict.LoadSources(verdict.LoadOptions{}, src) }))
		if err := findings.Err(); err != nil {
			return nil, err
		}
		held = append(held, float64(heap()-before))
		elements = countElements(rules.Rules())
		if err := stagesOf(name, text, rules, stages); err != nil {
			return nil, err
		}
		runtime.KeepAlive(rules)
		if kernel != nil {
			took, err := kernel()
			if err != nil {
				return nil, err
			}
			peer = append(peer, float64(took))
		}
	}
	figure := func(what What, unit Unit, s samples) Figure {
		return s.figure(Figure{Case: name, Elements: elements, What: what, Unit: unit})
	}
	list := []Figure{figure(LoadWhole, Time, whole)}
	list[0].Peer = peer.median()
	for _, what := range []What{StageParse, StageCompile, StageApply, StageEngine} {
		if len(stages[what]) > 0 {
			list = append(list, figure(what, Time, stages[what]))
		}
	}
	return append(list, figure(HeapWhole, Bytes, held)), nil
}

// stagesOf times the stages of a load on their own. Rulesets that name
// interfaces or include files are timed as a whole only.
func stagesOf(name string, text []byte, rules *verdict.Ruleset, into map[What]samples) error {
	src := diag.NewSource(name, text)
	var file *syntax.File
	var batch []ruleset.Change
	var list *diag.List
	parse := timedLoad(func() { file, list = syntax.Parse(src, syntax.Options{CompactElements: true}) })
	if list.HasErrors() {
		return nil
	}
	compiling := timedLoad(func() {
		batch, list = compile.Compile(&ruleset.Ruleset{}, file, compile.Options{Interface: interfaceOf(rules)})
	})
	if list.HasErrors() {
		return nil
	}
	var refused []*ruleset.ChangeError
	apply := timedLoad(func() { _, refused = ruleset.Apply(nil, batch, ruleset.Options{}) })
	if len(refused) > 0 {
		return fmt.Errorf("apply: %w", refused[0])
	}
	var err error
	engine := timedLoad(func() { _, err = rules.NewEngine(verdict.EngineOptions{}) })
	for what, took := range map[What]float64{StageParse: parse, StageCompile: compiling, StageApply: apply, StageEngine: engine} {
		into[what] = append(into[what], took)
	}
	return err
}

// interfaceOf gives the numbers of interfaces that a load made up.
func interfaceOf(rules *verdict.Ruleset) func(string) (uint32, bool) {
	return func(name string) (uint32, bool) {
		if i, ok := rules.Host().ByName(name); ok {
			return uint32(i.Index), true
		}
		return 0, false
	}
}

func countElements(rs *ruleset.Ruleset) int {
	n := 0
	for _, t := range rs.Tables {
		for _, s := range t.Sets {
			n += s.Elements.Count()
		}
	}
	return n
}

// KernelLoad loads a ruleset file with the nft command in a fresh network
// namespace, which needs root, and gives the processor time that it took, in
// the kernel and outside.
func KernelLoad(path string) (time.Duration, error) {
	cmd := exec.Command("nft", "-f", path)
	if err := inNamespace(cmd); err != nil {
		return 0, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("nft -f %s: %w: %.300s", path, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
