package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Function is a graph that operations of other graphs call.
type Function struct{ c *C.TF_Function }

func wrapFunction(c *C.TF_Function) *Function {
	f := &Function{c}
	runtime.SetFinalizer(f, func(f *Function) { C.TF_DeleteFunction(f.c) })
	return f
}

// FunctionSpec says which part of a graph is the body.
type FunctionSpec struct {
	Name        string
	Body        []*Operation // all operations when nil
	Inputs      []Output
	Outputs     []Output
	OutputNames []string
}

// ToFunction makes a function of operations of the graph.
func (g *Graph) ToFunction(spec FunctionSpec) (*Function, error) {
	name := C.CString(spec.Name)
	defer C.free(unsafe.Pointer(name))
	operations, count := cOperations(spec.Body)
	if spec.Body == nil {
		count = -1
	}
	var names **C.char
	if len(spec.OutputNames) > 0 {
		texts, _, free := cStrings(spec.OutputNames)
		defer free()
		names = (**C.char)(unsafe.Pointer(texts))
	}
	inputs, outputs := cOutputs(spec.Inputs), cOutputs(spec.Outputs)
	s := newStatus()
	c := C.TF_GraphToFunction(g.c, name, 0, count, operations, C.int(len(inputs)), first(inputs),
		C.int(len(outputs)), first(outputs), names, nil, nil, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	return wrapFunction(c), nil
}

// ReadFunction makes a function of a serialized FunctionDef.
func ReadFunction(def []byte) (*Function, error) {
	data := C.CBytes(def)
	defer C.free(data)
	s := newStatus()
	c := C.TF_FunctionImportFunctionDef(data, C.size_t(len(def)), s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	return wrapFunction(c), nil
}

// Name by which operations call it.
func (f *Function) Name() string { return C.GoString(C.TF_FunctionName(f.c)) }

// Def is the serialized FunctionDef.
func (f *Function) Def() ([]byte, error) {
	return intoBuffer(func(b *C.TF_Buffer, s *C.TF_Status) { C.TF_FunctionToFunctionDef(f.c, b, s) })
}

// CopyFunction makes a function known to the graph.
func (g *Graph) CopyFunction(f *Function) error {
	s := newStatus()
	C.TF_GraphCopyFunction(g.c, f.c, nil, s.c)
	return s.err()
}

// Functions that the graph knows.
func (g *Graph) Functions() ([]*Function, error) {
	found := make([]*C.TF_Function, C.TF_GraphNumFunctions(g.c)+1)
	s := newStatus()
	n := C.TF_GraphGetFunctions(g.c, &found[0], C.int(len(found)), s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	functions := make([]*Function, n)
	for i := range functions {
		functions[i] = wrapFunction(found[i])
	}
	return functions, nil
}
