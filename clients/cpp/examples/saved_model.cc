// Loads the SavedModel of the conformance suite and runs it: saved_model DIRECTORY
#include <cstdio>

#include "tensorloom/tensorflow.h"

namespace tl = tensorloom;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tl::Graph graph;
  const auto session = tl::Session::load(argv[1], {"serve"}, graph);
  const tl::Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto scores = session.run({{{graph.operation("x"), 0}, x}}, {{graph.operation("scores"), 0}});
  for (float value : scores[0].values<float>()) std::printf("%g ", value);
  std::printf("\n");
  return 0;
}
