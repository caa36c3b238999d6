package main

import (
	"bytes"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"

	tf "tensorloom/tensorflow"
)

func (w *world) opInfo(words []string) error {
	op := w.operation(words[0])
	names := func(operations []*tf.Operation) string {
		var found []string
		for _, o := range operations {
			found = append(found, o.Name())
		}
		return strings.Join(found, ",")
	}
	looks := map[string]func() interface{}{
		"type":      func() interface{} { return op.Type() },
		"device":    func() interface{} { return op.Device() },
		"inputs":    func() interface{} { return op.NumInputs() },
		"outputs":   func() interface{} { return op.NumOutputs() },
		"controls":  func() interface{} { return names(op.ControlInputs()) },
		"followers": func() interface{} { return names(op.ControlOutputs()) },
	}
	for key, look := range looks {
		if expected, ok := option(words, key); ok {
			if err := expect(key, look(), expected); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) contains(words []string) error {
	var data []byte
	var err error
	switch words[0] {
	case "op-list":
		data = tf.RegisteredOps()
	case "kernels":
		data, err = tf.RegisteredKernels(words[1])
	case "graph-def":
		var def bytes.Buffer
		_, err = w.graph.WriteTo(&def)
		data = def.Bytes()
	case "node-def":
		data, err = w.operation(words[1]).NodeDef()
	case "op-def":
		data, err = w.graph.OpDef(words[1])
	case "function-def":
		data, err = w.functions[words[1]].Def()
	}
	if err == nil && !bytes.Contains(data, []byte(unescape(words[2]))) {
		err = broken{fmt.Errorf("%s %s has no bytes %q", words[0], words[1], words[2])}
	}
	return err
}

func (w *world) metadata(words []string) error {
	got, err := w.operation(words[0]).AttrMetadata(words[1])
	if err != nil {
		return err
	}
	isList := "0"
	if got.IsList {
		isList = "1"
	}
	shown := []string{isList, fmt.Sprint(got.ListSize), fmt.Sprint(got.Type), fmt.Sprint(got.TotalSize)}
	for i, expected := range words[2:] {
		if expected != "-" && shown[i] != expected {
			return expect("the metadata", shown, words[2:])
		}
	}
	return nil
}

// run has the tokens of a step of a session in Go's form.
type run struct {
	feeds          map[tf.Output]*tf.Tensor
	fed, fetches   []tf.Output
	targets        []*tf.Operation
	expected, name []string
}

func (w *world) readRun(words []string) (*run, error) {
	r := &run{feeds: map[tf.Output]*tf.Tensor{}}
	for _, word := range words {
		mark := strings.IndexAny(word, "<>")
		switch {
		case word[0] == '!':
			r.targets = append(r.targets, w.operation(word[1:]))
		case word[mark] == '<':
			output := w.output(word[:mark])
			r.fed = append(r.fed, output)
			if word[mark+1:] != "" {
				tensor, err := parseTensor(word[mark+1:])
				if err != nil {
					return nil, err
				}
				r.feeds[output] = tensor
			}
		default:
			r.fetches = append(r.fetches, w.output(word[:mark]))
			r.expected = append(r.expected, word[mark+1:])
			r.name = append(r.name, word[:mark])
		}
	}
	return r, nil
}

func (r *run) check(results []*tf.Tensor, err error) error {
	for i, result := range results {
		if err == nil && r.expected[i] != "" {
			if e := expectTensor(r.name[i], result, r.expected[i]); e != nil {
				err = broken{e}
			}
		}
	}
	return err
}

func (w *world) run(words []string) error {
	r, err := w.readRun(words)
	if err != nil {
		return err
	}
	return r.check(w.session.Run(r.feeds, r.fetches, r.targets))
}

func (w *world) threads(words []string) error {
	count, _ := strconv.Atoi(words[0])
	repeats, _ := strconv.Atoi(words[1])
	errors := make([]error, count)
	var all sync.WaitGroup
	for i := 0; i < count; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for j := 0; j < repeats && errors[i] == nil; j++ {
				errors[i] = w.run(words[2:])
			}
		}(i)
	}
	all.Wait()
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) load(words []string) error {
	directory := os.ExpandEnv(words[0])
	model, err := tf.LoadSavedModel(directory, list(words[1], ","), nil)
	if err != nil {
		return err
	}
	w.session, w.graph = model.Session, model.Graph
	if len(words) > 2 && !bytes.Contains(model.MetaGraphDef, []byte(words[2])) {
		return broken{fmt.Errorf("the MetaGraphDef has no bytes %q", words[2])}
	}
	return nil
}

func (w *world) devices(words []string) error {
	devices, err := w.session.ListDevices()
	for _, d := range devices {
		if d.Type == words[0] && strings.Contains(d.Name, "/device:") {
			return nil
		}
	}
	if err == nil {
		err = broken{fmt.Errorf("no device of type %s", words[0])}
	}
	return err
}

func (w *world) sessionStep(verb string, words []string) (err error) {
	switch verb {
	case "session":
		target, _ := option(words, "target")
		w.session, err = tf.NewSession(w.graph, &tf.SessionOptions{Target: target})
	case "close":
		err = w.session.Close()
	case "load":
		err = w.load(words)
	case "run":
		err = w.run(words)
	case "partial-setup":
		var r *run
		if r, err = w.readRun(words); err == nil {
			w.partial, err = w.session.NewPartialRun(r.fed, r.fetches, r.targets)
		}
	case "partial-run":
		var r *run
		if r, err = w.readRun(words); err == nil {
			err = r.check(w.partial.Run(r.feeds, r.fetches, r.targets))
		}
	case "threads":
		err = w.threads(words)
	case "devices":
		err = w.devices(words)
	default:
		err = broken{fmt.Errorf("no step %q", verb)}
	}
	return err
}

func (w *world) lookStep(verb string, words []string) error {
	switch verb {
	case "shape":
		return expect("the shape", showShape(w.output(words[0]).Shape()), words[1])
	case "dtype":
		return expect("the dtype", dtypeName(w.output(words[0]).DataType()), words[1])
	case "op-info":
		return w.opInfo(words)
	case "input":
		o := w.output(words[0])
		got := o.Op.Input(o.Index)
		return expect("the input", fmt.Sprintf("%s:%d", got.Op.Name(), got.Index), words[1])
	case "consumers":
		var found []string
		for _, c := range w.output(words[0]).Consumers() {
			found = append(found, fmt.Sprintf("%s:%d", c.Op.Name(), c.Index))
		}
		return expect("the consumers", strings.Join(found, ","), strings.Join(words[1:], ","))
	case "list-length":
		size := w.operation(words[0]).InputListSize
		if words[1] == "out" {
			size = w.operation(words[0]).OutputListSize
		}
		got, err := size(words[2])
		if err != nil || len(words) < 4 {
			return err
		}
		return expect("the length", got, words[3])
	case "ops":
		var found []string
		operations := w.graph.Operations()
		for i := range operations {
			found = append(found, operations[i].Name())
		}
		return expect("the operations", strings.Join(found, ","), strings.Join(words, ","))
	case "attr":
		got, err := w.operation(words[0]).Attr(words[1])
		if err == nil && len(words) > 2 {
			if e := expectAttr(got, words[2]); e != nil {
				err = broken{e}
			}
		}
		return err
	case "metadata":
		return w.metadata(words)
	case "contains":
		return w.contains(words)
	case "constant":
		got, err := w.graph.TryEvaluateConstant(w.output(words[0]))
		if err != nil {
			return err
		}
		if got == nil || words[1] == "none" {
			return expect("known", got != nil, words[1] != "none")
		}
		return expectTensor(words[0], got, words[1])
	}
	return w.sessionStep(verb, words)
}

func (w *world) functionNames(words []string) error {
	functions, err := w.graph.Functions()
	var found []string
	for _, f := range functions {
		found = append(found, f.Name())
	}
	sort.Strings(found)
	if err != nil {
		return err
	}
	return expect("the functions", strings.Join(found, ","), strings.Join(words, ","))
}

func (w *world) buildStep(verb string, words []string) (err error) {
	switch verb {
	case "op":
		return w.op(words)
	case "graph":
		if w.graphs[words[0]] == nil {
			w.graphs[words[0]] = tf.NewGraph()
		}
		w.graph = w.graphs[words[0]]
	case "set-shape":
		return w.graph.SetShape(w.output(words[0]), parseShape(words[1]))
	case "import":
		return w.importGraph(words)
	case "import-bytes":
		return w.graph.Import([]byte(unescape(words[0])), "")
	case "gradients":
		return w.gradients(words)
	case "function":
		return w.function(words)
	case "copy-function":
		return w.graph.CopyFunction(w.functions[words[0]])
	case "reread-function":
		def, err := w.functions[words[0]].Def()
		if err != nil {
			return err
		}
		w.functions[words[1]], err = tf.ReadFunction(def)
		return err
	case "functions":
		return w.functionNames(words)
	default:
		return w.lookStep(verb, words)
	}
	return err
}
