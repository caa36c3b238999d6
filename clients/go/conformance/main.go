// Command conformance runs the cases of clients/conformance by the package tensorflow.
//
// Usage: conformance TABLE... ; prints "ok NAME", "fail NAME: why" or "skip NAME: why".
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	tf "tensorloom/tensorflow"
)

var codes = []string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
	"ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED",
}

// whileStep collects the steps of a loop, which is built when all are known.
func (w *world) whileStep(verb, line string, words []string) (taken bool, err error) {
	switch {
	case verb == "while":
		w.loop = &loop{name: words[1], variables: w.outputs(words[2])}
	case w.loop == nil:
		return false, nil
	case verb == "while-body":
		return true, w.finishLoop(words[1])
	case verb == "while-abort":
		l := w.loop
		w.loop = nil
		stop := errors.New("stop")
		_, err := w.graph.While(l.name, l.variables, func(*tf.Graph, []tf.Output) ([]tf.Output, error) {
			return nil, stop
		}, nil)
		return true, expect("the loop's error", err, stop)
	case w.loop.body != nil:
		w.loop.body = append(w.loop.body, line)
	default:
		w.loop.condition = append(w.loop.condition, line)
		if verb == "while-cond" {
			w.loop.body = []string{}
		}
	}
	return true, nil
}

// step takes one line: [fails CODE] VERB ARGUMENT...
func (w *world) step(line string) (err error) {
	words := strings.Fields(line)
	expected := "OK"
	if words[0] == "fails" {
		expected, words = words[1], words[2:]
	}
	taken, err := w.whileStep(words[0], line, words)
	if !taken {
		err = w.buildStep(words[0], words[1:])
	}
	code := "OK"
	var e *tf.Error
	if errors.As(err, &e) {
		code = codes[e.Code]
	} else if err != nil {
		return err
	}
	if code != expected {
		return fmt.Errorf("%s, expected %s: %v", code, expected, err)
	}
	return nil
}

func runCase(steps []string) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	w := newWorld()
	for _, step := range steps {
		if err := w.step(step); err != nil {
			return fmt.Errorf("%q: %w", step, err)
		}
	}
	return nil
}

func isPeer() bool { return os.Getenv("CONFORMANCE_PEER") != "" }

func report(header string, steps []string) bool {
	words := strings.Fields(header)
	if len(words) > 2 && words[2] == "only=tensorloom" && isPeer() {
		fmt.Printf("skip %s: of tensorloom alone\n", words[1])
		return true
	}
	err := runCase(steps)
	switch {
	case err == nil:
		fmt.Printf("ok %s\n", words[1])
	case isPeer() && strings.Contains(err.Error(), "No gradient defined"):
		fmt.Printf("skip %s: %v\n", words[1], err)
		return true
	default:
		fmt.Printf("fail %s: %v\n", words[1], err)
	}
	return err == nil
}

func main() {
	passed := true
	for _, path := range os.Args[1:] {
		table, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		header, steps := "", []string{}
		for _, line := range append(strings.Split(string(table), "\n"), "case end") {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || line[0] == '#':
			case strings.HasPrefix(line, "case "):
				if header != "" {
					passed = report(header, steps) && passed
				}
				header, steps = line, nil
			default:
				steps = append(steps, line)
			}
		}
	}
	if !passed {
		os.Exit(1)
	}
}
