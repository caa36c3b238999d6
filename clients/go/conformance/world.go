package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	tf "tensorloom/tensorflow"
)

// loop is a while loop between its steps, which build it from other goroutine's calls.
type loop struct {
	name      string
	variables []tf.Output
	condition []string // steps
	body      []string
}

// world has what the steps of a case share.
type world struct {
	graphs    map[string]*tf.Graph
	graph     *tf.Graph
	aliases   map[*tf.Graph]map[string]tf.Output
	functions map[string]*tf.Function
	session   *tf.Session
	partial   *tf.PartialRun
	loop      *loop
}

func newWorld() *world {
	g := tf.NewGraph()
	return &world{
		graphs: map[string]*tf.Graph{"main": g}, graph: g,
		aliases:   map[*tf.Graph]map[string]tf.Output{},
		functions: map[string]*tf.Function{},
	}
}

// missing is the panic of a case that names what is not there.
type missing struct{ error }

func (w *world) operation(name string) *tf.Operation {
	found := w.graph.Operation(name)
	if found == nil {
		panic(missing{fmt.Errorf("the graph has no operation %q", name)})
	}
	return found
}

func (w *world) output(reference string) tf.Output {
	if alias, ok := w.aliases[w.graph][reference]; ok {
		return alias
	}
	name, index := splitName(reference)
	return w.operation(name).Output(index)
}

func splitName(reference string) (string, int) {
	colon := strings.LastIndex(reference, ":")
	if colon < 0 {
		return reference, 0
	}
	index, _ := strconv.Atoi(reference[colon+1:])
	return reference[:colon], index
}

func tensorName(reference string) tf.TensorName {
	name, index := splitName(reference)
	return tf.TensorName{Node: name, Index: index}
}

func (w *world) outputs(text string) []tf.Output {
	var found []tf.Output
	for _, reference := range list(text, ",") {
		found = append(found, w.output(reference))
	}
	return found
}

func (w *world) alias(name string, outputs []tf.Output) {
	if w.aliases[w.graph] == nil {
		w.aliases[w.graph] = map[string]tf.Output{}
	}
	for i, output := range outputs {
		w.aliases[w.graph][fmt.Sprintf("%s:%d", name, i)] = output
	}
}

func option(words []string, key string) (string, bool) {
	for _, word := range words {
		if strings.HasPrefix(word, key+"=") {
			return word[len(key)+1:], true
		}
	}
	return "", false
}

func expect(what string, got, expected interface{}) error {
	if fmt.Sprint(got) != fmt.Sprint(expected) {
		return broken{fmt.Errorf("%s is %v, expected %v", what, got, expected)}
	}
	return nil
}

// broken is an expectation that does not hold; other errors are the library's.
type broken struct{ error }

func (w *world) op(words []string) error {
	spec := tf.OpSpec{Type: words[0], Name: words[1], Attrs: map[string]interface{}{}}
	for _, word := range words[2:] {
		equals := strings.Index(word, "=")
		switch {
		case word[0] == '[':
			spec.Input = append(spec.Input, tf.OutputList(w.outputs(word[1:len(word)-1])))
		case word[0] == '^':
			spec.ControlDependencies = append(spec.ControlDependencies, w.operation(word[1:]))
		case word[0] == '@':
			spec.Device = word[1:]
		case word[0] == '~':
			spec.ColocateWith = append(spec.ColocateWith, w.operation(word[1:]))
		case equals > 0:
			value, err := parseAttr(word[equals+1:])
			if err != nil {
				return broken{err}
			}
			spec.Attrs[word[:equals]] = value
		default:
			spec.Input = append(spec.Input, w.output(word))
		}
	}
	_, err := w.graph.AddOperation(spec)
	return err
}

func (w *world) importGraph(words []string) error {
	var def bytes.Buffer
	if _, err := w.graphs[words[0]].WriteTo(&def); err != nil {
		return err
	}
	options := tf.GraphImportOptions{
		InputMap: map[tf.TensorName]tf.Output{}, ControlMap: map[string]*tf.Operation{},
	}
	options.Prefix, _ = option(words, "prefix")
	options.Device, _ = option(words, "device")
	_, options.UniquifyNames = option(words, "uniquify")
	texts := func(key string) []string {
		text, _ := option(words, key)
		return list(text, ",")
	}
	for _, pair := range texts("map") {
		sides := strings.Split(pair, ">")
		options.InputMap[tensorName(sides[0])] = w.output(sides[1])
	}
	for _, pair := range texts("control-map") {
		sides := strings.Split(pair, ">")
		options.ControlMap[sides[0]] = w.operation(sides[1])
	}
	for _, name := range texts("depend") {
		options.ControlDependencies = append(options.ControlDependencies, w.operation(name))
	}
	for _, name := range texts("return") {
		options.ReturnOutputs = append(options.ReturnOutputs, tensorName(name))
	}
	options.ReturnOperations = texts("return-ops")
	results, err := w.graph.ImportWithOptions(def.Bytes(), options)
	if err != nil {
		return err
	}
	outputs := results.Outputs
	for _, o := range results.Operations {
		outputs = append(outputs, o.Output(0))
	}
	if alias, ok := option(words, "alias"); ok {
		w.alias(alias, outputs)
	}
	var unused []string
	for _, name := range results.UnusedInputMaps {
		unused = append(unused, fmt.Sprintf("%s:%d", name.Node, name.Index))
	}
	expected, _ := option(words, "missing")
	return expect("the unused mappings", strings.Join(unused, ","), expected)
}

func (w *world) function(words []string) error {
	spec := tf.FunctionSpec{Name: words[0]}
	inputs, _ := option(words, "inputs")
	outputs, _ := option(words, "outputs")
	names, _ := option(words, "names")
	spec.Inputs, spec.Outputs, spec.OutputNames = w.outputs(inputs), w.outputs(outputs), list(names, ",")
	if body, ok := option(words, "ops"); ok {
		for _, name := range list(body, ",") {
			spec.Body = append(spec.Body, w.operation(name))
		}
	}
	f, err := w.graph.ToFunction(spec)
	if err == nil {
		w.functions[words[0]] = f
	}
	return err
}

func (w *world) gradients(words []string) error {
	prefix, _ := option(words, "prefix")
	var dx []tf.Output
	if len(words) > 3 && !strings.Contains(words[3], "=") {
		dx = w.outputs(words[3])
	}
	results, err := w.graph.AddGradients(prefix, w.outputs(words[1]), w.outputs(words[2]), dx)
	if err == nil {
		w.alias(words[0], results)
	}
	return err
}

// finishLoop runs the steps between while and while-body in the loop's own graphs.
func (w *world) finishLoop(end string) error {
	l, outer := w.loop, w.graph
	w.loop = nil
	part := func(steps []string, ends string) tf.LoopPart {
		return func(g *tf.Graph, variables []tf.Output) ([]tf.Output, error) {
			w.graph = g
			defer func() { w.graph = outer }()
			w.alias("in", variables)
			for _, step := range steps {
				if err := w.step(step); err != nil {
					return nil, err
				}
			}
			return w.outputs(ends), nil
		}
	}
	last := len(l.condition) - 1
	ends := strings.Fields(l.condition[last])[1]
	results, err := outer.While(l.name, l.variables, part(l.condition[:last], ends), part(l.body, end))
	if err == nil {
		w.alias(l.name, results)
	}
	return err
}
