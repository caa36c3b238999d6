// Trains a perceptron on handwritten digits, with gradients and Adam: digits FILE
//
// The file is of clients/conformance/digits_data.py. The program fails when less than 97 %
// of the digits that it has not seen are told apart.
#include <cstdio>
#include <fstream>

#include "tensorloom/ops.h"
#include "tensorloom/tensorflow.h"

namespace tl = tensorloom;
namespace ops = tensorloom::ops;

constexpr int32_t kPixels = 64, kHidden = 64, kClasses = 10;
constexpr int kBatch = 100, kEpochs = 30, kUnseen = 297;

struct Digits {
  int32_t count = 0;
  std::vector<float> images;
  std::vector<int32_t> labels;

  explicit Digits(const char* path) {
    std::ifstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.read(reinterpret_cast<char*>(&count), sizeof count);
    images.resize(static_cast<size_t>(count) * kPixels);
    labels.resize(static_cast<size_t>(count));
    file.read(reinterpret_cast<char*>(images.data()), long(images.size() * sizeof(float)));
    file.read(reinterpret_cast<char*>(labels.data()), long(labels.size() * 4));
  }
};

struct Variable {
  tl::Output handle, value;
  std::vector<int32_t> shape;
};

// A model and its training.
class Model {
 public:
  Model() {
    const tl::Scope& s = scope;
    x = ops::Placeholder(s, TF_FLOAT);
    y = ops::Placeholder(s, TF_INT32);
    const auto layer = ops::Relu(s, dense(s.sub_scope("hidden"), x, kPixels, kHidden));
    const auto logits = dense(s.sub_scope("logits"), layer, kHidden, kClasses);
    const auto targets = ops::OneHot(s, y, s.constant(kClasses), s.constant(1.0f), s.constant(0.0f));
    const auto first = s.constant(std::vector<int32_t>{0});
    const auto each = ops::SoftmaxCrossEntropyWithLogits(s, logits, targets);
    adam(s, ops::Mean(s, each.loss, first));
    const auto best = ops::ArgMax(s, logits, s.constant(int32_t{1}), {{"output_type", TF_INT32}});
    accuracy = ops::Mean(s, ops::Cast(s, ops::Equal(s, best, y), TF_FLOAT), first);
  }

  tl::Scope scope;
  tl::Output x, y, accuracy;
  std::vector<tl::Operation> init, train;

 private:
  Variable variable(const tl::Scope& s, tl::Output initial, const std::vector<int32_t>& shape) {
    const std::string name = "variable" + std::to_string(init.size());
    const auto handle = ops::VarHandleOp(
        s, TF_FLOAT, std::vector<int64_t>(shape.begin(), shape.end()), {{"shared_name", name}});
    init.push_back(ops::AssignVariableOp(s, handle, initial));
    return {handle, ops::ReadVariableOp(s, handle, TF_FLOAT), shape};
  }

  tl::Output dense(const tl::Scope& s, tl::Output input, int32_t in, int32_t out) {
    const auto normal = ops::RandomStandardNormal(
        s, s.constant(std::vector<int32_t>{in, out}), TF_FLOAT,
        {{"seed", int64_t{1}}, {"seed2", int64_t{in + out}}});
    const auto weights = variable(s, ops::Mul(s, normal, s.constant(0.1f)), {in, out});
    const auto bias = variable(s, s.constant(std::vector<float>(size_t(out))), {out});
    learned_.push_back(weights);
    learned_.push_back(bias);
    return ops::BiasAdd(s, ops::MatMul(s, input, weights.value), bias.value);
  }

  void adam(const tl::Scope& s, tl::Output loss) {
    const auto beta1 = s.constant(0.9f), beta2 = s.constant(0.999f);
    const auto power1 = variable(s, beta1, {}), power2 = variable(s, beta2, {});
    tl::OutputList values;
    for (const auto& v : learned_) values.push_back(v.value);
    const auto gradients = s.gradients({loss}, values);
    std::vector<tl::Operation> steps;
    for (size_t i = 0; i < learned_.size(); i++) {
      const Variable& v = learned_[i];
      const auto zeros = ops::Fill(s, s.constant(v.shape), s.constant(0.0f));
      const auto first = variable(s, zeros, v.shape), second = variable(s, zeros, v.shape);
      steps.push_back(ops::ResourceApplyAdam(
          s, v.handle, first.handle, second.handle, power1.value, power2.value,
          s.constant(0.005f), beta1, beta2, s.constant(1e-8f), gradients[i]));
    }
    const tl::Scope after = s.after(steps);
    train = {ops::AssignVariableOp(after, power1.handle, ops::Mul(after, power1.value, beta1)),
             ops::AssignVariableOp(after, power2.handle, ops::Mul(after, power2.value, beta2))};
  }

  std::vector<Variable> learned_;
};

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Digits digits(argv[1]);
  const Model model;
  const tl::Session session(model.scope.graph());
  const auto feed = [&](int from, int to) -> tl::Feeds {
    const auto image = digits.images.begin();
    return {{model.x, tl::Tensor({to - from, kPixels}, std::vector<float>(image + from * kPixels, image + to * kPixels))},
            {model.y, tl::Tensor({to - from}, std::vector<int32_t>(digits.labels.begin() + from, digits.labels.begin() + to))}};
  };
  const int seen = digits.count - kUnseen;
  session.run({}, {}, model.init);
  for (int epoch = 0; epoch < kEpochs; epoch++)
    for (int at = 0; at + kBatch <= seen; at += kBatch)
      session.run(feed(at, at + kBatch), {}, model.train);
  const float found = session.run(feed(seen, digits.count), {model.accuracy})[0].values<float>()[0];
  std::printf("%.1f %% of %d digits that it has not seen\n", 100.0 * found, kUnseen);
  session.close();
  return found < 0.97f;
}
