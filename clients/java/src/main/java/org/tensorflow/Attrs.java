package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The values of an operation's attributes.
 *
 * <p>A value is a Long, Float, Boolean, byte[] (a string), DataType, Shape or Tensor, an array of
 * one of these as long[] or byte[][], or a serialized AttrValue as {@link Proto}.
 */
public final class Attrs {
  /** A serialized AttrValue, of kinds that Java has no type for. */
  public record Proto(byte[] data) {}

  /** The name of a function of the graph. */
  public record Func(String name) {}

  /** What TF_AttrMetadata has; a type is a number of TF_AttrType. */
  public record Metadata(boolean isList, long listSize, int type, long totalSize) {}

  private static final int STRING = 0;
  private static final int INT = 1;
  private static final int FLOAT = 2;
  private static final int BOOL = 3;
  private static final int TYPE = 4;
  private static final int SHAPE = 5;
  private static final int TENSOR = 6;

  private Attrs() {}

  static Metadata metadata(Operation op, String name) {
    CApi.AttrMetadata c = Status.call(s -> LIB.TF_OperationGetAttrMetadata(op.handle(), name, s));
    return new Metadata(c.isList != 0, c.listSize, c.type, c.totalSize);
  }

  static Object get(Operation op, String name) {
    Metadata about = metadata(op, name);
    return Status.call(
        s -> about.isList ? list(op, name, about, s) : single(op, name, about, s));
  }

  private static Object single(Operation operation, String name, Metadata about, Pointer s) {
    Pointer op = operation.handle();
    int size = (int) Math.max(about.totalSize, 0);
    switch (about.type) {
      case STRING -> {
        Memory value = new Memory(size + 1);
        LIB.TF_OperationGetAttrString(op, name, value, size, s);
        return value.getByteArray(0, size);
      }
      case INT -> {
        long[] value = new long[1];
        LIB.TF_OperationGetAttrInt(op, name, value, s);
        return value[0];
      }
      case FLOAT -> {
        float[] value = new float[1];
        LIB.TF_OperationGetAttrFloat(op, name, value, s);
        return value[0];
      }
      case BOOL -> {
        byte[] value = new byte[1];
        LIB.TF_OperationGetAttrBool(op, name, value, s);
        return value[0] != 0;
      }
      case TYPE -> {
        int[] value = new int[1];
        LIB.TF_OperationGetAttrType(op, name, value, s);
        return DataType.of(value[0]);
      }
      case SHAPE -> {
        if (about.totalSize < 0) {
          return Shape.unknown();
        }
        long[] dims = new long[size];
        LIB.TF_OperationGetAttrShape(op, name, dims, size, s);
        return Shape.of(dims);
      }
      case TENSOR -> {
        Pointer[] value = new Pointer[1];
        LIB.TF_OperationGetAttrTensor(op, name, value, s);
        return new Tensor<>(value[0]);
      }
      default -> {
        return proto(operation, name);
      }
    }
  }

  private static Object list(Operation operation, String name, Metadata about, Pointer s) {
    Pointer op = operation.handle();
    int count = (int) about.listSize;
    switch (about.type) {
      case INT -> {
        long[] values = new long[count];
        LIB.TF_OperationGetAttrIntList(op, name, values, count, s);
        return values;
      }
      case FLOAT -> {
        float[] values = new float[count];
        LIB.TF_OperationGetAttrFloatList(op, name, values, count, s);
        return values;
      }
      case BOOL -> {
        byte[] values = new byte[count];
        boolean[] result = new boolean[count];
        LIB.TF_OperationGetAttrBoolList(op, name, values, count, s);
        for (int i = 0; i < count; i++) {
          result[i] = values[i] != 0;
        }
        return result;
      }
      case TYPE -> {
        int[] values = new int[count];
        DataType[] result = new DataType[count];
        LIB.TF_OperationGetAttrTypeList(op, name, values, count, s);
        for (int i = 0; i < count; i++) {
          result[i] = DataType.of(values[i]);
        }
        return result;
      }
      case STRING -> {
        return strings(op, name, about, s);
      }
      case SHAPE -> {
        return shapes(op, name, about, s);
      }
      case TENSOR -> {
        Pointer[] values = new Pointer[count];
        Tensor<?>[] result = new Tensor<?>[count];
        LIB.TF_OperationGetAttrTensorList(op, name, values, count, s);
        for (int i = 0; i < count; i++) {
          result[i] = new Tensor<>(values[i]);
        }
        return result;
      }
      default -> {
        return proto(operation, name);
      }
    }
  }

  private static byte[][] strings(Pointer op, String name, Metadata about, Pointer s) {
    int count = (int) about.listSize;
    Memory storage = new Memory(about.totalSize + 1);
    Pointer[] values = new Pointer[count];
    long[] lengths = new long[count];
    LIB.TF_OperationGetAttrStringList(op, name, values, lengths, count, storage, about.totalSize, s);
    byte[][] result = new byte[count][];
    for (int i = 0; i < count; i++) {
      result[i] = lengths[i] == 0 ? new byte[0] : values[i].getByteArray(0, (int) lengths[i]);
    }
    return result;
  }

  private static Shape[] shapes(Pointer op, String name, Metadata about, Pointer s) {
    int count = (int) about.listSize;
    int size = (int) about.totalSize;
    Memory storage = new Memory(8 * (size + 1L));
    Pointer[] dims = new Pointer[count];
    int[] ranks = new int[count];
    LIB.TF_OperationGetAttrShapeList(op, name, dims, ranks, count, storage, size, s);
    Shape[] result = new Shape[count];
    for (int i = 0; i < count; i++) {
      result[i] = ranks[i] < 0 ? Shape.unknown()
          : ranks[i] == 0 ? Shape.scalar() : Shape.of(dims[i].getLongArray(0, ranks[i]));
    }
    return result;
  }

  /** A list of functions, which the C API has as a serialized AttrValue alone. */
  static Proto functions(Func[] functions) {
    ByteArrayOutputStream list = new ByteArrayOutputStream();
    for (Func each : functions) {
      byte[] name = each.name().getBytes(StandardCharsets.UTF_8);
      list.writeBytes(field(9, field(1, name))); // AttrValue.ListValue.func, NameAttrList.name
    }
    return new Proto(field(1, list.toByteArray())); // AttrValue.list
  }

  /** A field of a message in protobuf's wire format. */
  private static byte[] field(int number, byte[] data) {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    written.write(number << 3 | 2);
    written.writeBytes(Strings.varint(data.length));
    written.writeBytes(data);
    return written.toByteArray();
  }

  private static Proto proto(Operation op, String name) {
    return new Proto(
        Status.bytes((buffer, s) -> LIB.TF_OperationGetAttrValueProto(op.handle(), name, buffer, s)));
  }
}
