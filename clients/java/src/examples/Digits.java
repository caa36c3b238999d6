import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.DataType;
import org.tensorflow.Graph;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.Session;
import org.tensorflow.Shape;
import org.tensorflow.Tensor;
import org.tensorflow.op.Attr;
import org.tensorflow.op.Ops;

/**
 * Trains a perceptron on handwritten digits, with gradients and Adam: Digits FILE.
 *
 * <p>The file is of clients/conformance/digits_data.py. The program fails when less than 97 % of
 * the digits that it has not seen are told apart.
 */
public final class Digits {
  private static final int PIXELS = 64;
  private static final int HIDDEN = 64;
  private static final int CLASSES = 10;
  private static final int BATCH = 100;
  private static final int EPOCHS = 30;
  private static final int UNSEEN = 297;

  /** A variable's handle and value. */
  private record Variable(Output<?> handle, Output<Float> value, int[] shape) {}

  private final Graph graph = new Graph();
  private final Ops tf = Ops.create(graph);
  private final List<Variable> learned = new ArrayList<>();
  private final List<Operation> init = new ArrayList<>();
  private final List<Operation> train;
  private final Output<Float> x;
  private final Output<Integer> y;
  private final Output<Float> accuracy;

  private Digits() {
    x = tf.placeholder(Float.class, Attr.of("shape", Shape.make(-1, PIXELS)));
    y = tf.placeholder(Integer.class, Attr.of("shape", Shape.make(-1)));
    Output<Float> layer = tf.relu(dense(tf.withSubScope("hidden"), x, PIXELS, HIDDEN));
    Output<Float> logits = dense(tf.withSubScope("logits"), layer, HIDDEN, CLASSES);
    Output<Float> targets =
        tf.oneHot(y, tf.constant(CLASSES), tf.constant(1f), tf.constant(0f));
    Output<Integer> first = tf.constant(new int[] {0});
    Output<Float> loss =
        tf.mean(tf.softmaxCrossEntropyWithLogits(logits, targets).loss(), first);
    train = adam(loss);
    Output<Integer> best =
        tf.argMax(logits, tf.constant(1), Attr.of("output_type", DataType.INT32));
    accuracy = tf.mean(tf.cast(tf.equal(best, y), Float.class), first);
  }

  private Variable variable(Output<Float> initial, int... shape) {
    long[] rest = new long[Math.max(0, shape.length - 1)];
    for (int i = 0; i < rest.length; i++) {
      rest[i] = shape[i + 1];
    }
    Shape whole = shape.length == 0 ? Shape.scalar() : Shape.make(shape[0], rest);
    Output<?> handle =
        tf.varHandleOp(DataType.FLOAT, whole, Attr.of("shared_name", "variable" + init.size()));
    init.add(tf.assignVariableOp(handle, initial));
    return new Variable(handle, tf.readVariableOp(handle, Float.class), shape);
  }

  private Output<Float> dense(Ops ops, Output<Float> input, int in, int out) {
    Output<Float> normal =
        ops.randomStandardNormal(
            ops.constant(new int[] {in, out}), Float.class, Attr.of("seed", 1), Attr.of("seed2", in));
    Variable weights = variable(ops.mul(normal, ops.constant(0.1f)), in, out);
    Variable bias = variable(ops.constant(new float[out]), out);
    learned.add(weights);
    learned.add(bias);
    return ops.biasAdd(ops.matMul(input, weights.value), bias.value);
  }

  private List<Operation> adam(Output<Float> loss) {
    Output<Float> beta1 = tf.constant(0.9f);
    Output<Float> beta2 = tf.constant(0.999f);
    Variable power1 = variable(beta1);
    Variable power2 = variable(beta2);
    List<Output<Float>> gradients =
        tf.gradients(loss, learned.stream().map(Variable::value).toList());
    List<Operation> steps = new ArrayList<>();
    for (int i = 0; i < gradients.size(); i++) {
      Variable each = learned.get(i);
      Output<Float> zeros = tf.fill(tf.constant(each.shape), tf.constant(0f));
      Variable first = variable(zeros, each.shape);
      Variable second = variable(zeros, each.shape);
      steps.add(
          tf.resourceApplyAdam(
              each.handle, first.handle, second.handle, power1.value, power2.value,
              tf.constant(0.005f), beta1, beta2, tf.constant(1e-8f), gradients.get(i)));
    }
    Ops after = tf.after(steps);
    return List.of(
        after.assignVariableOp(power1.handle, after.mul(power1.value, beta1)),
        after.assignVariableOp(power2.handle, after.mul(power2.value, beta2)));
  }

  private static void run(Session session, List<Operation> targets) {
    Session.Runner runner = session.runner();
    targets.forEach(runner::addTarget);
    runner.run();
  }

  public static void main(String[] args) throws IOException {
    ByteBuffer file =
        ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN);
    int count = file.getInt();
    FloatBuffer images = file.asFloatBuffer();
    IntBuffer labels = file.position(4 + 4 * count * PIXELS).asIntBuffer();
    Digits model = new Digits();
    try (Session session = new Session(model.graph)) {
      run(session, model.init);
      int seen = count - UNSEEN;
      for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (int at = 0; at + BATCH <= seen; at += BATCH) {
          Session.Runner step = session.runner();
          model.train.forEach(step::addTarget);
          try (Tensor<Float> x = rows(images, at, BATCH);
              Tensor<Integer> y = Tensor.create(new long[] {BATCH}, labels.slice(at, BATCH))) {
            step.feed(model.x, x).feed(model.y, y).run();
          }
        }
      }
      try (Tensor<Float> x = rows(images, seen, UNSEEN);
          Tensor<Integer> y = Tensor.create(new long[] {UNSEEN}, labels.slice(seen, UNSEEN));
          Tensor<?> found =
              session.runner().feed(model.x, x).feed(model.y, y).fetch(model.accuracy).run().get(0)) {
        float accuracy = found.floatValue();
        System.out.printf("%.1f %% of %d digits that it has not seen%n", 100 * accuracy, UNSEEN);
        if (accuracy < 0.97f) {
          System.exit(1);
        }
      }
    }
  }

  private static Tensor<Float> rows(FloatBuffer images, int from, int count) {
    return Tensor.create(new long[] {count, PIXELS}, images.slice(from * PIXELS, count * PIXELS));
  }
}
