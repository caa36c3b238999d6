package conformance;

import static conformance.Literals.expect;
import static conformance.Literals.list;

import conformance.Literals.Broken;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.GraphFunction;
import org.tensorflow.ImportOptions;
import org.tensorflow.ImportOptions.TensorName;
import org.tensorflow.Operation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.TensorFlowException;

/** What the steps of a case share, and those that build graphs. */
final class World {
  private static final List<String> CODES =
      List.of(
          "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
          "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
          "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
          "UNAUTHENTICATED");

  private static final String CLOSED = "close() has been called on the Session";

  /** A loop between its steps, which build it when all are known. */
  private static final class Loop {
    final String name;
    final Output<?>[] variables;
    final List<String> condition = new ArrayList<>();
    final List<String> body = new ArrayList<>();
    String end;

    Loop(String name, Output<?>[] variables) {
      this.name = name;
      this.variables = variables;
    }
  }

  Graph graph = new Graph();
  final Map<String, GraphFunction> functions = new HashMap<>();
  private final Map<String, Graph> graphs = new HashMap<>(Map.of("main", graph));
  private final Map<Graph, Map<String, Output<?>>> aliases = new HashMap<>();
  private final Looks looks = new Looks(this);
  private Loop loop;

  /** Takes one line: [fails CODE] VERB ARGUMENT... */
  void take(String line) {
    List<String> words = Arrays.asList(line.split(" +"));
    String expected = "OK";
    if (words.get(0).equals("fails")) {
      expected = words.get(1);
      words = words.subList(2, words.size());
    }
    String code = "OK";
    String message = "";
    try {
      if (!loopStep(line, words)) {
        step(words.get(0), words.subList(1, words.size()));
      }
    } catch (Broken error) {
      throw error;
    } catch (RuntimeException error) {
      Throwable source = error.getCause() == null ? error : error.getCause();
      if (source instanceof TensorFlowException of) {
        code = CODES.get(of.code());
      } else if (CLOSED.equals(error.getMessage())) {
        // What the library calls CANCELLED does not get as far as the library here.
        code = "CANCELLED";
      } else {
        throw error;
      }
      message = error.getMessage();
    }
    if (!code.equals(expected)) {
      throw new Broken("%s, expected %s: %s".formatted(code, expected, message));
    }
  }

  Operation operation(String name) {
    Operation found = graph.operation(name);
    if (found == null) {
      throw new Broken("the graph has no operation " + name);
    }
    return found;
  }

  List<Operation> operations(String names) {
    return list(names, ",").stream().map(this::operation).toList();
  }

  Output<?> output(String reference) {
    Output<?> alias = aliases.getOrDefault(graph, Map.of()).get(reference);
    TensorName name = tensorName(reference);
    return alias != null ? alias : operation(name.node()).output(name.index());
  }

  Output<?>[] outputs(String text) {
    return list(text, ",").stream().map(this::output).toArray(Output<?>[]::new);
  }

  private static TensorName tensorName(String reference) {
    int colon = reference.lastIndexOf(':');
    return colon < 0
        ? new TensorName(reference, 0)
        : new TensorName(
            reference.substring(0, colon), Integer.parseInt(reference.substring(colon + 1)));
  }

  void enter(Graph other) {
    graph = other;
  }

  private void alias(String name, Output<?>... outputs) {
    for (int i = 0; i < outputs.length; i++) {
      aliases.computeIfAbsent(graph, g -> new HashMap<>()).put(name + ":" + i, outputs[i]);
    }
  }

  /** The value of a word KEY=VALUE; null when there is none. */
  static String option(List<String> words, String key) {
    return words.stream()
        .filter(word -> word.startsWith(key + "="))
        .map(word -> word.substring(key.length() + 1))
        .findFirst()
        .orElse(null);
  }

  private static List<String> options(List<String> words, String key) {
    String found = option(words, key);
    return found == null ? List.of() : list(found, ",");
  }

  private void op(List<String> words) {
    OperationBuilder builder = graph.opBuilder(words.get(0), words.get(1));
    words.subList(2, words.size()).forEach(word -> part(builder, word));
    builder.build();
  }

  private void part(OperationBuilder builder, String word) {
    String rest = word.substring(1);
    int equals = word.indexOf('=');
    switch (word.charAt(0)) {
      case '[' -> builder.addInputList(outputs(rest.substring(0, rest.length() - 1)));
      case '^' -> builder.addControlInput(operation(rest));
      case '@' -> builder.setDevice(rest);
      case '~' -> builder.colocateWith(operation(rest));
      default -> {
        if (equals > 0) {
          builder.setAttr(word.substring(0, equals), Literals.attr(word.substring(equals + 1)));
        } else {
          builder.addInput(output(word));
        }
      }
    }
  }

  private void importGraph(List<String> words) {
    ImportOptions options = new ImportOptions();
    if (option(words, "prefix") != null) {
      options.prefix(option(words, "prefix"));
    }
    if (option(words, "device") != null) {
      options.defaultDevice(option(words, "device"));
    }
    if (option(words, "uniquify") != null) {
      options.uniquifyNames();
    }
    for (String pair : options(words, "map")) {
      String[] sides = pair.split(">");
      options.mapInput(tensorName(sides[0]), output(sides[1]));
    }
    for (String pair : options(words, "control-map")) {
      String[] sides = pair.split(">");
      options.mapControl(sides[0], operation(sides[1]));
    }
    options(words, "depend").forEach(name -> options.after(operation(name)));
    options(words, "return").forEach(name -> options.returnOutput(tensorName(name)));
    options(words, "return-ops").forEach(options::returnOperation);
    ImportOptions.Results results =
        graph.importGraphDef(graphs.get(words.get(0)).toGraphDef(), options);
    List<Output<?>> outputs = new ArrayList<>(results.outputs());
    results.operations().forEach(op -> outputs.add(op.output(0)));
    if (option(words, "alias") != null) {
      alias(option(words, "alias"), outputs.toArray(Output<?>[]::new));
    }
    List<String> unused =
        results.unusedInputMappings().stream().map(n -> n.node() + ":" + n.index()).toList();
    expect("the unused mappings", unused, options(words, "missing"));
  }

  private void function(List<String> words) {
    String body = option(words, "ops");
    functions.put(
        words.get(0),
        GraphFunction.of(
            graph,
            words.get(0),
            body == null ? null : operations(body),
            options(words, "inputs").stream().<Output<?>>map(this::output).toList(),
            options(words, "outputs").stream().<Output<?>>map(this::output).toList(),
            options(words, "names")));
  }

  private void gradients(List<String> words) {
    boolean given = words.size() > 3 && !words.get(3).contains("=");
    alias(
        words.get(0),
        graph.addGradients(
            option(words, "prefix"),
            outputs(words.get(1)),
            outputs(words.get(2)),
            given ? outputs(words.get(3)) : null));
  }

  private boolean loopStep(String line, List<String> words) {
    String verb = words.get(0);
    if (verb.equals("while")) {
      loop = new Loop(words.get(1), outputs(words.get(2)));
    } else if (loop == null) {
      return false;
    } else if (verb.equals("while-body")) {
      finishLoop(words.get(1));
    } else if (verb.equals("while-abort")) {
      abortLoop();
    } else if (verb.equals("while-cond")) {
      loop.end = words.get(1);
    } else {
      (loop.end == null ? loop.condition : loop.body).add(line);
    }
    return true;
  }

  private void abortLoop() {
    Loop made = loop;
    loop = null;
    try {
      graph.whileLoop(
          made.variables,
          (g, in, out) -> {
            throw new UnsupportedOperationException("stop");
          },
          null,
          made.name);
    } catch (UnsupportedOperationException stop) {
      expect("the loop's error", stop.getMessage(), "stop");
      return;
    }
    throw new Broken("the loop was built");
  }

  private void finishLoop(String end) {
    Loop made = loop;
    loop = null;
    Graph outer = graph;
    try {
      Output<?>[] results =
          outer.whileLoop(
              made.variables, part(made.condition, made.end), part(made.body, end), made.name);
      graph = outer;
      alias(made.name, results);
    } finally {
      graph = outer;
    }
  }

  private Graph.WhileSubgraphBuilder part(List<String> steps, String ends) {
    return (g, inputs, outputs) -> {
      graph = g;
      alias("in", inputs);
      steps.forEach(this::take);
      Output<?>[] found = outputs(ends);
      System.arraycopy(found, 0, outputs, 0, found.length);
    };
  }

  private void step(String verb, List<String> words) {
    switch (verb) {
      case "op" -> op(words);
      case "graph" -> graph = graphs.computeIfAbsent(words.get(0), name -> new Graph());
      case "set-shape" -> graph.setShape(output(words.get(0)), Literals.shape(words.get(1)));
      case "import" -> importGraph(words);
      case "import-bytes" -> graph.importGraphDef(Literals.unescape(words.get(0)));
      case "gradients" -> gradients(words);
      case "function" -> function(words);
      case "copy-function" -> graph.copyFunction(functions.get(words.get(0)));
      case "reread-function" ->
          functions.put(
              words.get(1), GraphFunction.read(functions.get(words.get(0)).functionDef()));
      default -> looks.step(verb, words);
    }
  }
}
