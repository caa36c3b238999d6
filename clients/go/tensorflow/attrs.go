package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// Func is the value of an attribute that names a function of the graph.
type Func struct{ Name string }

// AttrProto is a serialized AttrValue, for kinds that Go has no type for.
type AttrProto []byte

func cBool(value bool) C.uchar {
	if value {
		return 1
	}
	return 0
}

// cStrings are the texts in C memory; free frees them.
func cStrings(values []string) (pointers *unsafe.Pointer, lengths *C.size_t, free func()) {
	count := len(values) + 1
	memory := C.malloc(C.size_t(count) * C.size_t(unsafe.Sizeof(uintptr(0))))
	texts, sizes := unsafe.Slice((*unsafe.Pointer)(memory), count), make([]C.size_t, count)
	for i, value := range values {
		texts[i] = unsafe.Pointer(C.CString(value))
		sizes[i] = C.size_t(len(value))
	}
	return &texts[0], &sizes[0], func() {
		for i := range values {
			C.free(texts[i])
		}
		C.free(memory)
	}
}

func setAttrs(desc *C.TF_OperationDescription, attrs map[string]interface{}) error {
	for name, value := range attrs {
		if err := setAttr(desc, name, value); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	return nil
}

func setAttr(desc *C.TF_OperationDescription, name string, value interface{}) error {
	attr := C.CString(name)
	defer C.free(unsafe.Pointer(attr))
	s := newStatus()
	switch value := value.(type) {
	case string:
		text := C.CString(value)
		defer C.free(unsafe.Pointer(text))
		C.TF_SetAttrString(desc, attr, unsafe.Pointer(text), C.size_t(len(value)))
	case []string:
		texts, lengths, free := cStrings(value)
		defer free()
		C.TF_SetAttrStringList(desc, attr, texts, lengths, C.int(len(value)))
	case int64:
		C.TF_SetAttrInt(desc, attr, C.int64_t(value))
	case []int64:
		C.TF_SetAttrIntList(desc, attr, int64s(value), C.int(len(value)))
	case float32:
		C.TF_SetAttrFloat(desc, attr, C.float(value))
	case []float32:
		list := append(append([]float32{}, value...), 0)
		C.TF_SetAttrFloatList(desc, attr, (*C.float)(unsafe.Pointer(&list[0])), C.int(len(value)))
	case bool:
		C.TF_SetAttrBool(desc, attr, cBool(value))
	case []bool:
		list := make([]C.uchar, len(value)+1)
		for i, v := range value {
			list[i] = cBool(v)
		}
		C.TF_SetAttrBoolList(desc, attr, &list[0], C.int(len(value)))
	case DataType:
		C.TF_SetAttrType(desc, attr, C.TF_DataType(value))
	case []DataType:
		list := append(append([]DataType{}, value...), 0)
		C.TF_SetAttrTypeList(desc, attr, (*C.TF_DataType)(unsafe.Pointer(&list[0])), C.int(len(value)))
	case Shape:
		C.TF_SetAttrShape(desc, attr, int64s(value.dims), C.int(value.NumDimensions()))
	case []Shape:
		setShapes(desc, attr, value)
	case *Tensor:
		C.TF_SetAttrTensor(desc, attr, value.c, s.c)
	case []*Tensor:
		list := make([]*C.TF_Tensor, len(value)+1)
		for i, v := range value {
			list[i] = v.c
		}
		C.TF_SetAttrTensorList(desc, attr, &list[0], C.int(len(value)), s.c)
	case Func:
		text := C.CString(value.Name)
		defer C.free(unsafe.Pointer(text))
		C.TF_SetAttrFuncName(desc, attr, text, C.size_t(len(value.Name)))
	case []Func:
		// The C API has lists of functions as AttrValues alone.
		var list []byte
		for _, f := range value {
			list = append(list, protoField(9, protoField(1, []byte(f.Name)))...)
		}
		return setAttr(desc, name, AttrProto(protoField(1, list)))
	case AttrProto:
		data := C.CBytes(value)
		defer C.free(data)
		C.TF_SetAttrValueProto(desc, attr, data, C.size_t(len(value)), s.c)
	default:
		return fmt.Errorf("no attribute has a value of type %T", value)
	}
	return s.err()
}

// protoField is a field of a message in protobuf's wire format.
func protoField(number int, data []byte) []byte {
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(len(data)))
	return append(append([]byte{byte(number<<3 | 2)}, length[:size]...), data...)
}

func setShapes(desc *C.TF_OperationDescription, attr *C.char, shapes []Shape) {
	size, count := C.size_t(unsafe.Sizeof(uintptr(0))), len(shapes)
	memory := C.malloc(size * C.size_t(count+1))
	defer C.free(memory)
	pointers, ranks := unsafe.Slice((**C.int64_t)(memory), count+1), make([]C.int, count+1)
	for i, shape := range shapes {
		ranks[i] = C.int(shape.NumDimensions())
		dims := (*C.int64_t)(C.malloc(C.size_t(8 * (len(shape.dims) + 1))))
		defer C.free(unsafe.Pointer(dims))
		for j, d := range shape.dims {
			unsafe.Slice(dims, len(shape.dims))[j] = C.int64_t(d)
		}
		pointers[i] = dims
	}
	C.TF_SetAttrShapeList(desc, attr, &pointers[0], &ranks[0], C.int(count))
}

// AttrMetadata says how large the value of an attribute is, as TF_AttrMetadata.
type AttrMetadata struct {
	IsList    bool
	ListSize  int64
	Type      int
	TotalSize int64
}

// AttrMetadata of an attribute.
func (op *Operation) AttrMetadata(name string) (AttrMetadata, error) {
	attr := C.CString(name)
	defer C.free(unsafe.Pointer(attr))
	s := newStatus()
	c := C.TF_OperationGetAttrMetadata(op.c, attr, s.c)
	return AttrMetadata{c.is_list != 0, int64(c.list_size), int(c._type), int64(c.total_size)}, s.err()
}

// Attr is the value of an attribute, in the type that OpSpec takes it in.
func (op *Operation) Attr(name string) (interface{}, error) {
	about, err := op.AttrMetadata(name)
	if err != nil {
		return nil, err
	}
	attr := C.CString(name)
	defer C.free(unsafe.Pointer(attr))
	s := newStatus()
	var value interface{}
	if about.IsList {
		value, err = op.listAttr(attr, about, s)
	} else {
		value, err = op.singleAttr(attr, about, s)
	}
	if err == nil {
		err = s.err()
	}
	return value, err
}

func (op *Operation) singleAttr(attr *C.char, about AttrMetadata, s *status) (interface{}, error) {
	switch C.TF_AttrType(about.Type) {
	case C.TF_ATTR_STRING:
		data := make([]byte, about.TotalSize+1)
		C.TF_OperationGetAttrString(op.c, attr, unsafe.Pointer(&data[0]), C.size_t(len(data)), s.c)
		return string(data[:about.TotalSize]), nil
	case C.TF_ATTR_INT:
		var value C.int64_t
		C.TF_OperationGetAttrInt(op.c, attr, &value, s.c)
		return int64(value), nil
	case C.TF_ATTR_FLOAT:
		var value C.float
		C.TF_OperationGetAttrFloat(op.c, attr, &value, s.c)
		return float32(value), nil
	case C.TF_ATTR_BOOL:
		var value C.uchar
		C.TF_OperationGetAttrBool(op.c, attr, &value, s.c)
		return value != 0, nil
	case C.TF_ATTR_TYPE:
		var value C.TF_DataType
		C.TF_OperationGetAttrType(op.c, attr, &value, s.c)
		return DataType(value), nil
	case C.TF_ATTR_SHAPE:
		if about.TotalSize < 0 {
			return Shape{}, nil
		}
		dims := make([]int64, about.TotalSize)
		C.TF_OperationGetAttrShape(op.c, attr, int64s(dims), C.int(len(dims)), s.c)
		return Shape{dims}, nil
	case C.TF_ATTR_TENSOR:
		var value *C.TF_Tensor
		C.TF_OperationGetAttrTensor(op.c, attr, &value, s.c)
		if err := s.err(); err != nil {
			return nil, err
		}
		return wrapTensor(value), nil
	}
	return intoAttrProto(op, attr)
}

func intoAttrProto(op *Operation, attr *C.char) (interface{}, error) {
	data, err := intoBuffer(func(b *C.TF_Buffer, s *C.TF_Status) {
		C.TF_OperationGetAttrValueProto(op.c, attr, b, s)
	})
	return AttrProto(data), err
}

func (op *Operation) listAttr(attr *C.char, about AttrMetadata, s *status) (interface{}, error) {
	n := int(about.ListSize)
	count := C.int(n)
	switch C.TF_AttrType(about.Type) {
	case C.TF_ATTR_INT:
		list := make([]int64, n+1)
		C.TF_OperationGetAttrIntList(op.c, attr, int64s(list), count, s.c)
		return list[:n], nil
	case C.TF_ATTR_FLOAT:
		list := make([]float32, n+1)
		C.TF_OperationGetAttrFloatList(op.c, attr, (*C.float)(unsafe.Pointer(&list[0])), count, s.c)
		return list[:n], nil
	case C.TF_ATTR_BOOL:
		list, result := make([]C.uchar, n+1), make([]bool, n)
		C.TF_OperationGetAttrBoolList(op.c, attr, &list[0], count, s.c)
		for i := range result {
			result[i] = list[i] != 0
		}
		return result, nil
	case C.TF_ATTR_TYPE:
		list := make([]DataType, n+1)
		C.TF_OperationGetAttrTypeList(op.c, attr, (*C.TF_DataType)(unsafe.Pointer(&list[0])), count, s.c)
		return list[:n], nil
	case C.TF_ATTR_STRING:
		values, lengths := make([]unsafe.Pointer, n+1), make([]C.size_t, n+1)
		storage := C.malloc(C.size_t(about.TotalSize + 1))
		defer C.free(storage)
		C.TF_OperationGetAttrStringList(op.c, attr, &values[0], &lengths[0], count, storage,
			C.size_t(about.TotalSize+1), s.c)
		result := make([]string, n)
		for i := range result {
			if s.err() == nil {
				result[i] = string(C.GoBytes(values[i], C.int(lengths[i])))
			}
		}
		return result, nil
	case C.TF_ATTR_SHAPE:
		dims, ranks := make([]*C.int64_t, n+1), make([]C.int, n+1)
		size := C.size_t(about.TotalSize + 1)
		storage := (*C.int64_t)(C.malloc(8 * size))
		defer C.free(unsafe.Pointer(storage))
		C.TF_OperationGetAttrShapeList(op.c, attr, &dims[0], &ranks[0], count, storage, C.int(size), s.c)
		result := make([]Shape, n)
		for i := range result {
			if s.err() == nil && ranks[i] >= 0 {
				result[i] = ScalarShape()
				for _, d := range unsafe.Slice(dims[i], int(ranks[i])) {
					result[i].dims = append(result[i].dims, int64(d))
				}
			}
		}
		return result, nil
	case C.TF_ATTR_TENSOR:
		list, result := make([]*C.TF_Tensor, n+1), make([]*Tensor, n)
		C.TF_OperationGetAttrTensorList(op.c, attr, &list[0], count, s.c)
		for i := range result {
			if s.err() == nil {
				result[i] = wrapTensor(list[i])
			}
		}
		return result, nil
	}
	return intoAttrProto(op, attr)
}
