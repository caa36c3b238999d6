package conformance;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.tensorflow.Attrs;
import org.tensorflow.DataType;
import org.tensorflow.Shape;
import org.tensorflow.Tensor;

/** Tensors, shapes and attributes of the tables. */
final class Literals {
  /** An expectation that does not hold. */
  static final class Broken extends RuntimeException {
    Broken(String message) {
      super(message);
    }
  }

  private Literals() {}

  static void expect(String what, Object got, Object expected) {
    if (!got.toString().equals(expected.toString())) {
      throw new Broken("%s is %s, expected %s".formatted(what, got, expected));
    }
  }

  static List<String> list(String text, String separator) {
    return text.isEmpty() ? List.of() : Arrays.asList(text.split(separator, -1));
  }

  static byte[] unescape(String text) {
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '%') {
        plain.write(Integer.parseInt(text.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        plain.write(text.charAt(i));
      }
    }
    return plain.toByteArray();
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  static DataType dtype(String name) {
    return switch (name) {
      case "float32" -> DataType.FLOAT;
      case "float64" -> DataType.DOUBLE;
      default -> DataType.valueOf(name.toUpperCase());
    };
  }

  static Shape shape(String text) {
    if (text.equals("unknown")) {
      return Shape.unknown();
    }
    if (text.equals("scalar") || text.isEmpty()) {
      return Shape.scalar();
    }
    long[] sizes =
        list(text, ",").stream().mapToLong(d -> d.equals("?") ? -1 : Long.parseLong(d)).toArray();
    return Shape.make(sizes[0], Arrays.copyOfRange(sizes, 1, sizes.length));
  }

  static String show(Shape shape) {
    if (shape.numDimensions() < 0) {
      return "unknown";
    }
    List<String> words = new ArrayList<>();
    for (int i = 0; i < shape.numDimensions(); i++) {
      words.add(shape.size(i) < 0 ? "?" : Long.toString(shape.size(i)));
    }
    return words.isEmpty() ? "scalar" : String.join(",", words);
  }

  /** DTYPE[DIMS]=VALUES in its parts; one value stands for all elements. */
  record Literal(DataType dtype, long[] dims, List<String> values) {
    static Literal of(String text) {
      int open = text.indexOf('[');
      int end = text.indexOf("]=");
      long[] dims =
          list(text.substring(open + 1, end), ",").stream().mapToLong(Long::parseLong).toArray();
      int count = (int) Arrays.stream(dims).reduce(1, (a, b) -> a * b);
      List<String> values = Arrays.asList(text.substring(end + 2).split(",", -1));
      if (values.size() < count || count == 0) {
        values = Collections.nCopies(count, values.get(0));
      }
      return new Literal(Literals.dtype(text.substring(0, open)), dims, values);
    }
  }

  static Tensor<?> tensor(String text) {
    Literal literal = Literal.of(text);
    if (literal.dtype == DataType.STRING) {
      return Tensor.create(nest(literal));
    }
    int size = literal.dtype.byteSize();
    ByteBuffer data =
        ByteBuffer.allocate(literal.values.size() * size).order(ByteOrder.nativeOrder());
    for (String value : literal.values) {
      switch (literal.dtype) {
        case FLOAT -> data.putFloat(Float.parseFloat(value));
        case DOUBLE -> data.putDouble(Double.parseDouble(value));
        case BOOL -> data.put((byte) (value.equals("true") ? 1 : 0));
        default -> {
          long number = Long.parseLong(value);
          for (int i = 0; i < size; i++) {
            data.put((byte) (number >> 8 * i));
          }
        }
      }
    }
    return Tensor.create(literal.dtype, literal.dims, data.flip());
  }

  private static Object nest(Literal literal) {
    byte[][] plain = literal.values.stream().map(Literals::unescape).toArray(byte[][]::new);
    if (literal.dims.length < 2) {
      return literal.dims.length == 0 ? plain[0] : plain;
    }
    int width = (int) literal.dims[1];
    byte[][][] rows = new byte[(int) literal.dims[0]][][];
    Arrays.setAll(rows, i -> Arrays.copyOfRange(plain, i * width, (i + 1) * width));
    return rows;
  }

  static void expectTensor(String what, Tensor<?> got, String text) {
    Literal literal = Literal.of(text);
    expect("the dtype of " + what, got.dataType(), literal.dtype);
    expect("the shape of " + what, Arrays.toString(got.shape()), Arrays.toString(literal.dims));
    if (literal.dtype == DataType.STRING) {
      expectStrings(what, got, literal);
      return;
    }
    ByteBuffer data = ByteBuffer.allocate(got.numBytes()).order(ByteOrder.nativeOrder());
    got.writeTo(data);
    data.flip();
    for (String value : literal.values) {
      boolean same =
          switch (literal.dtype) {
            case FLOAT -> near(data.getFloat(), value);
            case DOUBLE -> near(data.getDouble(), value);
            case BOOL -> data.get() == (value.equals("true") ? 1 : 0);
            default -> whole(data, literal.dtype) == Long.parseLong(value);
          };
      if (!same) {
        int at = data.position() / literal.dtype.byteSize() - 1;
        throw new Broken("element %d of %s is not %s".formatted(at, what, value));
      }
    }
  }

  private static long whole(ByteBuffer data, DataType dtype) {
    boolean unsigned = dtype.name().startsWith("U");
    return switch (dtype.byteSize()) {
      case 1 -> unsigned ? data.get() & 0xff : data.get();
      case 2 -> unsigned ? data.getShort() & 0xffff : data.getShort();
      case 4 -> unsigned ? data.getInt() & 0xffffffffL : data.getInt();
      default -> data.getLong();
    };
  }

  private static void expectStrings(String what, Tensor<?> got, Literal literal) {
    byte[][] found = new byte[literal.values.size()][];
    if (literal.dims.length == 0) {
      found[0] = got.bytesValue();
    } else if (literal.dims.length == 1) {
      got.copyTo(found);
    } else {
      byte[][][] rows = new byte[(int) literal.dims[0]][(int) literal.dims[1]][];
      found = Arrays.stream(got.copyTo(rows)).flatMap(Arrays::stream).toArray(byte[][]::new);
    }
    for (int i = 0; i < found.length; i++) {
      expect("a string of " + what, text(found[i]), text(unescape(literal.values.get(i))));
    }
  }

  private static boolean near(double got, String text) {
    double expected = Double.parseDouble(text.replace("inf", "Infinity").replace("nan", "NaN"));
    if (Double.isNaN(got) || Double.isNaN(expected)) {
      return Double.isNaN(got) && Double.isNaN(expected);
    }
    return got == expected || Math.abs(got - expected) <= 1e-5 + 1e-4 * Math.abs(expected);
  }

  /** A value as Attrs has it. */
  static Object attr(String text) {
    int colon = text.indexOf(':');
    String value = text.substring(colon + 1);
    List<String> parts = list(value, ",");
    return switch (text.substring(0, colon)) {
      case "int" -> Long.parseLong(value);
      case "float" -> Float.parseFloat(value);
      case "bool" -> value.equals("true");
      case "type" -> dtype(value);
      case "string" -> unescape(value);
      case "func" -> new Attrs.Func(value);
      case "shape" -> shape(value);
      case "tensor" -> tensor(value);
      case "proto" -> new Attrs.Proto(unescape(value));
      case "ints" -> parts.stream().mapToLong(Long::parseLong).toArray();
      case "floats" -> {
        float[] numbers = new float[parts.size()];
        for (int i = 0; i < numbers.length; i++) {
          numbers[i] = Float.parseFloat(parts.get(i));
        }
        yield numbers;
      }
      case "bools" -> {
        boolean[] flags = new boolean[parts.size()];
        for (int i = 0; i < flags.length; i++) {
          flags[i] = parts.get(i).equals("true");
        }
        yield flags;
      }
      case "types" -> parts.stream().map(Literals::dtype).toArray(DataType[]::new);
      case "strings" -> parts.stream().map(Literals::unescape).toArray(byte[][]::new);
      case "shapes" -> list(value, ";").stream().map(Literals::shape).toArray(Shape[]::new);
      default -> throw new Broken("no kind of attribute " + text);
    };
  }

  static void expectAttr(Object got, String text) {
    if (got instanceof Tensor<?> tensor) {
      expectTensor("the attribute", tensor, text.substring("tensor:".length()));
    } else {
      expect("the attribute", showAttr(got), showAttr(attr(text)));
    }
  }

  private static String showAttr(Object value) {
    return Arrays.deepToString(new Object[] {value});
  }
}
