// Graphs, operations and functions. Part of tensorloom/tensorflow.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "tensorloom/tensor.h"

namespace tensorloom {

// Sizes, of which -1 is unknown; nothing when the rank is unknown.
using Shape = std::optional<std::vector<int64_t>>;
// The value of an attribute that names a function of the graph.
struct Func {
  std::string name;
};
// A serialized AttrValue.
struct AttrProto {
  std::string bytes;
};
using Attr =
    std::variant<std::string, std::vector<std::string>, int64_t, std::vector<int64_t>,
                 float, std::vector<float>, bool, std::vector<bool>, TF_DataType,
                 std::vector<TF_DataType>, Shape, std::vector<Shape>, Tensor,
                 std::vector<Tensor>, Func, std::vector<Func>, AttrProto>;
using Attrs = std::map<std::string, Attr>;

using Operation = TF_Operation*;
using Output = TF_Output;
using OutputList = std::vector<Output>;
using Input = std::variant<Output, OutputList>;

inline int size_of(const std::vector<Output>& list) { return static_cast<int>(list.size()); }

// A field of a message in protobuf's wire format.
inline std::string proto_field(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length >= 128; length >>= 7) field += static_cast<char>(length | 128);
  return field + static_cast<char>(length) + bytes;
}

// Sets an attribute of an operation that is being described.
struct AttrSetter {
  TF_OperationDescription* op;
  const char* name;

  void operator()(const std::string& v) const {
    TF_SetAttrString(op, name, v.data(), v.size());
  }
  void operator()(const std::vector<std::string>& list) const {
    std::vector<const void*> texts;
    std::vector<size_t> lengths;
    for (const auto& text : list) {
      texts.push_back(text.data());
      lengths.push_back(text.size());
    }
    TF_SetAttrStringList(op, name, texts.data(), lengths.data(), int(list.size()));
  }
  void operator()(int64_t v) const { TF_SetAttrInt(op, name, v); }
  void operator()(const std::vector<int64_t>& list) const {
    TF_SetAttrIntList(op, name, list.data(), int(list.size()));
  }
  void operator()(float v) const { TF_SetAttrFloat(op, name, v); }
  void operator()(const std::vector<float>& list) const {
    TF_SetAttrFloatList(op, name, list.data(), int(list.size()));
  }
  void operator()(bool v) const { TF_SetAttrBool(op, name, v); }
  void operator()(const std::vector<bool>& list) const {
    const std::vector<unsigned char> bytes(list.begin(), list.end());
    TF_SetAttrBoolList(op, name, bytes.data(), int(list.size()));
  }
  void operator()(TF_DataType v) const { TF_SetAttrType(op, name, v); }
  void operator()(const std::vector<TF_DataType>& list) const {
    TF_SetAttrTypeList(op, name, list.data(), int(list.size()));
  }
  void operator()(const Shape& v) const {
    TF_SetAttrShape(op, name, v ? v->data() : nullptr, v ? int(v->size()) : -1);
  }
  void operator()(const std::vector<Shape>& list) const {
    std::vector<const int64_t*> dims;
    std::vector<int> ranks;
    for (const Shape& shape : list) {
      dims.push_back(shape ? shape->data() : nullptr);
      ranks.push_back(shape ? int(shape->size()) : -1);
    }
    TF_SetAttrShapeList(op, name, dims.data(), ranks.data(), int(list.size()));
  }
  void operator()(const Tensor& v) const {
    Status status;
    TF_SetAttrTensor(op, name, v.get(), status);
    status.check();
  }
  void operator()(const std::vector<Tensor>& list) const {
    std::vector<TF_Tensor*> tensors;
    for (const Tensor& tensor : list) tensors.push_back(tensor.get());
    Status status;
    TF_SetAttrTensorList(op, name, tensors.data(), int(list.size()), status);
    status.check();
  }
  void operator()(const Func& v) const {
    TF_SetAttrFuncName(op, name, v.name.data(), v.name.size());
  }
  // The C API has lists of functions as AttrValues alone.
  void operator()(const std::vector<Func>& list) const {
    std::string functions;
    for (const Func& f : list) functions += proto_field(9, proto_field(1, f.name));
    (*this)(AttrProto{proto_field(1, functions)});
  }
  void operator()(const AttrProto& v) const {
    Status status;
    TF_SetAttrValueProto(op, name, v.bytes.data(), v.bytes.size(), status);
    status.check();
  }
};

// What operation to add.
struct OpSpec {
  std::string type, name;
  std::vector<Input> inputs = {};
  Attrs attrs = {};
  std::vector<Operation> controls = {}, colocate = {};
  std::string device = {};
};

// How a GraphDef becomes part of a graph.
struct ImportOptions {
  std::string prefix = {}, device = {};
  bool uniquify_names = false;
  std::vector<std::tuple<std::string, int, Output>> input_map = {};
  std::vector<std::pair<std::string, Operation>> control_map = {};
  std::vector<Operation> control_dependencies = {};
  std::vector<std::pair<std::string, int>> return_outputs = {};
  std::vector<std::string> return_operations = {};
};

struct ImportResults {
  OutputList outputs;
  std::vector<Operation> operations;
  std::vector<std::pair<std::string, int>> unused_input_map;
};

// A graph that operations of other graphs call.
class Function {
 public:
  // Takes ownership.
  explicit Function(TF_Function* function) : function_(function, TF_DeleteFunction) {}
  // Of a serialized FunctionDef.
  explicit Function(const std::string& def) {
    Status status;
    *this = Function(TF_FunctionImportFunctionDef(def.data(), def.size(), status));
    status.check();
  }
  TF_Function* get() const { return function_.get(); }
  std::string name() const { return TF_FunctionName(get()); }
  std::string def() const {
    return filled([&](auto* b, auto* s) { TF_FunctionToFunctionDef(get(), b, s); });
  }

 private:
  std::shared_ptr<TF_Function> function_;
};

// A graph of operations. Copies are the same graph.
class Graph {
 public:
  Graph() : graph_(TF_NewGraph(), TF_DeleteGraph) {}
  // A graph of another owner.
  explicit Graph(TF_Graph* graph) : graph_(graph, [](TF_Graph*) {}) {}

  TF_Graph* get() const { return graph_.get(); }

  // By its name; null when there is none.
  Operation operation(const std::string& name) const {
    return TF_GraphOperationByName(get(), name.c_str());
  }

  std::vector<Operation> operations() const {
    std::vector<Operation> found;
    size_t position = 0;
    while (Operation op = TF_GraphNextOperation(get(), &position)) found.push_back(op);
    return found;
  }

  // Adds an operation, or none when it throws.
  Operation add(const OpSpec& spec) const {
    TF_OperationDescription* op =
        TF_NewOperation(get(), spec.type.c_str(), spec.name.c_str());
    Status status, ignored;
    try {
      if (!spec.device.empty()) TF_SetDevice(op, spec.device.c_str());
      for (const Input& input : spec.inputs) {
        if (auto* one = std::get_if<Output>(&input)) TF_AddInput(op, *one);
        if (auto* list = std::get_if<OutputList>(&input))
          TF_AddInputList(op, list->data(), size_of(*list));
      }
      for (Operation control : spec.controls) TF_AddControlInput(op, control);
      for (Operation beside : spec.colocate) TF_ColocateWith(op, beside);
      for (const auto& [name, value] : spec.attrs)
        std::visit(AttrSetter{op, name.c_str()}, value);
    } catch (...) {
      TF_FinishOperation(op, ignored);  // it frees the description
      throw;
    }
    Operation made = TF_FinishOperation(op, status);
    status.check();
    return made;
  }

  std::string graph_def() const {
    return filled([&](auto* b, auto* s) { TF_GraphToGraphDef(get(), b, s); });
  }
  std::string op_def(const std::string& type) const {
    return filled([&](auto* b, auto* s) { TF_GraphGetOpDef(get(), type.c_str(), b, s); });
  }

  Shape shape(Output output) const {
    Status status;
    const int rank = TF_GraphGetTensorNumDims(get(), output, status);
    status.check();
    if (rank < 0) return std::nullopt;
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    if (rank) TF_GraphGetTensorShape(get(), output, dims.data(), rank, status);
    status.check();
    return dims;
  }

  // Adds to what is known of a shape.
  void set_shape(Output output, const Shape& shape) const {
    Status status;
    TF_GraphSetTensorShape(get(), output, shape ? shape->data() : nullptr,
                           shape ? int(shape->size()) : -1, status);
    status.check();
  }

  // The value of an output that no session is needed for.
  std::optional<Tensor> constant_value(Output output) const {
    Status status;
    TF_Tensor* value = nullptr;
    const bool known = TF_TryEvaluateConstant(get(), output, &value, status);
    status.check();
    return known ? std::optional<Tensor>(value) : std::nullopt;
  }

  // Adds the derivatives of the sum of ys by each x; dys are ones when there are none.
  OutputList add_gradients(OutputList ys, OutputList xs, OutputList dys = {},
                           const char* prefix = nullptr) const {
    if (!dys.empty() && dys.size() != ys.size())
      throw std::invalid_argument("a dy for each y");
    OutputList found(xs.size());
    Status status;
    TF_AddGradientsWithPrefix(get(), prefix, ys.data(), size_of(ys), xs.data(),
                              size_of(xs), dys.empty() ? nullptr : dys.data(), status,
                              found.data());
    status.check();
    return found;
  }

  // A function of some operations, or of the whole graph.
  Function to_function(const std::string& name, const OutputList& inputs,
                       const OutputList& outputs,
                       const std::vector<std::string>& output_names = {},
                       const std::optional<std::vector<Operation>>& body = {}) const {
    std::vector<const char*> names;
    for (const auto& text : output_names) names.push_back(text.c_str());
    Status status;
    TF_Function* made = TF_GraphToFunction(
        get(), name.c_str(), 0, body ? int(body->size()) : -1,
        body ? body->data() : nullptr, size_of(inputs), inputs.data(), size_of(outputs),
        outputs.data(), names.empty() ? nullptr : names.data(), nullptr, nullptr, status);
    status.check();
    return Function(made);
  }

  void copy_function(const Function& function) const {
    Status status;
    TF_GraphCopyFunction(get(), function.get(), nullptr, status);
    status.check();
  }

  std::vector<Function> functions() const {
    std::vector<TF_Function*> found(static_cast<size_t>(TF_GraphNumFunctions(get())));
    Status status;
    TF_GraphGetFunctions(get(), found.data(), int(found.size()), status);
    status.check();
    return {found.begin(), found.end()};
  }

  ImportResults import(const std::string& def, const ImportOptions& options = {}) const;

  // Builds the condition or the body of a loop from its variables.
  using LoopPart = std::function<OutputList(Graph, OutputList)>;

  // Adds a loop: as long as the condition's one output is true, the body gives the
  // variables their next values.
  OutputList add_while(const std::string& name, OutputList variables,
                       const LoopPart& condition, const LoopPart& body) const {
    Status status;
    // The library reads the variables once more when the loop is finished.
    TF_WhileParams params =
        TF_NewWhile(get(), variables.data(), size_of(variables), status);
    status.check();
    const auto part = [&](TF_Graph* graph, const Output* inputs, const LoopPart& build) {
      return build(Graph(graph), OutputList(inputs, inputs + params.ninputs));
    };
    try {
      params.cond_output = part(params.cond_graph, params.cond_inputs, condition).at(0);
      const OutputList ends = part(params.body_graph, params.body_inputs, body);
      if (ends.size() != variables.size())
        throw std::invalid_argument("a loop's body has a value for each variable");
      std::copy(ends.begin(), ends.end(), params.body_outputs);
    } catch (...) {
      TF_AbortWhile(&params);
      throw;
    }
    params.name = name.c_str();
    OutputList found(variables.size());
    TF_FinishWhile(&params, status, found.data());
    status.check();
    return found;
  }

 private:
  std::shared_ptr<TF_Graph> graph_;
};

inline ImportResults Graph::import(const std::string& def,
                                   const ImportOptions& options) const {
  std::unique_ptr<TF_ImportGraphDefOptions, void (*)(TF_ImportGraphDefOptions*)> owner(
      TF_NewImportGraphDefOptions(), TF_DeleteImportGraphDefOptions);
  TF_ImportGraphDefOptions* o = owner.get();
  TF_ImportGraphDefOptionsSetPrefix(o, options.prefix.c_str());
  if (!options.device.empty())
    TF_ImportGraphDefOptionsSetDefaultDevice(o, options.device.c_str());
  TF_ImportGraphDefOptionsSetUniquifyNames(o, options.uniquify_names);
  for (const auto& [name, index, output] : options.input_map)
    TF_ImportGraphDefOptionsAddInputMapping(o, name.c_str(), index, output);
  for (const auto& [name, op] : options.control_map)
    TF_ImportGraphDefOptionsRemapControlDependency(o, name.c_str(), op);
  for (Operation op : options.control_dependencies)
    TF_ImportGraphDefOptionsAddControlDependency(o, op);
  for (const auto& [name, index] : options.return_outputs)
    TF_ImportGraphDefOptionsAddReturnOutput(o, name.c_str(), index);
  for (const auto& name : options.return_operations)
    TF_ImportGraphDefOptionsAddReturnOperation(o, name.c_str());
  std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> buffer(
      TF_NewBufferFromString(def.data(), def.size()), TF_DeleteBuffer);
  Status status;
  std::unique_ptr<TF_ImportGraphDefResults, void (*)(TF_ImportGraphDefResults*)> results(
      TF_GraphImportGraphDefWithResults(get(), buffer.get(), o, status),
      [](TF_ImportGraphDefResults* r) { if (r) TF_DeleteImportGraphDefResults(r); });
  status.check();
  ImportResults found;
  int count = 0;
  Output* outputs = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(results.get(), &count, &outputs);
  found.outputs.assign(outputs, outputs + count);
  Operation* operations = nullptr;
  TF_ImportGraphDefResultsReturnOperations(results.get(), &count, &operations);
  found.operations.assign(operations, operations + count);
  const char** names = nullptr;
  int* indices = nullptr;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results.get(), &count, &names,
                                                     &indices);
  for (int i = 0; i < count; i++)
    found.unused_input_map.emplace_back(names[i], indices[i]);
  return found;
}

}  // namespace tensorloom
