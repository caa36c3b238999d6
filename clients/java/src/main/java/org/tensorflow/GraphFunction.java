package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.List;

/** A graph that operations of other graphs call by its name. */
public final class GraphFunction implements AutoCloseable {
  private final Handle handle;

  GraphFunction(Pointer pointer) {
    handle = new Handle("GraphFunction", pointer, LIB::TF_DeleteFunction);
  }

  /**
   * Makes a function of operations of a graph.
   *
   * @param body the operations; all of the graph when it is null
   * @param outputNames may be empty
   */
  public static GraphFunction of(
      Graph graph, String name, List<Operation> body, List<Output<?>> inputs, List<Output<?>> outputs,
      List<String> outputNames) {
    Pointer[] operations = body == null ? null : Operation.handles(body);
    int count = body == null ? -1 : operations.length;
    String[] names = outputNames.isEmpty() ? null : outputNames.toArray(String[]::new);
    Memory in = Output.pack(inputs);
    Memory out = Output.pack(outputs);
    return new GraphFunction(
        Status.call(
            s ->
                LIB.TF_GraphToFunction(
                    graph.handle(), name, (byte) 0, count, operations, inputs.size(), in,
                    outputs.size(), out, names, null, null, s)));
  }

  /** Makes a function of a serialized FunctionDef. */
  public static GraphFunction read(byte[] functionDef) {
    return new GraphFunction(
        Status.call(s -> LIB.TF_FunctionImportFunctionDef(functionDef, functionDef.length, s)));
  }

  public String name() {
    return LIB.TF_FunctionName(handle());
  }

  /** The serialized FunctionDef. */
  public byte[] functionDef() {
    return Status.bytes((buffer, s) -> LIB.TF_FunctionToFunctionDef(handle(), buffer, s));
  }

  @Override
  public void close() {
    handle.close();
  }

  Pointer handle() {
    return handle.get();
  }
}
