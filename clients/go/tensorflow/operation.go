package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import "unsafe"

// Operation is a node of a graph.
type Operation struct {
	c *C.TF_Operation
	g *Graph
}

// Input of an operation: an Output or an OutputList.
type Input interface{ isInput() }

// Output of an operation, a tensor in each step.
type Output struct {
	Op    *Operation
	Index int
}

// OutputList is one input of several tensors.
type OutputList []Output

// Consumer is an input of an operation that takes an output.
type Consumer struct {
	Op    *Operation
	Index int
}

func (Output) isInput()     {}
func (OutputList) isInput() {}

// Name is unique in the graph.
func (op *Operation) Name() string { return C.GoString(C.TF_OperationName(op.c)) }

// Type is the name of the operation's definition, such as "MatMul".
func (op *Operation) Type() string { return C.GoString(C.TF_OperationOpType(op.c)) }

// Device that was asked for; empty when none was.
func (op *Operation) Device() string { return C.GoString(C.TF_OperationDevice(op.c)) }

// NumOutputs counts each tensor of an output list.
func (op *Operation) NumOutputs() int { return int(C.TF_OperationNumOutputs(op.c)) }

// NumInputs counts each tensor of an input list.
func (op *Operation) NumInputs() int { return int(C.TF_OperationNumInputs(op.c)) }

// Output by its index.
func (op *Operation) Output(i int) Output { return Output{op, i} }

// Input by its index: the output that feeds it.
func (op *Operation) Input(i int) Output {
	o := C.TF_OperationInput(C.TF_Input{oper: op.c, index: C.int(i)})
	return Output{&Operation{o.oper, op.g}, int(o.index)}
}

// OutputListSize is the length of an output by its name in the definition.
func (op *Operation) OutputListSize(output string) (int, error) {
	name := C.CString(output)
	defer C.free(unsafe.Pointer(name))
	s := newStatus()
	n := int(C.TF_OperationOutputListLength(op.c, name, s.c))
	return n, s.err()
}

// InputListSize is the length of an input by its name in the definition.
func (op *Operation) InputListSize(input string) (int, error) {
	name := C.CString(input)
	defer C.free(unsafe.Pointer(name))
	s := newStatus()
	n := int(C.TF_OperationInputListLength(op.c, name, s.c))
	return n, s.err()
}

// ControlInputs are the operations that run before this one.
func (op *Operation) ControlInputs() []*Operation {
	found := make([]*C.TF_Operation, C.TF_OperationNumControlInputs(op.c)+1)
	n := C.TF_OperationGetControlInputs(op.c, &found[0], C.int(len(found)))
	return op.g.operations(found[:n])
}

// ControlOutputs are the operations that wait for this one.
func (op *Operation) ControlOutputs() []*Operation {
	found := make([]*C.TF_Operation, C.TF_OperationNumControlOutputs(op.c)+1)
	n := C.TF_OperationGetControlOutputs(op.c, &found[0], C.int(len(found)))
	return op.g.operations(found[:n])
}

func (g *Graph) operations(c []*C.TF_Operation) []*Operation {
	found := make([]*Operation, len(c))
	for i, o := range c {
		found[i] = &Operation{o, g}
	}
	return found
}

// NodeDef is the serialized node.
func (op *Operation) NodeDef() ([]byte, error) {
	return intoBuffer(func(b *C.TF_Buffer, s *C.TF_Status) { C.TF_OperationToNodeDef(op.c, b, s) })
}

func (o Output) c() C.TF_Output {
	if o.Op == nil {
		return C.TF_Output{}
	}
	return C.TF_Output{oper: o.Op.c, index: C.int(o.Index)}
}

// DataType of the tensor.
func (o Output) DataType() DataType { return DataType(C.TF_OperationOutputType(o.c())) }

// Shape that is known while the graph is built.
func (o Output) Shape() Shape {
	s := newStatus()
	rank := C.TF_GraphGetTensorNumDims(o.Op.g.c, o.c(), s.c)
	if rank < 0 || s.err() != nil {
		return Shape{}
	}
	dims := make([]int64, rank)
	if rank > 0 {
		C.TF_GraphGetTensorShape(o.Op.g.c, o.c(), int64s(dims), rank, s.c)
	}
	return Shape{dims}
}

// Consumers are the inputs that take the tensor.
func (o Output) Consumers() []Consumer {
	found := make([]C.TF_Input, C.TF_OperationOutputNumConsumers(o.c())+1)
	n := C.TF_OperationOutputConsumers(o.c(), &found[0], C.int(len(found)))
	consumers := make([]Consumer, n)
	for i := range consumers {
		consumers[i] = Consumer{&Operation{found[i].oper, o.Op.g}, int(found[i].index)}
	}
	return consumers
}
