// Package op has a function an operation, which adds it to the graph of a Scope.
//
// ops.go is generated from the registry's definitions (clients/generator).
package op

import (
	"fmt"

	tf "tensorloom/tensorflow"
)

// Scope of names in a graph. The first error is kept: after it nothing is added, and
// Finalize reports it.
type Scope struct {
	graph     *tf.Graph
	prefix    string
	taken     map[string]int
	controls  []*tf.Operation
	device    string
	err       *error
	finalized bool
}

// NewScope of a new graph.
func NewScope() *Scope { return NewScopeWithGraph(tf.NewGraph()) }

// NewScopeWithGraph adds to a graph that is there.
func NewScopeWithGraph(graph *tf.Graph) *Scope {
	return &Scope{graph: graph, taken: map[string]int{}, err: new(error)}
}

// Graph that the scope adds to.
func (s *Scope) Graph() *tf.Graph { return s.graph }

// Finalize returns the graph; nothing is added afterwards.
func (s *Scope) Finalize() (*tf.Graph, error) {
	if *s.err != nil {
		return nil, *s.err
	}
	s.finalized = true
	return s.graph, nil
}

// Err is the first error.
func (s *Scope) Err() error { return *s.err }

// UpdateErr keeps an error of the caller, unless there is one.
func (s *Scope) UpdateErr(op string, err error) {
	if *s.err == nil {
		*s.err = fmt.Errorf("%s: %w", op, err)
	}
}

// SubScope puts a namespace before the names of what is added to it.
func (s *Scope) SubScope(namespace string) *Scope {
	inner := *s
	inner.prefix = s.unique(namespace) + "/"
	return &inner
}

// WithControlDependencies runs what is added after these operations.
func (s *Scope) WithControlDependencies(operations ...*tf.Operation) *Scope {
	inner := *s
	inner.controls = append(append([]*tf.Operation{}, s.controls...), operations...)
	return &inner
}

// WithDevice places what is added.
func (s *Scope) WithDevice(device string) *Scope {
	inner := *s
	inner.device = device
	return &inner
}

func (s *Scope) unique(name string) string {
	name = s.prefix + name
	count := s.taken[name]
	s.taken[name]++
	if count > 0 {
		return fmt.Sprintf("%s_%d", name, count)
	}
	return name
}

// AddOperation adds an operation; nil after an error.
func (s *Scope) AddOperation(spec tf.OpSpec) *tf.Operation {
	if *s.err != nil {
		return nil
	}
	if s.finalized {
		s.UpdateErr(spec.Type, fmt.Errorf("the scope is finalized"))
		return nil
	}
	if spec.Name == "" {
		spec.Name = spec.Type
	}
	for s.graph.Operation(s.prefix+spec.Name) != nil && s.taken[s.prefix+spec.Name] == 0 {
		s.taken[s.prefix+spec.Name]++
	}
	spec.Name = s.unique(spec.Name)
	spec.ControlDependencies = append(spec.ControlDependencies, s.controls...)
	if spec.Device == "" {
		spec.Device = s.device
	}
	op, err := s.graph.AddOperation(spec)
	if err != nil {
		s.UpdateErr(spec.Type, err)
	}
	return op
}

// Const adds a constant of a tensor, or of a value that tf.NewTensor takes.
func Const(s *Scope, value interface{}) tf.Output {
	if *s.err != nil {
		return tf.Output{}
	}
	tensor, ok := value.(*tf.Tensor)
	if !ok {
		var err error
		if tensor, err = tf.NewTensor(value); err != nil {
			s.UpdateErr("Const", err)
			return tf.Output{}
		}
	}
	return output(s.AddOperation(tf.OpSpec{
		Type:  "Const",
		Attrs: map[string]interface{}{"dtype": tensor.DataType(), "value": tensor},
	}), 0)
}

// Gradients adds the derivatives of the sum of ys by each x.
func Gradients(s *Scope, ys, xs []tf.Output, dys ...tf.Output) []tf.Output {
	if *s.err != nil {
		return make([]tf.Output, len(xs))
	}
	found, err := s.graph.AddGradients(s.unique("Gradients"), ys, xs, dys)
	if err != nil {
		s.UpdateErr("Gradients", err)
		return make([]tf.Output, len(xs))
	}
	return found
}

func output(op *tf.Operation, i int) tf.Output {
	if op == nil {
		return tf.Output{}
	}
	return op.Output(i)
}

// outputs is a list that starts at an index and is as long as the operation says.
func outputs(s *Scope, op *tf.Operation, start int, name string) ([]tf.Output, int) {
	if op == nil {
		return nil, start
	}
	size, err := op.OutputListSize(name)
	if err != nil {
		s.UpdateErr(op.Type(), err)
		return nil, start
	}
	list := make([]tf.Output, size)
	for i := range list {
		list[i] = op.Output(start + i)
	}
	return list, start + size
}
