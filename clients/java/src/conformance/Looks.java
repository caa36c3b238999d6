package conformance;

import static conformance.Literals.expect;
import static conformance.Literals.list;

import conformance.Literals.Broken;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.tensorflow.Attrs;
import org.tensorflow.GraphFunction;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.TensorFlow;

/** The steps that look at graphs, and those of sessions. */
final class Looks {
  private final World world;
  private Session session;
  private Session.PartialRun partial;

  Looks(World world) {
    this.world = world;
  }

  private static String names(List<Operation> operations) {
    return operations.stream().map(Operation::name).collect(Collectors.joining(","));
  }

  private void opInfo(List<String> words) {
    Operation op = world.operation(words.get(0));
    Map<String, Supplier<Object>> looks =
        Map.of(
            "type", op::type,
            "device", op::device,
            "inputs", op::numInputs,
            "outputs", op::numOutputs,
            "controls", () -> names(op.controlInputs()),
            "followers", () -> names(op.controlOutputs()));
    looks.forEach(
        (key, look) -> {
          String expected = World.option(words, key);
          if (expected != null) {
            expect(key, look.get(), expected);
          }
        });
  }

  private void contains(List<String> words) {
    String name = words.get(1);
    byte[] data =
        switch (words.get(0)) {
          case "op-list" -> TensorFlow.registeredOpList();
          case "kernels" -> TensorFlow.registeredKernels(name);
          case "graph-def" -> world.graph.toGraphDef();
          case "node-def" -> world.operation(name).nodeDef();
          case "op-def" -> world.graph.opDef(name);
          case "function-def" -> world.functions.get(name).functionDef();
          default -> throw new Broken("no message " + words.get(0));
        };
    if (!Literals.text(data).contains(Literals.text(Literals.unescape(words.get(2))))) {
      throw new Broken("%s %s has no bytes %s".formatted(words.toArray()));
    }
  }

  private void metadata(List<String> words) {
    Attrs.Metadata got = world.operation(words.get(0)).attrMetadata(words.get(1));
    List<Object> shown =
        List.of(got.isList() ? 1 : 0, got.listSize(), got.type(), got.totalSize());
    for (int i = 0; i < shown.size(); i++) {
      if (!words.get(i + 2).equals("-")) {
        expect("the metadata", shown.get(i), words.get(i + 2));
      }
    }
  }

  private void listLength(List<String> words) {
    Operation op = world.operation(words.get(0));
    int got =
        words.get(1).equals("out")
            ? op.outputListLength(words.get(2))
            : op.inputListLength(words.get(2));
    if (words.size() > 3) {
      expect("the length", got, words.get(3));
    }
  }

  private void constant(List<String> words) {
    Tensor<?> got = world.graph.tryEvaluateConstant(world.output(words.get(0)));
    if (got == null || words.get(1).equals("none")) {
      expect("known", got != null, !words.get(1).equals("none"));
    } else {
      Literals.expectTensor(words.get(0), got, words.get(1));
    }
  }

  /** A step of a session and what it is expected to give. */
  private record Step(Session.Runner runner, List<String> names, List<String> expected) {
    void run() {
      List<Tensor<?>> results = runner.run();
      for (int i = 0; i < results.size(); i++) {
        try (Tensor<?> result = results.get(i)) {
          if (!expected.get(i).isEmpty()) {
            Literals.expectTensor(names.get(i), result, expected.get(i));
          }
        }
      }
    }
  }

  private Step read(Session.Runner runner, List<String> words) {
    Step step = new Step(runner, new ArrayList<>(), new ArrayList<>());
    for (String word : words) {
      int mark = word.indexOf('<') >= 0 ? word.indexOf('<') : word.indexOf('>');
      if (word.charAt(0) == '!') {
        runner.addTarget(world.operation(word.substring(1)));
        continue;
      }
      Output<?> output = world.output(word.substring(0, mark));
      String rest = word.substring(mark + 1);
      if (word.charAt(mark) == '<') {
        runner.feed(output, rest.isEmpty() ? null : Literals.tensor(rest));
      } else {
        runner.fetch(output);
        step.names.add(word.substring(0, mark));
        step.expected.add(rest);
      }
    }
    return step;
  }

  private void threads(List<String> words) {
    int count = Integer.parseInt(words.get(0));
    int repeats = Integer.parseInt(words.get(1));
    List<String> rest = words.subList(2, words.size());
    ExecutorService pool = Executors.newFixedThreadPool(count);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        all.add(
            pool.submit(
                () -> {
                  for (int j = 0; j < repeats; j++) {
                    read(session.runner(), rest).run();
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    } catch (ExecutionException error) {
      throw (RuntimeException) error.getCause();
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    } finally {
      pool.shutdown();
    }
  }

  private void load(List<String> words) {
    String directory = words.get(0).replace("$SAVED_MODEL", System.getenv("SAVED_MODEL"));
    SavedModelBundle model =
        SavedModelBundle.load(directory, list(words.get(1), ",").toArray(String[]::new));
    session = model.session();
    world.enter(model.graph());
    if (words.size() > 2 && !Literals.text(model.metaGraphDef()).contains(words.get(2))) {
      throw new Broken("the MetaGraphDef has no bytes " + words.get(2));
    }
  }

  private String operations() {
    List<Operation> found = new ArrayList<>();
    for (Iterator<Operation> all = world.graph.operations(); all.hasNext(); ) {
      found.add(all.next());
    }
    return names(found);
  }

  private static String at(Operation op, int index) {
    return op.name() + ":" + index;
  }

  void step(String verb, List<String> words) {
    String all = String.join(",", words);
    switch (verb) {
      case "shape" ->
          expect("the shape", Literals.show(world.output(words.get(0)).shape()), words.get(1));
      case "dtype" ->
          expect("the dtype", world.output(words.get(0)).dataType(), Literals.dtype(words.get(1)));
      case "op-info" -> opInfo(words);
      case "input" -> {
        Output<?> of = world.output(words.get(0));
        Output<?> got = of.op().input(of.index());
        expect("the input", at(got.op(), got.index()), words.get(1));
      }
      case "consumers" ->
          expect(
              "the consumers",
              world.output(words.get(0)).consumers().stream().map(c -> at(c.op(), c.index())).toList(),
              words.subList(1, words.size()).stream().flatMap(w -> list(w, ",").stream()).toList());
      case "list-length" -> listLength(words);
      case "ops" -> expect("the operations", operations(), all);
      case "functions" ->
          expect(
              "the functions",
              world.graph.functions().stream()
                  .map(GraphFunction::name).sorted().collect(Collectors.joining(",")),
              all);
      case "attr" -> {
        Object got = world.operation(words.get(0)).attr(words.get(1));
        if (words.size() > 2) {
          Literals.expectAttr(got, words.get(2));
        }
      }
      case "metadata" -> metadata(words);
      case "contains" -> contains(words);
      case "constant" -> constant(words);
      default -> sessionStep(verb, words);
    }
  }

  private void sessionStep(String verb, List<String> words) {
    switch (verb) {
      case "session" -> {
        String target = World.option(words, "target");
        session = new Session(world.graph, target == null ? "" : target, null);
      }
      case "close" -> session.close();
      case "load" -> load(words);
      case "run" -> read(session.runner(), words).run();
      case "partial-setup" -> partial = read(session.runner(), words).runner.partialRun();
      case "partial-run" -> read(partial.runner(), words).run();
      case "threads" -> threads(words);
      case "devices" -> {
        if (session.devices().stream()
            .noneMatch(d -> d.type().equals(words.get(0)) && d.name().contains("/device:"))) {
          throw new Broken("no device of type " + words.get(0));
        }
      }
      default -> throw new Broken("no step " + verb);
    }
  }
}
