package org.tensorflow;

/** What an operation takes as its input. */
public interface Operand<T> {
  Output<T> asOutput();
}
