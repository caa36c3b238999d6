package org.tensorflow.op;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.OperationBuilder;

/** Names, control inputs and a device for the operations that are added to a graph. */
public final class Scope {
  private final Graph graph;
  private final Map<String, Integer> taken;
  private final String prefix;
  private final String name;
  private final String device;
  private final List<Operation> controls;

  /** A scope without a prefix. */
  public Scope(Graph graph) {
    this(graph, new HashMap<>(), "", null, null, List.of());
  }

  private Scope(
      Graph graph, Map<String, Integer> taken, String prefix, String name, String device,
      List<Operation> controls) {
    this.graph = graph;
    this.taken = taken;
    this.prefix = prefix;
    this.name = name;
    this.device = device;
    this.controls = controls;
  }

  public Graph graph() {
    return graph;
  }

  /** Puts a name and a slash before the names of what is added. */
  public Scope withSubScope(String child) {
    return new Scope(graph, taken, unique(child) + "/", null, device, controls);
  }

  /** Gives the next operation a name. */
  public Scope withName(String name) {
    return new Scope(graph, taken, prefix, name, device, controls);
  }

  /** Places what is added. */
  public Scope withDevice(String device) {
    return new Scope(graph, taken, prefix, name, device, controls);
  }

  /** Runs what is added after these operations. */
  public Scope withControlDependencies(Iterable<? extends Operand<?>> controls) {
    List<Operation> operations = new ArrayList<>();
    controls.forEach(each -> operations.add(each.asOutput().op()));
    return after(operations);
  }

  /** Runs what is added after these operations, which need no outputs. */
  public Scope after(List<Operation> operations) {
    List<Operation> all = new ArrayList<>(controls);
    all.addAll(operations);
    return new Scope(graph, taken, prefix, name, device, all);
  }

  /** A name that the graph does not have yet. */
  public String makeOpName(String defaultName) {
    return unique(name != null ? name : defaultName);
  }

  /** Starts to describe an operation in this scope. */
  public OperationBuilder opBuilder(String type) {
    OperationBuilder builder = graph.opBuilder(type, makeOpName(type));
    controls.forEach(builder::addControlInput);
    return device == null ? builder : builder.setDevice(device);
  }

  private String unique(String wanted) {
    String whole = prefix + wanted;
    while (true) {
      int count = taken.merge(whole, 1, Integer::sum) - 1;
      String found = count == 0 ? whole : whole + "_" + count;
      if (graph.operation(found) == null) {
        return found;
      }
    }
  }
}
