package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/** Describes an operation, which {@link #build} adds to the graph. */
public final class OperationBuilder {
  private final Graph graph;
  private Pointer description;
  // Thrown when the operation is built, which alone deletes the description.
  private RuntimeException problem;

  OperationBuilder(Graph graph, String type, String name) {
    this.graph = graph;
    this.description = LIB.TF_NewOperation(graph.handle(), type, name);
  }

  /** Adds the operation, or none when there is an error. */
  public Operation build() {
    Pointer built = description();
    description = null;
    Pointer op;
    try {
      op = Status.call(s -> LIB.TF_FinishOperation(built, s));
    } catch (RuntimeException error) {
      throw problem != null ? problem : error;
    }
    if (problem != null) {
      throw problem;
    }
    return new Operation(graph, op);
  }

  public OperationBuilder addInput(Output<?> input) {
    LIB.TF_AddInput(description(), input.port());
    return this;
  }

  public OperationBuilder addInputList(Output<?>[] inputs) {
    LIB.TF_AddInputList(description(), Output.pack(Arrays.asList(inputs)), inputs.length);
    return this;
  }

  public OperationBuilder addControlInput(Operation control) {
    LIB.TF_AddControlInput(description(), control.handle());
    return this;
  }

  public OperationBuilder setDevice(String device) {
    LIB.TF_SetDevice(description(), device);
    return this;
  }

  /** Places the operation where another one is. */
  public OperationBuilder colocateWith(Operation operation) {
    LIB.TF_ColocateWith(description(), operation.handle());
    return this;
  }

  public OperationBuilder setAttr(String name, String value) {
    return setAttr(name, value.getBytes(StandardCharsets.UTF_8));
  }

  public OperationBuilder setAttr(String name, byte[] value) {
    LIB.TF_SetAttrString(description(), name, value, value.length);
    return this;
  }

  public OperationBuilder setAttr(String name, String[] values) {
    byte[][] bytes = new byte[values.length][];
    Arrays.setAll(bytes, i -> values[i].getBytes(StandardCharsets.UTF_8));
    return setAttr(name, bytes);
  }

  public OperationBuilder setAttr(String name, byte[][] values) {
    Pointer[] texts = Arrays.stream(values).map(Status::memory).toArray(Pointer[]::new);
    long[] lengths = Arrays.stream(values).mapToLong(value -> value.length).toArray();
    LIB.TF_SetAttrStringList(description(), name, texts, lengths, values.length);
    Reference.reachabilityFence(texts);
    return this;
  }

  public OperationBuilder setAttr(String name, long value) {
    LIB.TF_SetAttrInt(description(), name, value);
    return this;
  }

  public OperationBuilder setAttr(String name, long[] values) {
    LIB.TF_SetAttrIntList(description(), name, values, values.length);
    return this;
  }

  public OperationBuilder setAttr(String name, float value) {
    LIB.TF_SetAttrFloat(description(), name, value);
    return this;
  }

  public OperationBuilder setAttr(String name, float[] values) {
    LIB.TF_SetAttrFloatList(description(), name, values, values.length);
    return this;
  }

  public OperationBuilder setAttr(String name, boolean value) {
    LIB.TF_SetAttrBool(description(), name, (byte) (value ? 1 : 0));
    return this;
  }

  public OperationBuilder setAttr(String name, boolean[] values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) (values[i] ? 1 : 0);
    }
    LIB.TF_SetAttrBoolList(description(), name, bytes, bytes.length);
    return this;
  }

  public OperationBuilder setAttr(String name, DataType value) {
    LIB.TF_SetAttrType(description(), name, value.number());
    return this;
  }

  public OperationBuilder setAttr(String name, DataType[] values) {
    int[] numbers = Arrays.stream(values).mapToInt(DataType::number).toArray();
    LIB.TF_SetAttrTypeList(description(), name, numbers, numbers.length);
    return this;
  }

  public OperationBuilder setAttr(String name, Tensor<?> value) {
    attempt(s -> LIB.TF_SetAttrTensor(description(), name, value.handle(), s));
    Reference.reachabilityFence(value);
    return this;
  }

  public OperationBuilder setAttr(String name, Tensor<?>[] values) {
    Pointer[] handles = Arrays.stream(values).map(Tensor::handle).toArray(Pointer[]::new);
    attempt(s -> LIB.TF_SetAttrTensorList(description(), name, handles, handles.length, s));
    Reference.reachabilityFence(values);
    return this;
  }

  public OperationBuilder setAttr(String name, Shape value) {
    LIB.TF_SetAttrShape(description(), name, value.sizes(), value.numDimensions());
    return this;
  }

  public OperationBuilder setAttr(String name, Shape[] values) {
    Pointer[] dims = new Pointer[values.length];
    for (int i = 0; i < values.length; i++) {
      long[] sizes = values[i].sizes();
      dims[i] = new Memory(8 * Math.max(1L, sizes.length));
      dims[i].write(0, sizes, 0, sizes.length);
    }
    int[] ranks = Arrays.stream(values).mapToInt(Shape::numDimensions).toArray();
    LIB.TF_SetAttrShapeList(description(), name, dims, ranks, values.length);
    Reference.reachabilityFence(dims);
    return this;
  }

  public OperationBuilder setAttr(String name, Attrs.Func value) {
    byte[] bytes = value.name().getBytes(StandardCharsets.UTF_8);
    LIB.TF_SetAttrFuncName(description(), name, bytes, bytes.length);
    return this;
  }

  public OperationBuilder setAttr(String name, Attrs.Proto value) {
    byte[] data = value.data();
    attempt(s -> LIB.TF_SetAttrValueProto(description(), name, data, data.length, s));
    return this;
  }

  /** Sets a value of any class that the other methods take; of int, double and Class too. */
  public OperationBuilder setAttr(String name, Object value) {
    if (value instanceof Float || value instanceof Double) {
      return setAttr(name, ((Number) value).floatValue());
    } else if (value instanceof Number number) {
      return setAttr(name, number.longValue());
    } else if (value instanceof Boolean flag) {
      return setAttr(name, flag.booleanValue());
    } else if (value instanceof String text) {
      return setAttr(name, text);
    } else if (value instanceof byte[] bytes) {
      return setAttr(name, bytes);
    } else if (value instanceof DataType type) {
      return setAttr(name, type);
    } else if (value instanceof Class<?> type) {
      return setAttr(name, DataType.fromClass(type));
    } else if (value instanceof Shape shape) {
      return setAttr(name, shape);
    } else if (value instanceof Tensor<?> tensor) {
      return setAttr(name, tensor);
    } else if (value instanceof Attrs.Func function) {
      return setAttr(name, function);
    } else if (value instanceof Attrs.Proto proto) {
      return setAttr(name, proto);
    }
    return setList(name, value);
  }

  private OperationBuilder setList(String name, Object value) {
    if (value instanceof long[] list) {
      return setAttr(name, list);
    } else if (value instanceof float[] list) {
      return setAttr(name, list);
    } else if (value instanceof boolean[] list) {
      return setAttr(name, list);
    } else if (value instanceof String[] list) {
      return setAttr(name, list);
    } else if (value instanceof byte[][] list) {
      return setAttr(name, list);
    } else if (value instanceof DataType[] list) {
      return setAttr(name, list);
    } else if (value instanceof Shape[] list) {
      return setAttr(name, list);
    } else if (value instanceof Tensor<?>[] list) {
      return setAttr(name, list);
    } else if (value instanceof Attrs.Func[] list) {
      return setAttr(name, Attrs.functions(list));
    }
    problem =
        new IllegalArgumentException(
            "attribute %s: no attribute has a value of %s"
                .formatted(name, value.getClass().getName()));
    return this;
  }

  private void attempt(Consumer<Pointer> call) {
    try {
      Status.run(call);
    } catch (RuntimeException error) {
      problem = problem == null ? error : problem;
    }
  }

  private Pointer description() {
    if (description == null) {
      throw new IllegalStateException("the operation is built");
    }
    return description;
  }
}
