package org.tensorflow;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.types.UInt8;

/** Scalars and arrays of arrays as the elements of tensors. */
final class Elements {
  private Elements() {}

  /** The type of a tensor of a value, in which a byte[] is a string. */
  static DataType typeOf(Object value) {
    Class<?> element = value.getClass();
    while (element.isArray() && element != byte[].class) {
      element = element.getComponentType();
    }
    if (element == byte[].class) {
      return DataType.STRING;
    }
    // The box of a primitive type is the class of an array's element.
    return DataType.fromClass(
        element.isPrimitive() ? Array.get(Array.newInstance(element, 1), 0).getClass() : element);
  }

  static Tensor<?> create(Object value, DataType type) {
    long[] shape = shape(value, type);
    int size = type.byteSize();
    if (type == DataType.STRING) {
      List<byte[]> strings = new ArrayList<>();
      collect(value, shape, 0, strings);
      byte[] data = Strings.encode(strings);
      return Tensor.create(type, shape, ByteBuffer.wrap(data));
    }
    ByteBuffer data =
        ByteBuffer.allocate((int) Tensor.count(shape) * size).order(ByteOrder.nativeOrder());
    write(value, shape, 0, type, data);
    return Tensor.create(type, shape, data.flip());
  }

  private static long[] shape(Object value, DataType type) {
    List<Long> sizes = new ArrayList<>();
    Class<?> rest = value.getClass();
    for (Object at = value; isRow(rest, type); rest = rest.getComponentType()) {
      int length = at == null ? 0 : Array.getLength(at);
      sizes.add((long) length);
      at = length == 0 || rest.getComponentType().isPrimitive() ? null : Array.get(at, 0);
    }
    return sizes.stream().mapToLong(Long::longValue).toArray();
  }

  private static boolean isRow(Class<?> type, DataType dtype) {
    return type.isArray() && !(dtype == DataType.STRING && type == byte[].class);
  }

  private static void requireRow(Object value, long[] shape, int depth) {
    if (Array.getLength(value) != shape[depth]) {
      throw new IllegalArgumentException(
          "a row of %d beside others of %d".formatted(Array.getLength(value), shape[depth]));
    }
  }

  private static void collect(Object value, long[] shape, int depth, List<byte[]> strings) {
    if (depth == shape.length) {
      if (!(value instanceof byte[] text)) {
        throw new IllegalArgumentException("the elements of a string tensor are byte[]");
      }
      strings.add(text);
      return;
    }
    requireRow(value, shape, depth);
    for (Object row : (Object[]) value) {
      collect(row, shape, depth + 1, strings);
    }
  }

  private static void write(Object value, long[] shape, int depth, DataType type, ByteBuffer data) {
    if (depth == shape.length) {
      writeScalar(value, type, data);
      return;
    }
    requireRow(value, shape, depth);
    if (value instanceof Object[] rows) {
      for (Object row : rows) {
        write(row, shape, depth + 1, type, data);
      }
      return;
    }
    if (value instanceof float[] row && type == DataType.FLOAT) {
      data.asFloatBuffer().put(row);
    } else if (value instanceof double[] row && type == DataType.DOUBLE) {
      data.asDoubleBuffer().put(row);
    } else if (value instanceof int[] row && type == DataType.INT32) {
      data.asIntBuffer().put(row);
    } else if (value instanceof long[] row && type == DataType.INT64) {
      data.asLongBuffer().put(row);
    } else if (value instanceof short[] row && type == DataType.INT16) {
      data.asShortBuffer().put(row);
    } else if (value instanceof byte[] row && type.byteSize() == 1) {
      data.duplicate().put(row);
    } else if (value instanceof boolean[] row && type == DataType.BOOL) {
      ByteBuffer at = data.duplicate();
      for (boolean each : row) {
        at.put((byte) (each ? 1 : 0));
      }
    } else {
      throw mismatch(value, type);
    }
    data.position(data.position() + Array.getLength(value) * type.byteSize());
  }

  private static void writeScalar(Object value, DataType type, ByteBuffer data) {
    if (value instanceof Float number && type == DataType.FLOAT) {
      data.putFloat(number);
    } else if (value instanceof Double number && type == DataType.DOUBLE) {
      data.putDouble(number);
    } else if (value instanceof Integer number && type == DataType.INT32) {
      data.putInt(number);
    } else if (value instanceof Long number && type == DataType.INT64) {
      data.putLong(number);
    } else if (value instanceof Short number && type == DataType.INT16) {
      data.putShort(number);
    } else if (value instanceof Byte number && type.byteSize() == 1) {
      data.put(number);
    } else if (value instanceof UInt8 number && type == DataType.UINT8) {
      data.put((byte) number.intValue());
    } else if (value instanceof Boolean flag && type == DataType.BOOL) {
      data.put((byte) (flag ? 1 : 0));
    } else {
      throw mismatch(value, type);
    }
  }

  private static IllegalArgumentException mismatch(Object value, DataType type) {
    return new IllegalArgumentException(
        "a %s has no elements of %s".formatted(value.getClass().getSimpleName(), type));
  }

  /** Copies the elements of a tensor into an array of its type and shape. */
  static void copy(Tensor<?> tensor, Object target) {
    long[] shape = shape(target, tensor.dataType());
    boolean fits = Arrays.equals(shape, tensor.shape()) && shape.length > 0;
    if (!fits) {
      throw new IllegalArgumentException(
          "%s does not fit an array of shape %s".formatted(tensor, Arrays.toString(shape)));
    }
    tensor.use(
        memory -> {
          if (tensor.dataType() == DataType.STRING) {
            readStrings(target, 0, shape, memory, new int[1], tensor.numElements());
          } else {
            read(target, shape, 0, tensor.dataType(), memory);
          }
          return null;
        });
  }

  private static void readStrings(
      Object target, int depth, long[] shape, ByteBuffer memory, int[] next, int count) {
    requireRow(target, shape, depth);
    Object[] row = (Object[]) target;
    for (int i = 0; i < row.length; i++) {
      if (depth + 1 == shape.length) {
        row[i] = Strings.decode(memory, count, next[0]++);
      } else {
        readStrings(row[i], depth + 1, shape, memory, next, count);
      }
    }
  }

  private static void read(Object target, long[] shape, int depth, DataType type, ByteBuffer memory) {
    requireRow(target, shape, depth);
    if (target instanceof Object[] rows) {
      for (Object row : rows) {
        read(row, shape, depth + 1, type, memory);
      }
      return;
    }
    if (target instanceof float[] row && type == DataType.FLOAT) {
      memory.asFloatBuffer().get(row);
    } else if (target instanceof double[] row && type == DataType.DOUBLE) {
      memory.asDoubleBuffer().get(row);
    } else if (target instanceof int[] row && type == DataType.INT32) {
      memory.asIntBuffer().get(row);
    } else if (target instanceof long[] row && type == DataType.INT64) {
      memory.asLongBuffer().get(row);
    } else if (target instanceof short[] row && type == DataType.INT16) {
      memory.asShortBuffer().get(row);
    } else if (target instanceof byte[] row && type.byteSize() == 1) {
      memory.duplicate().get(row);
    } else if (target instanceof boolean[] row && type == DataType.BOOL) {
      for (int i = 0; i < row.length; i++) {
        row[i] = memory.get(memory.position() + i) != 0;
      }
    } else {
      throw mismatch(target, type);
    }
    memory.position(memory.position() + Array.getLength(target) * type.byteSize());
  }
}
