package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	tf "tensorloom/tensorflow"
)

var dtypes = map[string]tf.DataType{
	"float32": tf.Float, "float64": tf.Double, "int8": tf.Int8, "int16": tf.Int16,
	"int32": tf.Int32, "int64": tf.Int64, "uint8": tf.Uint8, "uint16": tf.Uint16,
	"uint32": tf.Uint32, "uint64": tf.Uint64, "bool": tf.Bool, "string": tf.String,
	"resource": tf.Resource, "variant": tf.Variant,
}

func dtypeName(dtype tf.DataType) string {
	for name, d := range dtypes {
		if d == dtype {
			return name
		}
	}
	return fmt.Sprint(dtype)
}

func unescape(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		panic(err)
	}
	return plain
}

func list(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

func parseShape(text string) tf.Shape {
	switch text {
	case "unknown":
		return tf.Shape{}
	case "scalar", "":
		return tf.ScalarShape()
	}
	var dims []int64
	for _, part := range strings.Split(text, ",") {
		d, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			d = -1
		}
		dims = append(dims, d)
	}
	return tf.MakeShape(dims...)
}

func showShape(shape tf.Shape) string {
	dims, err := shape.ToSlice()
	if err != nil {
		return "unknown"
	}
	if len(dims) == 0 {
		return "scalar"
	}
	words := make([]string, len(dims))
	for i, d := range dims {
		words[i] = "?"
		if d >= 0 {
			words[i] = fmt.Sprint(d)
		}
	}
	return strings.Join(words, ",")
}

// literal is DTYPE[DIMS]=VALUES in its parts; one value stands for all elements.
func literal(text string) (dtype string, dims []int64, values []string) {
	open, end := strings.Index(text, "["), strings.Index(text, "]=")
	dtype = text[:open]
	dims, _ = parseShape(text[open+1 : end]).ToSlice()
	count := 1
	for _, d := range dims {
		count *= int(d)
	}
	if count == 0 {
		return dtype, dims, nil
	}
	values = strings.Split(text[end+2:], ",")
	for len(values) == 1 && count > 1 || len(values) < count {
		values = append(values, values[0])
	}
	return dtype, dims, values
}

func parseTensor(text string) (*tf.Tensor, error) {
	dtype, dims, values := literal(text)
	if dtype == "string" {
		return stringTensor(dims, values)
	}
	var data bytes.Buffer
	for _, v := range values {
		binary.Write(&data, binary.LittleEndian, parseElement(dtype, v))
	}
	return tf.ReadTensor(dtypes[dtype], dims, &data)
}

func parseElement(dtype, text string) interface{} {
	f, _ := strconv.ParseFloat(text, 64)
	i, _ := strconv.ParseInt(text, 10, 64)
	switch dtype {
	case "float32":
		return float32(f)
	case "float64":
		return f
	case "bool":
		return text == "true"
	case "int8":
		return int8(i)
	case "int16":
		return int16(i)
	case "int32":
		return int32(i)
	case "uint8":
		return uint8(i)
	case "uint16":
		return uint16(i)
	case "uint32":
		return uint32(i)
	}
	return i
}

// stringTensor nests the strings as deep as their shape.
func stringTensor(dims []int64, values []string) (*tf.Tensor, error) {
	plain := make([]string, len(values))
	for i, v := range values {
		plain[i] = unescape(v)
	}
	var nested interface{} = plain
	switch len(dims) {
	case 0:
		nested = plain[0]
	case 2:
		rows := make([][]string, dims[0])
		for i := range rows {
			rows[i] = plain[i*int(dims[1]) : (i+1)*int(dims[1])]
		}
		nested = rows
	}
	return tf.NewTensor(nested)
}

// flat has the elements of a value of any depth.
func flat(value reflect.Value, into []interface{}) []interface{} {
	if value.Kind() != reflect.Slice {
		return append(into, value.Interface())
	}
	for i := 0; i < value.Len(); i++ {
		into = flat(value.Index(i), into)
	}
	return into
}

func same(got interface{}, dtype, text string) bool {
	switch got := got.(type) {
	case string:
		return got == unescape(text)
	case float32:
		return near(float64(got), text)
	case float64:
		return near(got, text)
	}
	return fmt.Sprint(got) == text
}

func near(got float64, text string) bool {
	expected, _ := strconv.ParseFloat(text, 64)
	if math.IsNaN(got) || math.IsNaN(expected) {
		return math.IsNaN(got) && math.IsNaN(expected)
	}
	return got == expected || math.Abs(got-expected) <= 1e-5+1e-4*math.Abs(expected)
}

func expectTensor(what string, got *tf.Tensor, text string) error {
	dtype, dims, values := literal(text)
	if got.DataType() != dtypes[dtype] {
		return fmt.Errorf("%s is of %s, expected %s", what, dtypeName(got.DataType()), dtype)
	}
	if showShape(tf.MakeShape(got.Shape()...)) != showShape(tf.MakeShape(dims...)) {
		return fmt.Errorf("%s has shape %v, expected %v", what, got.Shape(), dims)
	}
	if len(values) == 0 {
		return nil
	}
	for i, element := range flat(reflect.ValueOf(got.Value()), nil) {
		if !same(element, dtype, values[i]) {
			return fmt.Errorf("element %d of %s is %v, expected %s", i, what, element, values[i])
		}
	}
	return nil
}

func parseAttr(text string) (interface{}, error) {
	colon := strings.Index(text, ":")
	kind, value := text[:colon], text[colon+1:]
	switch kind {
	case "int":
		return strconv.ParseInt(value, 10, 64)
	case "float":
		f, err := strconv.ParseFloat(value, 32)
		return float32(f), err
	case "bool":
		return value == "true", nil
	case "type":
		return dtypes[value], nil
	case "string":
		return unescape(value), nil
	case "func":
		return tf.Func{Name: value}, nil
	case "shape":
		return parseShape(value), nil
	case "tensor":
		return parseTensor(value)
	case "proto":
		return tf.AttrProto(unescape(value)), nil
	case "shapes":
		var shapes []tf.Shape
		for _, part := range list(value, ";") {
			shapes = append(shapes, parseShape(part))
		}
		return shapes, nil
	}
	return parseListAttr(kind, list(value, ","))
}

func parseListAttr(kind string, parts []string) (interface{}, error) {
	ints, floats, bools := []int64{}, []float32{}, []bool{}
	types, texts := []tf.DataType{}, []string{}
	for _, part := range parts {
		i, _ := strconv.ParseInt(part, 10, 64)
		f, _ := strconv.ParseFloat(part, 32)
		ints, floats = append(ints, i), append(floats, float32(f))
		bools, types = append(bools, part == "true"), append(types, dtypes[part])
		texts = append(texts, unescape(part))
	}
	switch kind {
	case "ints":
		return ints, nil
	case "floats":
		return floats, nil
	case "bools":
		return bools, nil
	case "types":
		return types, nil
	case "strings":
		return texts, nil
	}
	return nil, fmt.Errorf("no kind of attribute %q", kind)
}

func expectAttr(got interface{}, text string) error {
	if tensor, ok := got.(*tf.Tensor); ok {
		return expectTensor("the attribute", tensor, strings.TrimPrefix(text, "tensor:"))
	}
	expected, err := parseAttr(text)
	if err == nil && fmt.Sprint(got) != fmt.Sprint(expected) {
		err = fmt.Errorf("the attribute is %v, expected %v", got, expected)
	}
	return err
}
