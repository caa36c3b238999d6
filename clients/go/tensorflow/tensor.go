package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"unsafe"
)

// DataType of the elements of a tensor.
type DataType C.TF_DataType

// The types that tensors have.
const (
	Float      DataType = C.TF_FLOAT
	Double     DataType = C.TF_DOUBLE
	Int32      DataType = C.TF_INT32
	Uint8      DataType = C.TF_UINT8
	Int16      DataType = C.TF_INT16
	Int8       DataType = C.TF_INT8
	String     DataType = C.TF_STRING
	Complex64  DataType = C.TF_COMPLEX64
	Int64      DataType = C.TF_INT64
	Bool       DataType = C.TF_BOOL
	Uint16     DataType = C.TF_UINT16
	Complex128 DataType = C.TF_COMPLEX128
	Half       DataType = C.TF_HALF
	Resource   DataType = C.TF_RESOURCE
	Variant    DataType = C.TF_VARIANT
	Uint32     DataType = C.TF_UINT32
	Uint64     DataType = C.TF_UINT64
)

var goTypes = map[DataType]reflect.Type{
	Float: reflect.TypeOf(float32(0)), Double: reflect.TypeOf(float64(0)),
	Int8: reflect.TypeOf(int8(0)), Int16: reflect.TypeOf(int16(0)),
	Int32: reflect.TypeOf(int32(0)), Int64: reflect.TypeOf(int64(0)),
	Uint8: reflect.TypeOf(uint8(0)), Uint16: reflect.TypeOf(uint16(0)),
	Uint32: reflect.TypeOf(uint32(0)), Uint64: reflect.TypeOf(uint64(0)),
	Bool: reflect.TypeOf(false), String: reflect.TypeOf(""),
	Complex64: reflect.TypeOf(complex64(0)), Complex128: reflect.TypeOf(complex128(0)),
}

// Tensor is an array of one type and shape. It is not changed once it is made.
type Tensor struct {
	c     *C.TF_Tensor
	shape []int64
}

func wrapTensor(c *C.TF_Tensor) *Tensor {
	t := &Tensor{c: c, shape: make([]int64, C.TF_NumDims(c))}
	for i := range t.shape {
		t.shape[i] = int64(C.TF_Dim(c, C.int(i)))
	}
	runtime.SetFinalizer(t, func(t *Tensor) { C.TF_DeleteTensor(t.c) })
	return t
}

func allocate(dtype DataType, dims []int64, size int) *Tensor {
	return wrapTensor(C.TF_AllocateTensor(C.TF_DataType(dtype), int64s(dims),
		C.int(len(dims)), C.size_t(size)))
}

// int64s is a pointer that C may read; nil for none.
func int64s(values []int64) *C.int64_t {
	if len(values) == 0 {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&values[0]))
}

func (t *Tensor) count() int {
	count := 1
	for _, d := range t.shape {
		count *= int(d)
	}
	return count
}

// bytes is the tensor's own memory.
func (t *Tensor) bytes() []byte {
	size := int(C.TF_TensorByteSize(t.c))
	if size == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(C.TF_TensorData(t.c)), size)
}

// NewTensor makes a tensor of a scalar, or of a slice or array of any depth, each level
// of which has equal lengths.
func NewTensor(value interface{}) (*Tensor, error) {
	dims, element := []int64{}, reflect.ValueOf(value)
	kind := element.Type()
	for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Array {
		kind = kind.Elem()
		length := 0
		if element.IsValid() {
			length = element.Len()
		}
		dims = append(dims, int64(length))
		if length > 0 {
			element = element.Index(0)
		} else {
			element = reflect.Value{}
		}
	}
	dtype := DataType(0)
	for d, t := range goTypes {
		if t.Kind() == kind.Kind() {
			dtype = d
		}
	}
	if dtype == 0 {
		return nil, fmt.Errorf("no tensor has elements of type %v", kind)
	}
	var flat reflect.Value = reflect.MakeSlice(reflect.SliceOf(goTypes[dtype]), 0, 0)
	if err := flatten(reflect.ValueOf(value), dims, goTypes[dtype], &flat); err != nil {
		return nil, err
	}
	if dtype == String {
		return newStringTensor(dims, flat.Interface().([]string)), nil
	}
	size := flat.Len() * int(goTypes[dtype].Size())
	t := allocate(dtype, dims, size)
	if size > 0 {
		copy(t.bytes(), unsafe.Slice((*byte)(flat.UnsafePointer()), size))
	}
	return t, nil
}

func flatten(value reflect.Value, dims []int64, element reflect.Type, flat *reflect.Value) error {
	if len(dims) == 0 {
		*flat = reflect.Append(*flat, value.Convert(element))
		return nil
	}
	if int64(value.Len()) != dims[0] {
		return fmt.Errorf("a slice has %d elements beside others of %d", value.Len(), dims[0])
	}
	if len(dims) == 1 && value.Kind() == reflect.Slice && value.Type().Elem() == element {
		*flat = reflect.AppendSlice(*flat, value)
		return nil
	}
	for i := 0; i < value.Len(); i++ {
		if err := flatten(value.Index(i), dims[1:], element, flat); err != nil {
			return err
		}
	}
	return nil
}

// ReadTensor reads the elements of a tensor, not of strings, from their memory.
func ReadTensor(dtype DataType, shape []int64, r io.Reader) (*Tensor, error) {
	size := int(C.TF_DataTypeSize(C.TF_DataType(dtype)))
	if size == 0 {
		return nil, fmt.Errorf("elements of type %d have no fixed size", dtype)
	}
	for _, d := range shape {
		size *= int(d)
	}
	t := allocate(dtype, shape, size)
	_, err := io.ReadFull(r, t.bytes())
	return t, err
}

// WriteContentsTo writes the memory of the elements.
func (t *Tensor) WriteContentsTo(w io.Writer) (int64, error) {
	defer runtime.KeepAlive(t)
	n, err := w.Write(t.bytes())
	return int64(n), err
}

// DataType of the elements.
func (t *Tensor) DataType() DataType { return DataType(C.TF_TensorType(t.c)) }

// Shape has the dimensions; none for a scalar.
func (t *Tensor) Shape() []int64 { return t.shape }

// Value is a scalar, or a slice of slices as deep as the tensor's rank.
func (t *Tensor) Value() interface{} {
	defer runtime.KeepAlive(t)
	element := goTypes[t.DataType()]
	var flat reflect.Value
	if t.DataType() == String {
		flat = reflect.ValueOf(t.strings())
	} else {
		flat = reflect.MakeSlice(reflect.SliceOf(element), t.count(), t.count())
		if t.count() > 0 {
			copy(unsafe.Slice((*byte)(flat.UnsafePointer()), len(t.bytes())), t.bytes())
		}
	}
	return nest(flat, t.shape).Interface()
}

func nest(flat reflect.Value, dims []int64) reflect.Value {
	if len(dims) == 0 {
		return flat.Index(0)
	}
	if len(dims) == 1 {
		return flat
	}
	each := 1
	for _, d := range dims[1:] {
		each *= int(d)
	}
	kind := flat.Type()
	for range dims[1:] {
		kind = reflect.SliceOf(kind)
	}
	result := reflect.MakeSlice(kind, int(dims[0]), int(dims[0]))
	for i := 0; i < int(dims[0]); i++ {
		result.Index(i).Set(nest(flat.Slice(i*each, (i+1)*each), dims[1:]))
	}
	return result
}
