package tensorflow

import (
	"bytes"
	"errors"
	"reflect"
	"sync"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func placeholder(t *testing.T, g *Graph, name string, dtype DataType) Output {
	t.Helper()
	op, err := g.AddOperation(OpSpec{
		Type: "Placeholder", Name: name, Attrs: map[string]interface{}{"dtype": dtype},
	})
	must(t, err)
	return op.Output(0)
}

func square(t *testing.T, g *Graph, x Output) Output {
	t.Helper()
	op, err := g.AddOperation(OpSpec{Type: "Square", Input: []Input{x}})
	must(t, err)
	return op.Output(0)
}

func TestTensorsKeepTheirValues(t *testing.T) {
	for _, value := range []interface{}{
		float32(1.5), int64(-3), true, "text", uint8(255), complex(1, 2),
		[]int32{1, 2, 3}, [][]float64{{1, 2}, {3, 4}}, []string{"", "a", "\x00\xff"},
		[][][]bool{{{true}, {false}}}, []float32{}, [2]int16{7, 8},
	} {
		tensor, err := NewTensor(value)
		must(t, err)
		expected := value
		if array, ok := value.([2]int16); ok {
			expected = array[:]
		}
		if got := tensor.Value(); !reflect.DeepEqual(got, expected) {
			t.Errorf("%#v came back as %#v", value, got)
		}
	}
}

func TestTensorsThatCannotBe(t *testing.T) {
	for _, value := range []interface{}{[][]int32{{1}, {2, 3}}, struct{}{}, []chan int{}} {
		if _, err := NewTensor(value); err == nil {
			t.Errorf("a tensor of %#v was made", value)
		}
	}
}

func TestReadTensor(t *testing.T) {
	tensor, err := ReadTensor(Int16, []int64{2}, bytes.NewReader([]byte{1, 0, 0, 1}))
	must(t, err)
	if got := tensor.Value(); !reflect.DeepEqual(got, []int16{1, 256}) {
		t.Error(got)
	}
	if _, err := ReadTensor(Int16, []int64{2}, bytes.NewReader([]byte{1, 0})); err == nil {
		t.Error("a tensor of too few bytes was read")
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	g := NewGraph()
	x := placeholder(t, g, "x", String)
	_, err := g.AddOperation(OpSpec{Type: "Square", Input: []Input{x}})
	var e *Error
	if !errors.As(err, &e) || e.Code != InvalidArgument {
		t.Errorf("Square of strings: %v", err)
	}
	if _, err := g.AddOperation(OpSpec{Type: "NoOp", Attrs: map[string]interface{}{"a": t}}); err == nil {
		t.Error("an attribute of a type that none has was set")
	}
}

func TestRunFromManyGoroutines(t *testing.T) {
	g := NewGraph()
	x := placeholder(t, g, "x", Int32)
	y := square(t, g, x)
	session, err := NewSession(g, nil)
	must(t, err)
	defer session.Close()
	var all sync.WaitGroup
	for i := int32(0); i < 8; i++ {
		all.Add(1)
		go func(i int32) {
			defer all.Done()
			value, _ := NewTensor(i)
			results, err := session.Run(map[Output]*Tensor{x: value}, []Output{y}, nil)
			if err != nil || results[0].Value() != i*i {
				t.Errorf("the square of %d: %v, %v", i, results, err)
			}
		}(i)
	}
	all.Wait()
}

func TestGradientsAndWhile(t *testing.T) {
	g := NewGraph()
	x := placeholder(t, g, "x", Float)
	dx, err := g.AddGradients("", []Output{square(t, g, x)}, []Output{x}, nil)
	must(t, err)
	zero, _ := NewTensor(int32(0))
	start, err := g.AddOperation(OpSpec{
		Type: "Const", Attrs: map[string]interface{}{"dtype": Int32, "value": zero},
	})
	must(t, err)
	constant := func(g *Graph, value int32) Output {
		tensor, _ := NewTensor(value)
		op, err := g.AddOperation(OpSpec{
			Type: "Const", Attrs: map[string]interface{}{"dtype": Int32, "value": tensor},
		})
		must(t, err)
		return op.Output(0)
	}
	part := func(kind string, value int32) LoopPart {
		return func(g *Graph, variables []Output) ([]Output, error) {
			op, err := g.AddOperation(OpSpec{
				Type: kind, Name: "part", Input: []Input{variables[0], constant(g, value)},
			})
			return []Output{op.Output(0)}, err
		}
	}
	ends, err := g.While("loop", []Output{start.Output(0)}, part("Less", 7), part("Add", 2))
	must(t, err)
	session, err := NewSession(g, nil)
	must(t, err)
	value, _ := NewTensor(float32(3))
	results, err := session.Run(map[Output]*Tensor{x: value}, append(dx, ends...), nil)
	must(t, err)
	if results[0].Value() != float32(6) || results[1].Value() != int32(8) {
		t.Errorf("gradient %v, loop %v", results[0].Value(), results[1].Value())
	}
	must(t, session.Close())
	if _, err := session.Run(nil, ends, nil); err == nil {
		t.Error("a closed session ran")
	}
}
