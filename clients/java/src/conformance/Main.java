package conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the cases of clients/conformance: conformance.Main TABLE... ; prints "ok NAME" or "fail
 * NAME: why".
 */
public final class Main {
  private static boolean passed = true;

  private Main() {}

  private static void runCase(String name, List<String> steps) {
    World world = new World();
    for (String step : steps) {
      try {
        world.take(step);
      } catch (RuntimeException error) {
        passed = false;
        System.out.printf("fail %s: \"%s\": %s%n", name, step, error);
        return;
      }
    }
    System.out.printf("ok %s%n", name);
  }

  public static void main(String[] tables) throws IOException {
    for (String table : tables) {
      String name = null;
      List<String> steps = new ArrayList<>();
      List<String> lines = new ArrayList<>(Files.readAllLines(Path.of(table)));
      lines.add("case end");
      for (String line : lines) {
        String step = line.strip();
        if (step.startsWith("case ")) {
          if (name != null) {
            runCase(name, steps);
          }
          name = step.split(" ")[1];
          steps.clear();
        } else if (!step.isEmpty() && !step.startsWith("#")) {
          steps.add(step);
        }
      }
    }
    System.exit(passed ? 0 : 1);
  }
}
