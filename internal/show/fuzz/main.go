// Command fuzz runs every fuzz target of the module for a while each.
//
//	go run ./internal/show/fuzz -time 5s [-match REGEXP]
//
// It prints one line for each target: name, executions, result. A target that
// fails is followed by its output, and the exit status is 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	span := flag.Duration("time", 5*time.Second, "how long each target runs")
	match := flag.String("match", "", "run only targets whose PACKAGE/NAME matches this expression")
	flag.Parse()
	filter, err := regexp.Compile(*match)
	if err != nil || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: fuzz [-time DURATION] [-match REGEXP]", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, *span, filter))
}

func run(ctx context.Context, span time.Duration, filter *regexp.Regexp) int {
	targets, err := find(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		return 2
	}
	status, ran := 0, 0
	for _, t := range targets {
		if ctx.Err() != nil {
			return 130
		}
		if !filter.MatchString(t.Package + "/" + t.Name) {
			continue
		}
		ran++
		r := t.run(ctx, span)
		fmt.Printf("%-60s %12d executions  %s\n", t.Package+"/"+t.Name, r.Executions, r.verdict())
		if r.Failed || r.Hung {
			fmt.Println(r.Output)
			status = 1
		}
	}
	if ran == 0 {
		fmt.Fprintln(os.Stderr, "fuzz: no target matches")
		return 2
	}
	return status
}
