// Command savedmodel loads the SavedModel of the conformance suite and runs it.
//
// Usage: savedmodel DIRECTORY
package main

import (
	"fmt"
	"log"
	"os"

	tf "tensorloom/tensorflow"
)

func main() {
	model, err := tf.LoadSavedModel(os.Args[1], []string{"serve"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Session.Close()
	x, err := tf.NewTensor([][]float32{{1, 2, 3}, {4, 5, 6}})
	if err != nil {
		log.Fatal(err)
	}
	results, err := model.Session.Run(
		map[tf.Output]*tf.Tensor{model.Graph.Operation("x").Output(0): x},
		[]tf.Output{model.Graph.Operation("scores").Output(0)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results[0].Value())
}
