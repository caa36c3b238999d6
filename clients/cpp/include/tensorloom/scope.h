// A scope of names, to which the functions of tensorloom/ops.h add.
#pragma once

#include <set>

#include "tensorloom/graph.h"

namespace tensorloom {

class Scope {
 public:
  explicit Scope(const Graph& graph = Graph()) : graph_(graph) {}

  const Graph& graph() const { return graph_; }

  // Puts a namespace before the names of what is added to it.
  Scope sub_scope(const std::string& name) const {
    Scope inner = *this;
    inner.prefix_ = unique(name) + "/";
    return inner;
  }

  // Runs what is added after these operations.
  Scope after(const std::vector<Operation>& operations) const {
    Scope inner = *this;
    inner.controls_.insert(inner.controls_.end(), operations.begin(), operations.end());
    return inner;
  }

  // Places what is added.
  Scope on(const std::string& device) const {
    Scope inner = *this;
    inner.device_ = device;
    return inner;
  }

  Operation add(const std::string& type, std::vector<Input> inputs, Attrs attrs) const {
    return graph_.add(
        {type, unique(type), std::move(inputs), std::move(attrs), controls_, {}, device_});
  }

  Output constant(const Tensor& value) const {
    return {add("Const", {}, {{"dtype", value.dtype()}, {"value", value}}), 0};
  }
  template <typename T>
  Output constant(const T& value) const {
    return constant(Tensor::scalar(value));
  }
  template <typename T>
  Output constant(const std::vector<T>& values) const {
    return constant(Tensor({static_cast<int64_t>(values.size())}, values));
  }

  // The derivatives of the sum of ys by each x.
  OutputList gradients(const OutputList& ys, const OutputList& xs,
                       const OutputList& dys = {}) const {
    return graph_.add_gradients(ys, xs, dys, unique("gradients").c_str());
  }

 private:
  std::string unique(const std::string& name) const {
    std::string full = prefix_ + name;
    for (int i = 1; graph_.operation(full) || taken_->count(full); i++)
      full = prefix_ + name + "_" + std::to_string(i);
    taken_->insert(full);
    return full;
  }

  Graph graph_;
  std::string prefix_, device_;
  std::vector<Operation> controls_;
  std::shared_ptr<std::set<std::string>> taken_ =
      std::make_shared<std::set<std::string>>();
};

// Outputs of an operation in order, for the functions of ops.h.
class Results {
 public:
  explicit Results(Operation op) : op_(op) {}
  Output one() { return {op_, next_++}; }
  OutputList list(const char* name) {
    Status status;
    const int count = TF_OperationOutputListLength(op_, name, status);
    status.check();
    OutputList found;
    for (int i = 0; i < count; i++) found.push_back(one());
    return found;
  }

 private:
  Operation op_;
  int next_ = 0;
};

}  // namespace tensorloom
