import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.DataType;
import org.tensorflow.Graph;
import org.tensorflow.Output;
import org.tensorflow.Session;
import org.tensorflow.Shape;
import org.tensorflow.Tensor;
import org.tensorflow.TensorFlow;
import org.tensorflow.TensorFlowException;
import org.tensorflow.Tensors;
import org.tensorflow.op.Attr;
import org.tensorflow.op.Ops;
import org.tensorflow.types.UInt8;

/** What the table of clients/conformance does not reach: values, scopes, wrappers, mistakes. */
public final class ClientTest {
  private ClientTest() {}

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("not so: " + what);
    }
  }

  private static <E extends Exception> E thrown(Class<E> expected, Runnable call) {
    try {
      call.run();
    } catch (RuntimeException error) {
      check(expected.isInstance(error), error + " is a " + expected);
      return expected.cast(error);
    }
    throw new AssertionError("no " + expected);
  }

  private static void valuesStay() {
    float[][] floats = {{1, 2, 3}, {4, 5, 6}};
    check(Arrays.deepEquals(Tensors.create(floats).copyTo(new float[2][3]), floats), "floats");
    boolean[][][] flags = {{{true}, {false}}};
    check(Arrays.deepEquals(Tensors.create(flags).copyTo(new boolean[1][2][1]), flags), "flags");
    byte[][] texts = {{}, {'a'}, {0, -1}};
    check(Arrays.deepEquals(Tensors.create(texts).copyTo(new byte[3][]), texts), "strings");
    long[] empty = Tensors.create(new long[0]).copyTo(new long[0]);
    check(empty.length == 0, "an empty vector");
    byte[] pixels = {1, -1};
    Tensor<UInt8> bytes = Tensor.create(pixels, UInt8.class);
    check(bytes.dataType() == DataType.UINT8, "bytes as unsigned numbers");
    check(Arrays.equals(bytes.copyTo(new byte[2]), pixels), "unsigned bytes");
    check(Tensors.create(7L).longValue() == 7, "a scalar");
    check(Tensor.create((short) 3).dataType() == DataType.INT16, "a short");
    check(new String(Tensors.create("é").bytesValue(), StandardCharsets.UTF_8).equals("é"), "text");
    ByteBuffer memory = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putInt(0, 5);
    Tensor<Integer> of = Tensor.create(Integer.class, new long[] {2}, memory);
    check(Arrays.equals(of.copyTo(new int[2]), new int[] {5, 0}), "a tensor of memory");
    check(Tensors.create(1.5).expect(Double.class).doubleValue() == 1.5, "an expected class");
  }

  private static void valuesThatCannotBe() {
    thrown(IllegalArgumentException.class, () -> Tensors.create(new int[][] {{1}, {2, 3}}));
    thrown(IllegalArgumentException.class, () -> Tensor.create(new StringBuilder()));
    thrown(IllegalArgumentException.class, () -> Tensor.create(new int[] {1}, Float.class));
    thrown(IllegalArgumentException.class, () -> Tensors.create(1f).intValue());
    thrown(IllegalArgumentException.class, () -> Tensors.create(1f).expect(Long.class));
    Tensor<Integer> pair = Tensors.create(new int[2]);
    thrown(IllegalArgumentException.class, () -> pair.copyTo(new int[3]));
    thrown(IllegalArgumentException.class, () -> pair.copyTo(new float[2]));
    thrown(
        IllegalArgumentException.class,
        () -> Tensor.create(Integer.class, new long[] {3}, ByteBuffer.allocate(8)));
    pair.close();
    pair.close();
    thrown(IllegalStateException.class, pair::numBytes);
  }

  private static void scopesNameOperations() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      check(tf.constant(1f).op().name().equals("Const"), "a first name is as it is");
      check(tf.constant(1f).op().name().equals("Const_1"), "a second is numbered");
      check(tf.withName("mine").constant(1f).op().name().equals("mine"), "a name");
      Ops a = tf.withSubScope("a");
      check(a.constant(1f).op().name().equals("a/Const"), "a scope's names");
      check(tf.withSubScope("a").noOp().name().equals("a_1/NoOp"), "a second scope's names");
      check(tf.withDevice("/cpu:0").noOp().device().equals("/cpu:0"), "a device");
      check(
          tf.withControlDependencies(List.of(a.constant(2f))).noOp().controlInputs().size() == 1,
          "control inputs");
    }
  }

  private static void wrappersRun() {
    try (Graph graph = new Graph();
        Session session = new Session(graph)) {
      Ops tf = Ops.create(graph);
      Output<Float> x = tf.placeholder(Float.class);
      Output<Float> slope = tf.gradients(tf.square(x), List.of(x)).get(0);
      List<Output<Float>> parts = tf.split(tf.constant(0), tf.constant(new float[] {1, 2, 3, 4}), 2L);
      Output<Float> sum = tf.addN(parts);
      Output<Integer> places = tf.<Float, Integer, Integer>topKV2(sum, tf.constant(2)).indices();
      try (Tensor<Float> three = Tensors.create(3f)) {
        List<Tensor<?>> found =
            session.runner().feed(x, three).fetch(slope).fetch(sum).fetch(places).run();
        check(found.get(0).floatValue() == 6, "a gradient");
        check(Arrays.equals(found.get(1).copyTo(new float[2]), new float[] {4, 6}), "lists");
        check(Arrays.equals(found.get(2).copyTo(new int[2]), new int[] {1, 0}), "two outputs");
      }
      Output<Float> a = tf.constant(new float[][] {{1, 2}});
      Output<Float> product = tf.matMul(a, a, Attr.of("transpose_b", true));
      check(product.shape().equals(Shape.make(1, 1)), "an attribute");
      check(session.runner().fetch(product).runAndFetchMetadata().outputs.size() == 1, "metadata");
    }
  }

  private static void errorsHaveCodes() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      IllegalArgumentException error =
          thrown(
              IllegalArgumentException.class,
              () -> graph.opBuilder("MatMul", "m").addInput(tf.constant("a")).build());
      check(((TensorFlowException) error.getCause()).code() == 3, "INVALID_ARGUMENT");
      thrown(IllegalArgumentException.class, () -> tf.noOp(Attr.of("a", new Object())));
      thrown(IllegalArgumentException.class, () -> new Session(graph).runner().fetch("nothing"));
      Session session = new Session(graph);
      Output<Float> one = tf.constant(1f);
      session.close();
      session.close();
      thrown(IllegalStateException.class, () -> session.runner().fetch(one).run());
    }
    Graph closed = new Graph();
    closed.close();
    thrown(IllegalStateException.class, closed::toGraphDef);
    thrown(RuntimeException.class, () -> TensorFlow.loadLibrary("/nothing.so"));
  }

  public static void main(String[] args) {
    valuesStay();
    valuesThatCannotBe();
    scopesNameOperations();
    wrappersRun();
    errorsHaveCodes();
  }
}
