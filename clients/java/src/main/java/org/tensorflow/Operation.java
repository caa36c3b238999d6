package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A node of a graph, for as long as the graph is open. */
public final class Operation {
  private final Graph graph;
  private final Pointer handle;

  Operation(Graph graph, Pointer handle) {
    this.graph = graph;
    this.handle = handle;
  }

  /** The name, which is unique in the graph. */
  public String name() {
    return LIB.TF_OperationName(handle());
  }

  /** The name of the operation's definition, such as "MatMul". */
  public String type() {
    return LIB.TF_OperationOpType(handle());
  }

  /** The device that was asked for; empty when none was. */
  public String device() {
    return LIB.TF_OperationDevice(handle());
  }

  /** The number of outputs, each of a list counted. */
  public int numOutputs() {
    return LIB.TF_OperationNumOutputs(handle());
  }

  /** The number of inputs, each of a list counted. */
  public int numInputs() {
    return LIB.TF_OperationNumInputs(handle());
  }

  /** The length of an output by its name in the definition. */
  public int outputListLength(String name) {
    return Status.call(s -> LIB.TF_OperationOutputListLength(handle(), name, s));
  }

  /** The length of an input by its name in the definition. */
  public int inputListLength(String name) {
    return Status.call(s -> LIB.TF_OperationInputListLength(handle(), name, s));
  }

  public <T> Output<T> output(int index) {
    return new Output<>(this, index);
  }

  /** Outputs that follow each other. */
  public Output<?>[] outputList(int start, int length) {
    Output<?>[] list = new Output<?>[length];
    Arrays.setAll(list, i -> output(start + i));
    return list;
  }

  /** The output that feeds an input. */
  public Output<?> input(int index) {
    CApi.Port found = LIB.TF_OperationInput(new Output<>(this, index).port());
    return new Operation(graph, found.oper).output(found.index);
  }

  /** The operations that run before this one. */
  public List<Operation> controlInputs() {
    Pointer[] found = new Pointer[LIB.TF_OperationNumControlInputs(handle())];
    return wrap(found, LIB.TF_OperationGetControlInputs(handle(), found, found.length));
  }

  /** The operations that wait for this one. */
  public List<Operation> controlOutputs() {
    Pointer[] found = new Pointer[LIB.TF_OperationNumControlOutputs(handle())];
    return wrap(found, LIB.TF_OperationGetControlOutputs(handle(), found, found.length));
  }

  /** The serialized NodeDef. */
  public byte[] nodeDef() {
    return Status.bytes((buffer, s) -> LIB.TF_OperationToNodeDef(handle(), buffer, s));
  }

  /** The value of an attribute; see {@link Attrs}. */
  public Object attr(String name) {
    return Attrs.get(this, name);
  }

  /** How large the value of an attribute is. */
  public Attrs.Metadata attrMetadata(String name) {
    return Attrs.metadata(this, name);
  }

  public Graph graph() {
    return graph;
  }

  private List<Operation> wrap(Pointer[] found, int count) {
    List<Operation> operations = new ArrayList<>();
    for (Pointer each : Arrays.copyOf(found, count)) {
      operations.add(new Operation(graph, each));
    }
    return operations;
  }

  static Pointer[] handles(List<Operation> operations) {
    return operations.stream().map(Operation::handle).toArray(Pointer[]::new);
  }

  /** The object; IllegalStateException when the graph is closed. */
  Pointer handle() {
    graph.handle();
    return handle;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Operation op && op.handle.equals(handle);
  }

  @Override
  public int hashCode() {
    return handle.hashCode();
  }

  @Override
  public String toString() {
    return "<%s '%s'>".formatted(type(), name());
  }
}
