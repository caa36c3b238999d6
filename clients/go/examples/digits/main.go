// Command digits trains a perceptron on handwritten digits, with gradients and Adam.
//
// Usage: digits FILE ; the file is of clients/conformance/digits_data.py. It ends with
// an error when less than 97 % of the digits that it has not seen are told apart.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"

	tf "tensorloom/tensorflow"
	"tensorloom/tensorflow/op"
)

const (
	pixels, hidden, classes = 64, 64, 10
	batch, epochs, unseen   = 100, 30, 297
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// read has the images, each a row of pixels, and their labels.
func read(path string) (images [][]float32, labels []int32) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	var count int32
	check(binary.Read(file, binary.LittleEndian, &count))
	labels = make([]int32, count)
	for i := int32(0); i < count; i++ {
		image := make([]float32, pixels)
		check(binary.Read(file, binary.LittleEndian, image))
		images = append(images, image)
	}
	check(binary.Read(file, binary.LittleEndian, labels))
	return images, labels
}

// variable of a shape: its handle and value, and the operation that sets it at first.
func variable(s *op.Scope, name string, initial tf.Output, dims ...int64) (handle, value tf.Output, set *tf.Operation) {
	handle = op.VarHandleOp(s, tf.Float, tf.MakeShape(dims...), op.VarHandleOpSharedName(name))
	return handle, op.ReadVariableOp(s, handle, tf.Float), op.AssignVariableOp(s, handle, initial)
}

// dense is a layer; it adds what it has to learn to the lists.
func dense(s *op.Scope, name string, x tf.Output, in, out int64, m *model) tf.Output {
	s = s.SubScope(name)
	normal := op.RandomStandardNormal(s, op.Const(s, []int32{int32(in), int32(out)}), tf.Float,
		op.RandomStandardNormalSeed(1), op.RandomStandardNormalSeed2(in))
	initial := op.Mul(s, normal, op.Const(s, float32(0.1)))
	weights, w, setWeights := variable(s, name+"/weights", initial, in, out)
	bias, b, setBias := variable(s, name+"/bias", op.Const(s, make([]float32, out)), out)
	m.handles = append(m.handles, weights, bias)
	m.values = append(m.values, w, b)
	m.shapes = append(m.shapes, []int64{in, out}, []int64{out})
	m.init = append(m.init, setWeights, setBias)
	return op.BiasAdd(s, op.MatMul(s, x, w), b)
}

type model struct {
	handles, values []tf.Output
	shapes          [][]int64
	init, train     []*tf.Operation
	x, y, accuracy  tf.Output
}

func adam(s *op.Scope, loss tf.Output, m *model) {
	scalar := func(value float32) tf.Output { return op.Const(s, value) }
	beta1, beta2 := scalar(0.9), scalar(0.999)
	power1, p1, set1 := variable(s, "power1", beta1)
	power2, p2, set2 := variable(s, "power2", beta2)
	m.init = append(m.init, set1, set2)
	var steps []*tf.Operation
	for i, gradient := range op.Gradients(s, []tf.Output{loss}, m.values) {
		dims := m.shapes[i]
		shape := make([]int32, len(dims))
		for j, d := range dims {
			shape[j] = int32(d)
		}
		zeros := op.Fill(s, op.Const(s, shape), scalar(0))
		first, _, setFirst := variable(s, fmt.Sprintf("first%d", i), zeros, dims...)
		second, _, setSecond := variable(s, fmt.Sprintf("second%d", i), zeros, dims...)
		m.init = append(m.init, setFirst, setSecond)
		steps = append(steps, op.ResourceApplyAdam(s, m.handles[i], first, second, p1, p2,
			scalar(0.005), beta1, beta2, scalar(1e-8), gradient))
	}
	after := s.WithControlDependencies(steps...)
	m.train = []*tf.Operation{
		op.AssignVariableOp(after, power1, op.Mul(after, p1, beta1)),
		op.AssignVariableOp(after, power2, op.Mul(after, p2, beta2)),
	}
}

func build(s *op.Scope) *model {
	m := &model{}
	m.x = op.Placeholder(s, tf.Float, op.PlaceholderShape(tf.MakeShape(-1, pixels)))
	m.y = op.Placeholder(s, tf.Int32, op.PlaceholderShape(tf.MakeShape(-1)))
	layer := op.Relu(s, dense(s, "hidden", m.x, pixels, hidden, m))
	logits := dense(s, "logits", layer, hidden, classes, m)
	targets := op.OneHot(s, m.y, op.Const(s, int32(classes)), op.Const(s, float32(1)), op.Const(s, float32(0)))
	each, _ := op.SoftmaxCrossEntropyWithLogits(s, logits, targets)
	loss := op.Mean(s, each, op.Const(s, []int32{0}))
	adam(s, loss, m)
	found := op.ArgMax(s, logits, op.Const(s, int32(1)), op.ArgMaxOutputType(tf.Int32))
	right := op.Cast(s, op.Equal(s, found, m.y), tf.Float)
	m.accuracy = op.Mean(s, right, op.Const(s, []int32{0}))
	return m
}

func main() {
	images, labels := read(os.Args[1])
	scope := op.NewScope()
	m := build(scope)
	graph, err := scope.Finalize()
	check(err)
	session, err := tf.NewSession(graph, nil)
	check(err)
	defer session.Close()
	_, err = session.Run(nil, nil, m.init)
	check(err)
	feed := func(from, to int) map[tf.Output]*tf.Tensor {
		x, err := tf.NewTensor(images[from:to])
		check(err)
		y, err := tf.NewTensor(labels[from:to])
		check(err)
		return map[tf.Output]*tf.Tensor{m.x: x, m.y: y}
	}
	seen := len(images) - unseen
	for epoch := 0; epoch < epochs; epoch++ {
		for at := 0; at+batch <= seen; at += batch {
			_, err := session.Run(feed(at, at+batch), nil, m.train)
			check(err)
		}
	}
	results, err := session.Run(feed(seen, len(images)), []tf.Output{m.accuracy}, nil)
	check(err)
	accuracy := results[0].Value().(float32)
	fmt.Printf("%.1f %% of %d digits that it has not seen\n", 100*accuracy, unseen)
	if accuracy < 0.97 {
		os.Exit(1)
	}
}
