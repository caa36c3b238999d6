package tensorflow

/*
#include <stdlib.h>
#include <string.h>
#include "tensorflow/c/c_api.h"

// The members are const, so the struct stays in C and is read by these.
typedef struct {
  TF_WhileParams params;
  TF_Output inputs[];
} Loop;

static Loop* new_loop(TF_Graph* graph, const TF_Output* inputs, int n, TF_Status* status) {
  Loop* loop = malloc(sizeof(Loop) + (size_t)n * sizeof(TF_Output));
  // The library reads the inputs once more when the loop is finished.
  memcpy(loop->inputs, inputs, (size_t)n * sizeof(TF_Output));
  TF_WhileParams params = TF_NewWhile(graph, loop->inputs, n, status);
  memcpy(&loop->params, &params, sizeof params);
  return loop;
}
*/
import "C"

import "unsafe"

// LoopPart builds the condition or the body of a loop from its variables.
type LoopPart func(g *Graph, variables []Output) ([]Output, error)

// While adds a loop: as long as the condition's one output is true, the body gives the
// variables their next values. The results are the last values.
func (g *Graph) While(name string, variables []Output, condition, body LoopPart) ([]Output, error) {
	s, inputs := newStatus(), cOutputs(variables)
	loop := C.new_loop(g.c, first(inputs), C.int(len(inputs)), s.c)
	defer C.free(unsafe.Pointer(loop))
	if err := s.err(); err != nil {
		return nil, err
	}
	n := len(variables)
	inner := func(c *C.TF_Graph, from *C.TF_Output, build LoopPart) ([]Output, error) {
		graph := &Graph{c: c, owner: g}
		return build(graph, graph.outputs(unsafe.Slice(from, n)))
	}
	ends, err := inner(loop.params.cond_graph, loop.params.cond_inputs, condition)
	if err == nil && len(ends) == 1 {
		loop.params.cond_output = ends[0].c()
		ends, err = inner(loop.params.body_graph, loop.params.body_inputs, body)
	}
	if err != nil {
		C.TF_AbortWhile(&loop.params)
		return nil, err
	}
	copy(unsafe.Slice(loop.params.body_outputs, n), cOutputs(ends))
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	loop.params.name = text
	results := make([]C.TF_Output, n+1)
	C.TF_FinishWhile(&loop.params, s.c, &results[0])
	if err := s.err(); err != nil {
		return nil, err
	}
	return g.outputs(results[:n]), nil
}
