package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;

/** An output of an operation: a tensor in each step. */
public record Output<T>(Operation op, int index) implements Operand<T> {
  /** An input of an operation that takes an output. */
  public record Consumer(Operation op, int index) {}

  static final int PORT_SIZE = 16;

  /** The shape that is known while the graph is built. */
  public Shape shape() {
    Pointer graph = op.graph().handle();
    int rank = Status.call(s -> LIB.TF_GraphGetTensorNumDims(graph, port(), s));
    if (rank < 0) {
      return Shape.unknown();
    }
    long[] dims = new long[rank];
    Status.run(s -> LIB.TF_GraphGetTensorShape(graph, port(), dims, rank, s));
    return Shape.of(dims);
  }

  public DataType dataType() {
    return DataType.of(LIB.TF_OperationOutputType(port()));
  }

  /** The inputs that take this. */
  public List<Consumer> consumers() {
    int count = LIB.TF_OperationOutputNumConsumers(port());
    Memory found = new Memory(PORT_SIZE * (count + 1L));
    LIB.TF_OperationOutputConsumers(port(), found, count);
    List<Consumer> consumers = new ArrayList<>();
    for (Output<?> each : unpack(op.graph(), found, count)) {
      consumers.add(new Consumer(each.op, each.index));
    }
    return consumers;
  }

  @Override
  public Output<T> asOutput() {
    return this;
  }

  CApi.Port.ByValue port() {
    CApi.Port.ByValue port = new CApi.Port.ByValue();
    port.oper = op.handle();
    port.index = index;
    return port;
  }

  /** An array of TF_Output; its memory has room for one, if there are none. */
  static Memory pack(List<? extends Operand<?>> outputs) {
    Memory memory = new Memory(PORT_SIZE * Math.max(1L, outputs.size()));
    memory.clear();
    for (int i = 0; i < outputs.size(); i++) {
      outputs.get(i).asOutput().write(memory, PORT_SIZE * (long) i);
    }
    return memory;
  }

  void write(Pointer memory, long offset) {
    memory.setPointer(offset, op.handle());
    memory.setInt(offset + 8, index);
  }

  static List<Output<?>> unpack(Graph graph, Pointer memory, int count) {
    List<Output<?>> outputs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long offset = PORT_SIZE * (long) i;
      Operation op = new Operation(graph, memory.getPointer(offset));
      outputs.add(new Output<>(op, memory.getInt(offset + 8)));
    }
    return outputs;
  }
}
