package org.tensorflow.op;

/**
 * An attribute that a wrapper of an operation has a default for.
 *
 * @param value of a class that {@link org.tensorflow.OperationBuilder#setAttr} takes
 */
public record Attr(String name, Object value) {
  public static Attr of(String name, Object value) {
    return new Attr(name, value);
  }
}
