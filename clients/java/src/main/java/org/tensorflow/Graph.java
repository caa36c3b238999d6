package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/** A graph of operations. Sessions of it go on after it is closed. */
public final class Graph implements AutoCloseable {
  /** Builds the condition or the body of a loop: sets the outputs, which take the inputs. */
  public interface WhileSubgraphBuilder {
    void buildSubgraph(Graph g, Output<?>[] inputs, Output<?>[] outputs);
  }

  private final Handle handle;

  public Graph() {
    this(new Handle("Graph", LIB.TF_NewGraph(), LIB::TF_DeleteGraph));
  }

  private Graph(Handle handle) {
    this.handle = handle;
  }

  @Override
  public void close() {
    handle.close();
  }

  /** An operation by its name; null when there is none. */
  public Operation operation(String name) {
    Pointer found = LIB.TF_GraphOperationByName(handle(), name);
    return found == null ? null : new Operation(this, found);
  }

  /** The operations in the order in which they were added. */
  public Iterator<Operation> operations() {
    List<Operation> found = new ArrayList<>();
    LongByReference position = new LongByReference(0);
    for (Pointer op; (op = LIB.TF_GraphNextOperation(handle(), position)) != null; ) {
      found.add(new Operation(this, op));
    }
    return found.iterator();
  }

  public OperationBuilder opBuilder(String type, String name) {
    return new OperationBuilder(this, type, name);
  }

  /** Adds the nodes of a serialized GraphDef, or none on an error. */
  public void importGraphDef(byte[] graphDef) {
    importGraphDef(graphDef, "");
  }

  public void importGraphDef(byte[] graphDef, String prefix) {
    importGraphDef(graphDef, new ImportOptions().prefix(prefix));
  }

  public ImportOptions.Results importGraphDef(byte[] graphDef, ImportOptions options) {
    return options.apply(this, graphDef);
  }

  /** The serialized GraphDef. */
  public byte[] toGraphDef() {
    return Status.bytes((buffer, s) -> LIB.TF_GraphToGraphDef(handle(), buffer, s));
  }

  /** The serialized definition of an operation as the graph knows it. */
  public byte[] opDef(String type) {
    return Status.bytes((buffer, s) -> LIB.TF_GraphGetOpDef(handle(), type, buffer, s));
  }

  /** Adds to what is known of an output's shape. */
  public void setShape(Output<?> output, Shape shape) {
    int rank = shape.numDimensions();
    Status.run(s -> LIB.TF_GraphSetTensorShape(handle(), output.port(), shape.sizes(), rank, s));
  }

  /** The value of an output that no session is needed for; null when it is not known. */
  public Tensor<?> tryEvaluateConstant(Output<?> output) {
    PointerByReference found = new PointerByReference();
    byte known = Status.call(s -> LIB.TF_TryEvaluateConstant(handle(), output.port(), found, s));
    return known == 0 ? null : new Tensor<>(found.getValue());
  }

  /**
   * Adds operations that compute the derivatives of the sum of the ys by each x.
   *
   * @param prefix of the names of the operations; null for one that is free
   * @param dx the derivatives of a loss by each y; ones when it is null
   */
  public Output<?>[] addGradients(String prefix, Output<?>[] y, Output<?>[] x, Output<?>[] dx) {
    if (dx != null && dx.length > 0 && dx.length != y.length) {
      throw new IllegalArgumentException(
          "%d derivatives given for %d ys".formatted(dx.length, y.length));
    }
    Memory ys = Output.pack(Arrays.asList(y));
    Memory xs = Output.pack(Arrays.asList(x));
    Memory dxs = dx == null || dx.length == 0 ? null : Output.pack(Arrays.asList(dx));
    Memory results = new Memory(Output.PORT_SIZE * Math.max(1L, x.length));
    Status.run(
        s ->
            LIB.TF_AddGradientsWithPrefix(
                handle(), prefix, ys, y.length, xs, x.length, dxs, s, results));
    return Output.unpack(this, results, x.length).toArray(Output<?>[]::new);
  }

  public Output<?>[] addGradients(Output<?> y, Output<?>[] x) {
    return addGradients(null, new Output<?>[] {y}, x, null);
  }

  /**
   * Adds a loop: as long as the one output of the condition is true, the body gives the variables
   * their next values.
   *
   * @return the last values
   */
  public Output<?>[] whileLoop(
      Output<?>[] inputs, WhileSubgraphBuilder condition, WhileSubgraphBuilder body, String name) {
    int count = inputs.length;
    // The library reads the inputs once more when the loop is finished.
    Memory packed = Output.pack(Arrays.asList(inputs));
    Memory results = new Memory(Output.PORT_SIZE * Math.max(1L, count));
    CApi.WhileParams loop = Status.call(s -> LIB.TF_NewWhile(handle(), packed, count, s));
    Memory text = Status.memory(name.getBytes(StandardCharsets.UTF_8));
    loop.name = text;
    loop.write();
    try {
      Output<?> cond = build(loop.condGraph, loop.condInputs, count, 1, condition)[0];
      loop.condOutput.oper = cond.op().handle();
      loop.condOutput.index = cond.index();
      loop.write();
      Output<?>[] ends = build(loop.bodyGraph, loop.bodyInputs, count, count, body);
      for (int i = 0; i < count; i++) {
        ends[i].write(loop.bodyOutputs, Output.PORT_SIZE * (long) i);
      }
    } catch (RuntimeException error) {
      LIB.TF_AbortWhile(loop.getPointer());
      throw error;
    }
    Status.run(s -> LIB.TF_FinishWhile(loop.getPointer(), s, results));
    Reference.reachabilityFence(text);
    Reference.reachabilityFence(packed);
    return Output.unpack(this, results, count).toArray(Output<?>[]::new);
  }

  private static Output<?>[] build(
      Pointer graph, Pointer inputs, int count, int outputCount, WhileSubgraphBuilder builder) {
    // The loop owns its graphs.
    Graph inner = new Graph(new Handle("Graph", graph, pointer -> {}));
    Output<?>[] outputs = new Output<?>[outputCount];
    Output<?>[] variables = Output.unpack(inner, inputs, count).toArray(Output<?>[]::new);
    builder.buildSubgraph(inner, variables, outputs);
    for (Output<?> output : outputs) {
      if (output == null) {
        throw new IllegalArgumentException("a part of the loop has not set all of its outputs");
      }
    }
    return outputs;
  }

  /** Makes a function known to the graph, so that operations can call it. */
  public void copyFunction(GraphFunction function) {
    Status.run(s -> LIB.TF_GraphCopyFunction(handle(), function.handle(), null, s));
  }

  /** The functions that the graph knows. */
  public List<GraphFunction> functions() {
    Pointer[] found = new Pointer[LIB.TF_GraphNumFunctions(handle())];
    int count = Status.call(s -> LIB.TF_GraphGetFunctions(handle(), found, found.length, s));
    return Arrays.stream(found).limit(count).map(GraphFunction::new).toList();
  }

  Pointer handle() {
    return handle.get();
  }
}
