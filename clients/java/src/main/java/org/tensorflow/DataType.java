package org.tensorflow;

import java.util.Map;
import org.tensorflow.types.UInt8;

/** The type of a tensor's elements. */
public enum DataType {
  FLOAT(1, 4),
  DOUBLE(2, 8),
  INT32(3, 4),
  UINT8(4, 1),
  INT16(5, 2),
  INT8(6, 1),
  STRING(7, -1),
  COMPLEX64(8, 8),
  INT64(9, 8),
  BOOL(10, 1),
  QINT8(11, 1),
  QUINT8(12, 1),
  QINT32(13, 4),
  BFLOAT16(14, 2),
  QINT16(15, 2),
  QUINT16(16, 2),
  UINT16(17, 2),
  COMPLEX128(18, 16),
  HALF(19, 2),
  RESOURCE(20, -1),
  VARIANT(21, -1),
  UINT32(22, 4),
  UINT64(23, 8);

  private static final Map<Class<?>, DataType> OF_CLASSES =
      Map.of(
          Float.class, FLOAT, Double.class, DOUBLE, Integer.class, INT32, UInt8.class, UINT8,
          Short.class, INT16, Byte.class, INT8, String.class, STRING, Long.class, INT64,
          Boolean.class, BOOL);

  private final int number;
  private final int byteSize;

  DataType(int number, int byteSize) {
    this.number = number;
    this.byteSize = byteSize;
  }

  /** The bytes of one element; -1 when elements differ in size. */
  public int byteSize() {
    return byteSize;
  }

  /** The number in TensorFlow's types.proto. */
  public int number() {
    return number;
  }

  static DataType of(int number) {
    for (DataType type : values()) {
      if (type.number == number) {
        return type;
      }
    }
    throw new IllegalArgumentException("no DataType has the number " + number);
  }

  /**
   * The type whose elements are of a class.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static DataType fromClass(Class<?> type) {
    DataType found = OF_CLASSES.get(type);
    if (found == null) {
      throw new IllegalArgumentException("no tensor has elements of " + type.getName());
    }
    return found;
  }
}
