package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import "unsafe"

// TensorName is an output of a GraphDef: a node and an index.
type TensorName struct {
	Node  string
	Index int
}

// GraphImportOptions say how a GraphDef becomes part of a graph.
type GraphImportOptions struct {
	Prefix              string
	Device              string
	UniquifyNames       bool
	InputMap            map[TensorName]Output // what stands for an output of the GraphDef
	ControlMap          map[string]*Operation // what stands for a control input
	ControlDependencies []*Operation
	ReturnOutputs       []TensorName
	ReturnOperations    []string
}

// GraphImportResults are what an import was asked to return.
type GraphImportResults struct {
	Outputs         []Output
	Operations      []*Operation
	UnusedInputMaps []TensorName // they name no output of the GraphDef
}

// Import adds the nodes of a serialized GraphDef.
func (g *Graph) Import(def []byte, prefix string) error {
	_, err := g.ImportWithOptions(def, GraphImportOptions{Prefix: prefix})
	return err
}

// ImportWithOptions adds the nodes of a serialized GraphDef, or none on an error.
func (g *Graph) ImportWithOptions(def []byte, options GraphImportOptions) (*GraphImportResults, error) {
	c := C.TF_NewImportGraphDefOptions()
	defer C.TF_DeleteImportGraphDefOptions(c)
	var texts []*C.char
	text := func(value string) *C.char {
		texts = append(texts, C.CString(value))
		return texts[len(texts)-1]
	}
	defer func() {
		for _, t := range texts {
			C.free(unsafe.Pointer(t))
		}
	}()
	C.TF_ImportGraphDefOptionsSetPrefix(c, text(options.Prefix))
	if options.Device != "" {
		C.TF_ImportGraphDefOptionsSetDefaultDevice(c, text(options.Device))
	}
	if options.UniquifyNames {
		C.TF_ImportGraphDefOptionsSetUniquifyNames(c, 1)
	}
	for from, to := range options.InputMap {
		C.TF_ImportGraphDefOptionsAddInputMapping(c, text(from.Node), C.int(from.Index), to.c())
	}
	for from, to := range options.ControlMap {
		C.TF_ImportGraphDefOptionsRemapControlDependency(c, text(from), to.c)
	}
	for _, o := range options.ControlDependencies {
		C.TF_ImportGraphDefOptionsAddControlDependency(c, o.c)
	}
	for _, o := range options.ReturnOutputs {
		C.TF_ImportGraphDefOptionsAddReturnOutput(c, text(o.Node), C.int(o.Index))
	}
	for _, name := range options.ReturnOperations {
		C.TF_ImportGraphDefOptionsAddReturnOperation(c, text(name))
	}
	buffer := newBuffer(def)
	defer C.TF_DeleteBuffer(buffer)
	s := newStatus()
	results := C.TF_GraphImportGraphDefWithResults(g.c, buffer, c, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	defer C.TF_DeleteImportGraphDefResults(results)
	return g.importResults(results), nil
}

func (g *Graph) importResults(c *C.TF_ImportGraphDefResults) *GraphImportResults {
	results := &GraphImportResults{}
	var count C.int
	var outputs *C.TF_Output
	C.TF_ImportGraphDefResultsReturnOutputs(c, &count, &outputs)
	results.Outputs = g.outputs(unsafe.Slice(outputs, int(count)))
	var operations **C.TF_Operation
	C.TF_ImportGraphDefResultsReturnOperations(c, &count, &operations)
	for _, o := range unsafe.Slice(operations, int(count)) {
		results.Operations = append(results.Operations, &Operation{o, g})
	}
	var names **C.char
	var indices *C.int
	C.TF_ImportGraphDefResultsMissingUnusedInputMappings(c, &count, &names, &indices)
	for i, name := range unsafe.Slice(names, int(count)) {
		index := unsafe.Slice(indices, int(count))[i]
		results.UnusedInputMaps = append(results.UnusedInputMaps, TensorName{C.GoString(name), int(index)})
	}
	return results
}
