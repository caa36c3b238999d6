package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Pointer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Function;

/** An array of one type and shape, whose memory is the library's own. */
public final class Tensor<T> implements AutoCloseable {
  private final Handle handle;
  private final DataType type;
  private final long[] shape;

  Tensor(Pointer pointer) {
    handle = new Handle("Tensor", pointer, LIB::TF_DeleteTensor);
    type = DataType.of(LIB.TF_TensorType(pointer));
    shape = new long[LIB.TF_NumDims(pointer)];
    Arrays.setAll(shape, i -> LIB.TF_Dim(pointer, i));
  }

  static <T> Tensor<T> allocate(DataType type, long[] shape, long size) {
    return new Tensor<>(LIB.TF_AllocateTensor(type.number(), shape, shape.length, size));
  }

  /**
   * A tensor of a boxed scalar, or of an array of any depth whose rows have one length. A byte[] is
   * a string, unless the class is UInt8 or Byte.
   */
  @SuppressWarnings("unchecked")
  public static <T> Tensor<T> create(Object value, Class<T> type) {
    return (Tensor<T>) Elements.create(value, DataType.fromClass(type));
  }

  public static Tensor<?> create(Object value) {
    return Elements.create(value, Elements.typeOf(value));
  }

  public static Tensor<Integer> create(long[] shape, IntBuffer data) {
    Tensor<Integer> tensor = filled(DataType.INT32, shape, data.remaining());
    return tensor.fill(memory -> memory.asIntBuffer().put(data));
  }

  public static Tensor<Float> create(long[] shape, FloatBuffer data) {
    Tensor<Float> tensor = filled(DataType.FLOAT, shape, data.remaining());
    return tensor.fill(memory -> memory.asFloatBuffer().put(data));
  }

  public static Tensor<Double> create(long[] shape, DoubleBuffer data) {
    Tensor<Double> tensor = filled(DataType.DOUBLE, shape, data.remaining());
    return tensor.fill(memory -> memory.asDoubleBuffer().put(data));
  }

  public static Tensor<Long> create(long[] shape, LongBuffer data) {
    Tensor<Long> tensor = filled(DataType.INT64, shape, data.remaining());
    return tensor.fill(memory -> memory.asLongBuffer().put(data));
  }

  /** A tensor of the bytes of its memory, in the machine's order. */
  public static <T> Tensor<T> create(Class<T> type, long[] shape, ByteBuffer data) {
    return create(DataType.fromClass(type), shape, data);
  }

  /** The same, of types that have no class. */
  public static <T> Tensor<T> create(DataType type, long[] shape, ByteBuffer data) {
    Tensor<T> tensor;
    if (type.byteSize() < 0) {
      tensor = allocate(type, shape, data.remaining());
    } else {
      int count = data.remaining() / type.byteSize();
      if (data.remaining() % type.byteSize() != 0) {
        throw new IllegalArgumentException(
            "%d bytes are no elements of %s".formatted(data.remaining(), type));
      }
      tensor = filled(type, shape, count);
    }
    return tensor.fill(memory -> memory.put(data));
  }

  private static <T> Tensor<T> filled(DataType type, long[] shape, int given) {
    long count = count(shape);
    if (count != given) {
      throw new IllegalArgumentException(
          "%d elements given for the shape %s".formatted(given, Arrays.toString(shape)));
    }
    return allocate(type, shape, count * type.byteSize());
  }

  static long count(long[] shape) {
    return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
  }

  /**
   * The tensor with its elements' class known.
   *
   * @throws IllegalArgumentException when they are of another one
   */
  @SuppressWarnings("unchecked")
  public <U> Tensor<U> expect(Class<U> expected) {
    if (DataType.fromClass(expected) != type) {
      throw new IllegalArgumentException("a tensor of %s, expected %s".formatted(type, expected));
    }
    return (Tensor<U>) this;
  }

  @Override
  public void close() {
    handle.close();
  }

  public DataType dataType() {
    return type;
  }

  public int numDimensions() {
    return shape.length;
  }

  public int numBytes() {
    return (int) LIB.TF_TensorByteSize(handle());
  }

  public int numElements() {
    return (int) count(shape);
  }

  public long[] shape() {
    return shape.clone();
  }

  public float floatValue() {
    return scalar(DataType.FLOAT, ByteBuffer::getFloat);
  }

  public double doubleValue() {
    return scalar(DataType.DOUBLE, ByteBuffer::getDouble);
  }

  public int intValue() {
    return scalar(DataType.INT32, ByteBuffer::getInt);
  }

  public long longValue() {
    return scalar(DataType.INT64, ByteBuffer::getLong);
  }

  public boolean booleanValue() {
    return scalar(DataType.BOOL, memory -> memory.get() != 0);
  }

  public byte[] bytesValue() {
    return scalar(DataType.STRING, memory -> Strings.decode(memory, 1, 0));
  }

  private <R> R scalar(DataType expected, Function<ByteBuffer, R> read) {
    if (type != expected || shape.length != 0) {
      throw new IllegalArgumentException("%s is no scalar of %s".formatted(this, expected));
    }
    return use(read);
  }

  /** Copies the elements into an array of the tensor's type and shape, which is returned. */
  public <U> U copyTo(U target) {
    Elements.copy(this, target);
    return target;
  }

  public void writeTo(IntBuffer target) {
    requireType(DataType.INT32);
    use(memory -> target.put(memory.asIntBuffer()));
  }

  public void writeTo(FloatBuffer target) {
    requireType(DataType.FLOAT);
    use(memory -> target.put(memory.asFloatBuffer()));
  }

  public void writeTo(DoubleBuffer target) {
    requireType(DataType.DOUBLE);
    use(memory -> target.put(memory.asDoubleBuffer()));
  }

  public void writeTo(LongBuffer target) {
    requireType(DataType.INT64);
    use(memory -> target.put(memory.asLongBuffer()));
  }

  public void writeTo(ByteBuffer target) {
    use(target::put);
  }

  private void requireType(DataType expected) {
    if (type != expected) {
      throw new IllegalArgumentException("%s has no elements of %s".formatted(this, expected));
    }
  }

  @Override
  public String toString() {
    return "%s tensor with shape %s".formatted(type, Arrays.toString(shape));
  }

  private Tensor<T> fill(Consumer<ByteBuffer> write) {
    use(
        memory -> {
          write.accept(memory);
          return null;
        });
    return this;
  }

  /** Reads or writes the tensor's own memory, which lasts as long as the tensor is used. */
  <R> R use(Function<ByteBuffer, R> function) {
    try {
      int size = numBytes();
      ByteBuffer memory =
          size == 0 ? ByteBuffer.allocate(0) : LIB.TF_TensorData(handle()).getByteBuffer(0, size);
      return function.apply(memory.order(ByteOrder.nativeOrder()));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  Pointer handle() {
    return handle.get();
  }
}
