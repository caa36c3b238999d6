package tensorflow

// How the elements of string tensors lie is known here alone. Up to TensorFlow 2.3 a
// tensor of n strings is n offsets of 8 bytes, and then each string after its length as
// a varint; later ones are arrays of TF_TString.

/*
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "tensorflow/c/c_api.h"

enum { TSTRING_SIZE = 24 };

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static void set_tstring(char* data, size_t i, const char* text, size_t length) {
  ((void (*)(void*))symbol("TF_StringInit"))(data + i * TSTRING_SIZE);
  ((void (*)(void*, const char*, size_t))symbol("TF_StringCopy"))(
      data + i * TSTRING_SIZE, text, length);
}

static const char* get_tstring(char* data, size_t i, size_t* length) {
  char* at = data + i * TSTRING_SIZE;
  *length = ((size_t (*)(const void*))symbol("TF_StringGetSize"))(at);
  return ((const char* (*)(const void*))symbol("TF_StringGetDataPointer"))(at);
}
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

func hasTStrings() bool {
	var major, minor int
	fmt.Sscanf(Version(), "%d.%d", &major, &minor)
	return major > 2 || major == 2 && minor >= 4
}

func newStringTensor(dims []int64, values []string) *Tensor {
	if hasTStrings() {
		t := allocate(String, dims, len(values)*C.TSTRING_SIZE)
		data := (*C.char)(C.TF_TensorData(t.c))
		for i, value := range values {
			text := C.CString(value)
			C.set_tstring(data, C.size_t(i), text, C.size_t(len(value)))
			C.free(unsafe.Pointer(text))
		}
		return t
	}
	offsets := make([]byte, 8*len(values))
	var texts []byte
	for i, value := range values {
		binary.LittleEndian.PutUint64(offsets[8*i:], uint64(len(texts)))
		length := make([]byte, binary.MaxVarintLen64)
		texts = append(texts, length[:binary.PutUvarint(length, uint64(len(value)))]...)
		texts = append(texts, value...)
	}
	t := allocate(String, dims, len(offsets)+len(texts))
	copy(t.bytes(), append(offsets, texts...))
	return t
}

// strings of a tensor of them, in order.
func (t *Tensor) strings() []string {
	values := make([]string, t.count())
	if hasTStrings() {
		data := (*C.char)(C.TF_TensorData(t.c))
		for i := range values {
			var length C.size_t
			text := C.get_tstring(data, C.size_t(i), &length)
			values[i] = C.GoStringN(text, C.int(length))
		}
		return values
	}
	data := t.bytes()
	texts := data[8*len(values):]
	for i := range values {
		rest := texts[binary.LittleEndian.Uint64(data[8*i:]):]
		length, size := binary.Uvarint(rest)
		values[i] = string(rest[size : size+int(length)])
	}
	return values
}
