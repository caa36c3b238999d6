// Package tensorflow builds and runs graphs through the C API of libtensorloom.
//
// Names are those of TensorFlow's Go binding. The package op beside it has a function
// an operation.
package tensorflow

/*
#cgo LDFLAGS: -ltensorloom -ldl
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Code says what kind an error is of.
type Code int

// The codes of TensorFlow.
const (
	OK Code = iota
	Cancelled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// Error is what the library reports.
type Error struct {
	Code    Code
	Message string
}

func (e *Error) Error() string { return e.Message }

type status struct{ c *C.TF_Status }

func newStatus() *status {
	s := &status{C.TF_NewStatus()}
	runtime.SetFinalizer(s, func(s *status) { C.TF_DeleteStatus(s.c) })
	return s
}

// err is nil when all went well.
func (s *status) err() error {
	defer runtime.KeepAlive(s)
	if code := Code(C.TF_GetCode(s.c)); code != OK {
		return &Error{code, C.GoString(C.TF_Message(s.c))}
	}
	return nil
}

// Version of the library, such as "1.15.0".
func Version() string { return C.GoString(C.TF_Version()) }

// RegisteredOps is the serialized OpList of all operations.
func RegisteredOps() []byte { return takeBuffer(C.TF_GetAllOpList()) }

// RegisteredKernels is the serialized KernelList of one operation.
func RegisteredKernels(op string) ([]byte, error) {
	name := C.CString(op)
	defer C.free(unsafe.Pointer(name))
	s := newStatus()
	buffer := C.TF_GetRegisteredKernelsForOp(name, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	return takeBuffer(buffer), nil
}

// takeBuffer copies the bytes of a buffer and deletes it.
func takeBuffer(buffer *C.TF_Buffer) []byte {
	defer C.TF_DeleteBuffer(buffer)
	return C.GoBytes(buffer.data, C.int(buffer.length))
}

// intoBuffer runs a call that fills a buffer.
func intoBuffer(fill func(*C.TF_Buffer, *C.TF_Status)) ([]byte, error) {
	s := newStatus()
	buffer := C.TF_NewBuffer()
	fill(buffer, s.c)
	if err := s.err(); err != nil {
		C.TF_DeleteBuffer(buffer)
		return nil, err
	}
	return takeBuffer(buffer), nil
}

func newBuffer(data []byte) *C.TF_Buffer {
	if len(data) == 0 {
		return C.TF_NewBuffer()
	}
	return C.TF_NewBufferFromString(unsafe.Pointer(&data[0]), C.size_t(len(data)))
}
