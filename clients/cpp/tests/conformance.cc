// Runs the cases of clients/conformance: conformance TABLE...
// Prints "ok NAME", "fail NAME: why" or "skip NAME: why". Steps that read attributes back
// use the C API, which this client leaves to its users.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "literals.h"

using Words = std::vector<std::string>;

static const char* const kCodes[] = {
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
    "UNAUTHENTICATED"};

// A case that takes a step which this client has no name for.
struct Lacking : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static std::string option(const Words& words, const std::string& key) {
  for (const auto& word : words)
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  return "";
}

static bool given(const Words& words, const std::string& key) {
  return std::any_of(words.begin(), words.end(),
                     [&](const auto& word) { return word.rfind(key + "=", 0) == 0; });
}

static std::pair<std::string, int> split_name(const std::string& reference) {
  const size_t colon = reference.rfind(':');
  if (colon == std::string::npos) return {reference, 0};
  return {reference.substr(0, colon), std::stoi(reference.substr(colon + 1))};
}

static std::string join(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

static std::string names(const std::vector<tl::Operation>& operations) {
  Words found;
  for (auto op : operations) found.push_back(TF_OperationName(op));
  return join(found);
}

struct Run {
  tl::Feeds feeds;
  tl::OutputList fed, fetches;
  std::vector<tl::Operation> targets;
  Words expected;
};

struct Loop {
  std::string name;
  tl::OutputList variables;
  Words condition, body;
  bool in_body = false;
};

struct World {
  tl::Graph graph;
  std::map<std::string, tl::Graph> graphs{{"main", graph}};
  std::map<std::pair<TF_Graph*, std::string>, tl::Output> aliases;
  std::map<std::string, tl::Function> functions;
  std::optional<tl::Session> session;
  std::optional<tl::Session::PartialRun> partial;
  std::optional<Loop> loop;

  tl::Operation operation(const std::string& name) const {
    auto found = graph.operation(name);
    if (!found) throw Broken("the graph has no operation " + name);
    return found;
  }

  tl::Output output(const std::string& reference) const {
    const auto alias = aliases.find({graph.get(), reference});
    if (alias != aliases.end()) return alias->second;
    const auto [name, index] = split_name(reference);
    return {operation(name), index};
  }

  tl::OutputList outputs(const std::string& text) const {
    return map_list<tl::Output>(split(text, ','), [&](auto& r) { return output(r); });
  }

  std::vector<tl::Operation> operations(const std::string& text) const {
    return map_list<tl::Operation>(split(text, ','),
                                   [&](auto& n) { return operation(n); });
  }

  void alias(const std::string& name, const tl::OutputList& list) {
    for (size_t i = 0; i < list.size(); i++)
      aliases[{graph.get(), name + ":" + std::to_string(i)}] = list[i];
  }

  void op(const Words& words) {
    tl::OpSpec spec{words[0], words[1]};
    for (size_t i = 2; i < words.size(); i++) {
      const std::string& word = words[i];
      const std::string rest = word.substr(1);
      const size_t equals = word.find('=');
      if (word[0] == '[') spec.inputs.push_back(outputs(rest.substr(0, rest.size() - 1)));
      else if (word[0] == '^') spec.controls.push_back(operation(rest));
      else if (word[0] == '@') spec.device = rest;
      else if (word[0] == '~') spec.colocate.push_back(operation(rest));
      else if (equals != std::string::npos)
        spec.attrs[word.substr(0, equals)] = parse_attr(word.substr(equals + 1));
      else spec.inputs.push_back(output(word));
    }
    graph.add(spec);
  }

  void import(const Words& words) {
    tl::ImportOptions options{option(words, "prefix"), option(words, "device"),
                              given(words, "uniquify")};
    for (const auto& pair : split(option(words, "map"), ',')) {
      const auto sides = split(pair, '>');
      const auto [name, index] = split_name(sides[0]);
      options.input_map.emplace_back(name, index, output(sides[1]));
    }
    for (const auto& pair : split(option(words, "control-map"), ',')) {
      const auto sides = split(pair, '>');
      options.control_map.emplace_back(sides[0], operation(sides[1]));
    }
    options.control_dependencies = operations(option(words, "depend"));
    for (const auto& name : split(option(words, "return"), ','))
      options.return_outputs.push_back(split_name(name));
    options.return_operations = split(option(words, "return-ops"), ',');
    auto results = graph.import(graphs.at(words[0]).graph_def(), options);
    for (auto op : results.operations) results.outputs.push_back({op, 0});
    if (given(words, "alias")) alias(option(words, "alias"), results.outputs);
    Words unused;
    for (const auto& [name, index] : results.unused_input_map)
      unused.push_back(name + ":" + std::to_string(index));
    expect("the unused mappings", join(unused), option(words, "missing"));
  }

  void function(const Words& words) {
    std::optional<std::vector<tl::Operation>> body;
    if (given(words, "ops")) body = operations(option(words, "ops"));
    functions.insert_or_assign(
        words[0], graph.to_function(words[0], outputs(option(words, "inputs")),
                                    outputs(option(words, "outputs")),
                                    split(option(words, "names"), ','), body));
  }

  void gradients(const Words& words) {
    const bool has_dys = words.size() > 3 && words[3].find('=') == std::string::npos;
    const std::string prefix = option(words, "prefix");
    alias(words[0], graph.add_gradients(outputs(words[1]), outputs(words[2]),
                                        outputs(has_dys ? words[3] : ""),
                                        prefix.empty() ? nullptr : prefix.c_str()));
  }

  void op_info(const Words& words) {
    auto op = operation(words[0]);
    std::vector<tl::Operation> before(size_t(TF_OperationNumControlInputs(op)));
    std::vector<tl::Operation> after(size_t(TF_OperationNumControlOutputs(op)));
    TF_OperationGetControlInputs(op, before.data(), int(before.size()));
    TF_OperationGetControlOutputs(op, after.data(), int(after.size()));
    const std::map<std::string, std::string> looks = {
        {"type", TF_OperationOpType(op)},
        {"device", TF_OperationDevice(op)},
        {"inputs", std::to_string(TF_OperationNumInputs(op))},
        {"outputs", std::to_string(TF_OperationNumOutputs(op))},
        {"controls", names(before)},
        {"followers", names(after)}};
    for (const auto& [key, got] : looks)
      if (given(words, key)) expect(key, got, option(words, key));
  }

  void contains(const Words& words) {
    std::string data;
    if (words[0] == "graph-def") data = graph.graph_def();
    else if (words[0] == "op-def") data = graph.op_def(words[1]);
    else if (words[0] == "function-def") data = functions.at(words[1]).def();
    else if (words[0] == "node-def")
      data = tl::filled([&](auto* buffer, auto* status) {
        TF_OperationToNodeDef(operation(words[1]), buffer, status);
      });
    else {
      tl::Status status;
      std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> buffer(
          words[0] == "op-list"
              ? TF_GetAllOpList()
              : TF_GetRegisteredKernelsForOp(words[1].c_str(), status),
          TF_DeleteBuffer);
      status.check();
      data.assign(static_cast<const char*>(buffer->data), buffer->length);
    }
    if (data.find(unescape(words[2])) == std::string::npos)
      throw Broken(words[0] + " has no bytes " + words[2]);
  }

  Run read_run(const Words& words, size_t from = 0) const {
    Run run;
    for (size_t i = from; i < words.size(); i++) {
      const size_t mark = words[i].find_first_of("<>");
      if (words[i][0] == '!') {
        run.targets.push_back(operation(words[i].substr(1)));
        continue;
      }
      const auto at = output(words[i].substr(0, mark));
      const std::string rest = words[i].substr(mark + 1);
      if (words[i][mark] == '<') {
        run.fed.push_back(at);
        if (!rest.empty()) run.feeds.emplace_back(at, parse_tensor(rest));
      } else {
        run.fetches.push_back(at);
        run.expected.push_back(rest);
      }
    }
    return run;
  }

  static void check(const Run& run, const std::vector<tl::Tensor>& results) {
    for (size_t i = 0; i < results.size(); i++)
      if (!run.expected[i].empty())
        expect_tensor(TF_OperationName(run.fetches[i].oper), results[i], run.expected[i]);
  }

  void threads(const Words& words) {
    const int count = std::stoi(words[0]), repeats = std::stoi(words[1]);
    std::vector<std::exception_ptr> problems(static_cast<size_t>(count));
    std::vector<std::thread> all;
    for (auto& problem : problems)
      all.emplace_back([&] {
        try {
          for (int i = 0; i < repeats; i++) {
            const Run run = read_run(words, 2);
            check(run, session->run(run.feeds, run.fetches, run.targets));
          }
        } catch (...) {
          problem = std::current_exception();
        }
      });
    for (auto& thread : all) thread.join();
    for (auto& problem : problems)
      if (problem) std::rethrow_exception(problem);
  }

  void finish_loop(const std::string& ends) {
    const Loop made = *loop;
    const tl::Graph outer = graph;
    loop.reset();
    const auto part = [&](const Words& steps, const std::string& last) {
      return [&, steps, last](tl::Graph inner, tl::OutputList variables) {
        graph = inner;
        alias("in", variables);
        for (const auto& step : steps) take(step);
        return outputs(last);
      };
    };
    tl::OutputList results;
    try {
      results = outer.add_while(made.name, made.variables,
                                part(made.condition, made.body.front()),
                                part({made.body.begin() + 1, made.body.end()}, ends));
    } catch (...) {
      graph = outer;
      throw;
    }
    graph = outer;
    alias(made.name, results);
  }

  bool loop_step(const std::string& line, const Words& words) {
    if (words[0] == "while") {
      loop = Loop{words[1], outputs(words[2]), {}, {}};
    } else if (!loop) {
      return false;
    } else if (words[0] == "while-body") {
      finish_loop(words[1]);
    } else if (words[0] == "while-abort") {
      const Loop made = *loop;
      loop.reset();
      try {
        graph.add_while(made.name, made.variables, [](auto, auto) -> tl::OutputList {
          throw Broken("stop");
        }, {});
      } catch (const Broken&) {
      }
    } else if (words[0] == "while-cond") {
      loop->in_body = true;
      loop->body.push_back(words[1]);
    } else {
      (loop->in_body ? loop->body : loop->condition).push_back(line);
    }
    return true;
  }

  void look(const std::string& verb, const Words& words) {
    if (verb == "shape") {
      expect("the shape", show(graph.shape(output(words[0]))), words[1]);
    } else if (verb == "dtype") {
      expect("the dtype", dtype_name(TF_OperationOutputType(output(words[0]))), words[1]);
    } else if (verb == "op-info") {
      op_info(words);
    } else if (verb == "ops") {
      expect("the operations", names(graph.operations()), words.empty() ? "" : words[0]);
    } else if (verb == "input") {
      const auto of = output(words[0]);
      const auto got = TF_OperationInput({of.oper, of.index});
      expect("the input", TF_OperationName(got.oper) + (":" + std::to_string(got.index)),
             words[1]);
    } else if (verb == "consumers") {
      const auto of = output(words[0]);
      std::vector<TF_Input> inputs(size_t(TF_OperationOutputNumConsumers(of)));
      TF_OperationOutputConsumers(of, inputs.data(), int(inputs.size()));
      Words found;
      for (const auto& [op, index] : inputs)
        found.push_back(TF_OperationName(op) + (":" + std::to_string(index)));
      expect("the consumers", join(found), words.size() > 1 ? words[1] : "");
    } else if (verb == "list-length") {
      tl::Status status;
      const auto length = words[1] == "in" ? TF_OperationInputListLength
                                           : TF_OperationOutputListLength;
      const int got = length(operation(words[0]), words[2].c_str(), status);
      status.check();
      if (words.size() > 3) expect("the length", std::to_string(got), words[3]);
    } else if (verb == "contains") {
      contains(words);
    } else if (verb == "functions") {
      Words found;
      for (const auto& f : graph.functions()) found.push_back(f.name());
      std::sort(found.begin(), found.end());
      expect("the functions", join(found), words.empty() ? "" : words[0]);
    } else if (verb == "constant") {
      const auto got = graph.constant_value(output(words[0]));
      if (!got || words[1] == "none") expect("known", got ? "1" : "none", words[1]);
      else expect_tensor(words[0], *got, words[1]);
    } else {
      throw Lacking("no name for " + verb);
    }
  }

  void step(const std::string& verb, const Words& words) {
    if (verb == "op") op(words);
    else if (verb == "graph") graph = graphs.try_emplace(words[0]).first->second;
    else if (verb == "set-shape") graph.set_shape(output(words[0]), parse_shape(words[1]));
    else if (verb == "import") import(words);
    else if (verb == "import-bytes") graph.import(unescape(words[0]));
    else if (verb == "gradients") gradients(words);
    else if (verb == "function") function(words);
    else if (verb == "copy-function") graph.copy_function(functions.at(words[0]));
    else if (verb == "reread-function")
      functions.insert_or_assign(words[1], tl::Function(functions.at(words[0]).def()));
    else if (verb == "session") session.emplace(graph, option(words, "target"));
    else if (verb == "close") session->close();
    else if (verb == "load") {
      const char* directory = words[0][0] == '$' ? getenv(words[0].c_str() + 1) : words[0].c_str();
      session = tl::Session::load(directory, split(words[1], ','), graph);
    } else if (verb == "run") {
      const Run run = read_run(words);
      check(run, session->run(run.feeds, run.fetches, run.targets));
    } else if (verb == "partial-setup") {
      const Run run = read_run(words);
      partial = session->partial_run(run.fed, run.fetches, run.targets);
    } else if (verb == "partial-run") {
      const Run run = read_run(words);
      check(run, partial->run(run.feeds, run.fetches, run.targets));
    } else if (verb == "threads") {
      threads(words);
    } else if (verb == "devices") {
      const auto all = session->devices();
      if (std::none_of(all.begin(), all.end(), [&](auto& d) { return d.type == words[0]; }))
        throw Broken("no device of type " + words[0]);
    } else {
      look(verb, words);
    }
  }

  void take(const std::string& line) {
    std::istringstream stream(line);
    Words words{std::istream_iterator<std::string>(stream), {}};
    std::string expected = "OK", code = "OK", message;
    if (words[0] == "fails") {
      expected = words[1];
      words.erase(words.begin(), words.begin() + 2);
    }
    try {
      if (!loop_step(line, words)) step(words[0], {words.begin() + 1, words.end()});
    } catch (const tl::Error& error) {
      code = kCodes[error.code()];
      message = error.what();
    }
    if (code != expected) throw Broken(code + ", expected " + expected + ": " + message);
  }
};

static bool run_case(const std::string& header, const Words& steps) {
  std::istringstream stream(header);
  std::string word, name, only;
  stream >> word >> name >> only;
  const bool peer = getenv("CONFORMANCE_PEER") != nullptr;
  std::string problem;
  bool skipped = peer && !only.empty();
  try {
    World world;
    for (const auto& step : steps)
      if (!skipped) world.take(step);
  } catch (const Lacking& error) {
    skipped = true;
    problem = error.what();
  } catch (const std::exception& error) {
    problem = error.what();
    skipped = peer && problem.find("No gradient defined") != std::string::npos;
  }
  std::cout << (skipped ? "skip " : problem.empty() ? "ok " : "fail ") << name
            << (problem.empty() ? "" : ": " + problem) << std::endl;
  return skipped || problem.empty();
}

int main(int argc, char** argv) {
  bool passed = true;
  for (int i = 1; i < argc; i++) {
    std::ifstream table(argv[i]);
    std::string line, header;
    Words steps;
    while (std::getline(table, line)) {
      line.erase(0, line.find_first_not_of(' '));
      if (line.empty() || line[0] == '#') continue;
      if (line.rfind("case ", 0) == 0) {
        if (!header.empty()) passed = run_case(header, steps) && passed;
        header = line;
        steps.clear();
      } else {
        steps.push_back(line);
      }
    }
    passed = run_case(header, steps) && passed;
  }
  return passed ? 0 : 1;
}
