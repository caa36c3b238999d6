package op

import (
	"testing"

	tf "tensorloom/tensorflow"
)

func TestScopesNameOperations(t *testing.T) {
	s := NewScope()
	inner := s.SubScope("layer")
	names := []string{}
	for _, output := range []tf.Output{
		Const(s, float32(1)), Const(s, float32(2)), Const(inner, float32(3)),
		Const(s.SubScope("layer"), float32(4)),
	} {
		names = append(names, output.Op.Name())
	}
	expected := []string{"Const", "Const_1", "layer/Const", "layer_1/Const"}
	for i := range expected {
		if names[i] != expected[i] {
			t.Errorf("%v, expected %v", names, expected)
		}
	}
}

func TestTheFirstErrorIsKept(t *testing.T) {
	s := NewScope()
	product := MatMul(s, Const(s, "a"), Const(s, "b"))
	Neg(s, product)
	if _, err := s.Finalize(); err == nil {
		t.Error("a product of strings was built")
	}
}

func TestListsOfOutputs(t *testing.T) {
	s := NewScope()
	parts := Split(s, Const(s, int32(0)), Const(s, []float32{1, 2, 3, 4}), 2)
	sum := AddN(s, parts)
	graph, err := s.Finalize()
	if err != nil {
		t.Fatal(err)
	}
	session, err := tf.NewSession(graph, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	results, err := session.Run(nil, []tf.Output{sum}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := results[0].Value().([]float32); got[0] != 4 || got[1] != 6 {
		t.Error(got)
	}
}
