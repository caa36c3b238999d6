package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"fmt"
	"io"
	"runtime"
	"unsafe"
)

// Graph of operations. It lives as long as one of its operations or sessions does.
type Graph struct {
	c     *C.TF_Graph
	owner interface{} // a graph of a while loop belongs to the loop
}

// NewGraph is empty.
func NewGraph() *Graph {
	g := &Graph{c: C.TF_NewGraph()}
	runtime.SetFinalizer(g, func(g *Graph) { C.TF_DeleteGraph(g.c) })
	return g
}

// Operation by its name; nil when there is none.
func (g *Graph) Operation(name string) *Operation {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	if c := C.TF_GraphOperationByName(g.c, text); c != nil {
		return &Operation{c, g}
	}
	return nil
}

// Operations in the order in which they were added.
func (g *Graph) Operations() []Operation {
	var position C.size_t
	var found []Operation
	for {
		c := C.TF_GraphNextOperation(g.c, &position)
		if c == nil {
			return found
		}
		found = append(found, Operation{c, g})
	}
}

// WriteTo writes the serialized GraphDef.
func (g *Graph) WriteTo(w io.Writer) (int64, error) {
	def, err := intoBuffer(func(b *C.TF_Buffer, s *C.TF_Status) { C.TF_GraphToGraphDef(g.c, b, s) })
	if err != nil {
		return 0, err
	}
	n, err := w.Write(def)
	return int64(n), err
}

// OpDef is the serialized definition of an operation as the graph knows it.
func (g *Graph) OpDef(op string) ([]byte, error) {
	name := C.CString(op)
	defer C.free(unsafe.Pointer(name))
	return intoBuffer(func(b *C.TF_Buffer, s *C.TF_Status) { C.TF_GraphGetOpDef(g.c, name, b, s) })
}

// SetShape adds to what is known of an output's shape.
func (g *Graph) SetShape(output Output, shape Shape) error {
	s := newStatus()
	C.TF_GraphSetTensorShape(g.c, output.c(), int64s(shape.dims), C.int(shape.NumDimensions()), s.c)
	return s.err()
}

// TryEvaluateConstant is the value of an output that no session is needed for, or nil.
func (g *Graph) TryEvaluateConstant(output Output) (*Tensor, error) {
	s := newStatus()
	var result *C.TF_Tensor
	known := C.TF_TryEvaluateConstant(g.c, output.c(), &result, s.c)
	if err := s.err(); err != nil || known == 0 {
		return nil, err
	}
	return wrapTensor(result), nil
}

// OpSpec says what operation to add.
type OpSpec struct {
	Type                string
	Name                string // Type when empty
	Input               []Input
	Attrs               map[string]interface{}
	ControlDependencies []*Operation
	ColocateWith        []*Operation
	Device              string
}

// AddOperation adds one operation, or none when there is an error.
func (g *Graph) AddOperation(spec OpSpec) (*Operation, error) {
	if spec.Name == "" {
		spec.Name = spec.Type
	}
	kind, name := C.CString(spec.Type), C.CString(spec.Name)
	defer C.free(unsafe.Pointer(kind))
	defer C.free(unsafe.Pointer(name))
	desc := C.TF_NewOperation(g.c, kind, name)
	if spec.Device != "" {
		device := C.CString(spec.Device)
		defer C.free(unsafe.Pointer(device))
		C.TF_SetDevice(desc, device)
	}
	for _, input := range spec.Input {
		switch input := input.(type) {
		case Output:
			C.TF_AddInput(desc, input.c())
		case OutputList:
			c := cOutputs(input)
			C.TF_AddInputList(desc, first(c), C.int(len(c)))
		}
	}
	for _, control := range spec.ControlDependencies {
		C.TF_AddControlInput(desc, control.c)
	}
	for _, beside := range spec.ColocateWith {
		C.TF_ColocateWith(desc, beside.c)
	}
	attrErr := setAttrs(desc, spec.Attrs)
	s := newStatus()
	// Finishing frees the description, so it is done after an error too.
	c := C.TF_FinishOperation(desc, s.c)
	if attrErr != nil {
		return nil, fmt.Errorf("operation %s: %w", spec.Name, attrErr)
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	return &Operation{c, g}, nil
}

// AddGradients adds the operations that compute the derivatives of the sum of ys by each
// x, under the prefix. dx are the derivatives of a loss by the ys; ones when nil.
func (g *Graph) AddGradients(prefix string, y, x, dx []Output) ([]Output, error) {
	var cPrefix *C.char
	if prefix != "" {
		cPrefix = C.CString(prefix)
		defer C.free(unsafe.Pointer(cPrefix))
	}
	if len(dx) > 0 && len(dx) != len(y) {
		return nil, fmt.Errorf("%d derivatives given for %d ys", len(dx), len(y))
	}
	cy, cx, cdx, result := cOutputs(y), cOutputs(x), cOutputs(dx), make([]C.TF_Output, len(x))
	s := newStatus()
	C.TF_AddGradientsWithPrefix(g.c, cPrefix, first(cy), C.int(len(cy)), first(cx), C.int(len(cx)),
		first(cdx), s.c, first(result))
	if err := s.err(); err != nil {
		return nil, err
	}
	return g.outputs(result), nil
}

func (g *Graph) outputs(c []C.TF_Output) []Output {
	outputs := make([]Output, len(c))
	for i, o := range c {
		outputs[i] = Output{&Operation{o.oper, g}, int(o.index)}
	}
	return outputs
}

func cOutputs(outputs []Output) []C.TF_Output {
	c := make([]C.TF_Output, len(outputs))
	for i, o := range outputs {
		c[i] = o.c()
	}
	return c
}

func first(c []C.TF_Output) *C.TF_Output {
	if len(c) == 0 {
		return nil
	}
	return &c[0]
}

func cOperations(operations []*Operation) (**C.TF_Operation, C.int) {
	if len(operations) == 0 {
		return nil, 0
	}
	c := make([]*C.TF_Operation, len(operations))
	for i, o := range operations {
		c[i] = o.c
	}
	return &c[0], C.int(len(c))
}
