import java.util.Arrays;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Tensor;
import org.tensorflow.Tensors;

/** Loads the SavedModel of the conformance suite and runs it: SavedModel DIRECTORY. */
public final class SavedModel {
  private SavedModel() {}

  public static void main(String[] args) {
    try (SavedModelBundle model = SavedModelBundle.load(args[0], "serve");
        Tensor<Float> x = Tensors.create(new float[][] {{1, 2, 3}, {4, 5, 6}});
        Tensor<?> scores = model.session().runner().feed("x", x).fetch("scores").run().get(0)) {
      System.out.println(Arrays.deepToString(scores.copyTo(new float[2][2])));
    }
  }
}
