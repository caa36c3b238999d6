package org.tensorflow.op;

import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;

/** Adds the operation of a wrapper, and hands out its outputs one after the other. */
final class Results {
  private final OperationBuilder builder;
  private Operation operation;
  private int next;

  Results(Scope scope, String type) {
    builder = scope.opBuilder(type);
  }

  Results input(Operand<?> operand) {
    builder.addInput(operand.asOutput());
    return this;
  }

  Results inputs(Iterable<? extends Operand<?>> operands) {
    List<Output<?>> outputs = new ArrayList<>();
    operands.forEach(each -> outputs.add(each.asOutput()));
    builder.addInputList(outputs.toArray(Output<?>[]::new));
    return this;
  }

  Results attr(String name, Object value) {
    builder.setAttr(name, value);
    return this;
  }

  Results build(Attr... attrs) {
    for (Attr each : attrs) {
      builder.setAttr(each.name(), each.value());
    }
    operation = builder.build();
    return this;
  }

  Operation operation() {
    return operation;
  }

  <T> Output<T> one() {
    return operation.output(next++);
  }

  <T> List<Output<T>> list(String name) {
    List<Output<T>> found = new ArrayList<>();
    int length = operation.outputListLength(name);
    for (int i = 0; i < length; i++) {
      found.add(one());
    }
    return found;
  }
}
