package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** How a GraphDef becomes part of a graph. */
public final class ImportOptions {
  /** An output of the GraphDef. */
  public record TensorName(String node, int index) {}

  /** What was asked for; the unused mappings name no output of the GraphDef. */
  public record Results(
      List<Output<?>> outputs, List<Operation> operations, List<TensorName> unusedInputMappings) {}

  private final List<Consumer<Pointer>> settings = new ArrayList<>();

  private ImportOptions add(Consumer<Pointer> setting) {
    settings.add(setting);
    return this;
  }

  /** Stands before the names of the nodes, with a slash. */
  public ImportOptions prefix(String prefix) {
    return add(c -> LIB.TF_ImportGraphDefOptionsSetPrefix(c, prefix));
  }

  /** Is the device of nodes that have none. */
  public ImportOptions defaultDevice(String device) {
    return add(c -> LIB.TF_ImportGraphDefOptionsSetDefaultDevice(c, device));
  }

  /** Gives a new name to a node whose name the graph has. */
  public ImportOptions uniquifyNames() {
    return add(c -> LIB.TF_ImportGraphDefOptionsSetUniquifyNames(c, (byte) 1));
  }

  /** Takes an output of the graph for one of the GraphDef. */
  public ImportOptions mapInput(TensorName from, Output<?> to) {
    return add(
        c -> LIB.TF_ImportGraphDefOptionsAddInputMapping(c, from.node, from.index, to.port()));
  }

  /** Takes an operation of the graph for a control input of the GraphDef. */
  public ImportOptions mapControl(String from, Operation to) {
    return add(c -> LIB.TF_ImportGraphDefOptionsRemapControlDependency(c, from, to.handle()));
  }

  /** Runs what is added after an operation of the graph. */
  public ImportOptions after(Operation operation) {
    return add(c -> LIB.TF_ImportGraphDefOptionsAddControlDependency(c, operation.handle()));
  }

  /** Asks for an output among the results. */
  public ImportOptions returnOutput(TensorName name) {
    return add(c -> LIB.TF_ImportGraphDefOptionsAddReturnOutput(c, name.node, name.index));
  }

  /** Asks for an operation among the results. */
  public ImportOptions returnOperation(String name) {
    return add(c -> LIB.TF_ImportGraphDefOptionsAddReturnOperation(c, name));
  }

  Results apply(Graph graph, byte[] graphDef) {
    Pointer options = LIB.TF_NewImportGraphDefOptions();
    Pointer def = LIB.TF_NewBufferFromString(graphDef, graphDef.length);
    try {
      settings.forEach(setting -> setting.accept(options));
      Pointer results =
          Status.call(
              s -> LIB.TF_GraphImportGraphDefWithResults(graph.handle(), def, options, s));
      try {
        return read(graph, results);
      } finally {
        LIB.TF_DeleteImportGraphDefResults(results);
      }
    } finally {
      LIB.TF_DeleteBuffer(def);
      LIB.TF_DeleteImportGraphDefOptions(options);
    }
  }

  private static Results read(Graph graph, Pointer results) {
    IntByReference count = new IntByReference();
    PointerByReference found = new PointerByReference();
    PointerByReference indices = new PointerByReference();
    LIB.TF_ImportGraphDefResultsReturnOutputs(results, count, found);
    List<Output<?>> outputs = Output.unpack(graph, found.getValue(), count.getValue());
    List<Operation> operations = new ArrayList<>();
    LIB.TF_ImportGraphDefResultsReturnOperations(results, count, found);
    for (int i = 0; i < count.getValue(); i++) {
      operations.add(new Operation(graph, found.getValue().getPointer(8L * i)));
    }
    List<TensorName> unused = new ArrayList<>();
    LIB.TF_ImportGraphDefResultsMissingUnusedInputMappings(results, count, found, indices);
    for (int i = 0; i < count.getValue(); i++) {
      String node = found.getValue().getPointer(8L * i).getString(0, "UTF-8");
      unused.add(new TensorName(node, indices.getValue().getInt(4L * i)));
    }
    return new Results(outputs, operations, unused);
  }
}
