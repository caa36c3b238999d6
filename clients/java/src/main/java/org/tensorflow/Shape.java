package org.tensorflow;

import java.util.Arrays;

/** The shape of a tensor, any part of which may be unknown. */
public final class Shape {
  private final long[] sizes;

  private Shape(long[] sizes) {
    this.sizes = sizes;
  }

  /** A shape of unknown rank. */
  public static Shape unknown() {
    return new Shape(null);
  }

  /** The shape of a scalar. */
  public static Shape scalar() {
    return new Shape(new long[0]);
  }

  /** A shape of these sizes, of which -1 is an unknown one. */
  public static Shape make(long first, long... others) {
    long[] sizes = new long[others.length + 1];
    sizes[0] = first;
    System.arraycopy(others, 0, sizes, 1, others.length);
    return new Shape(sizes);
  }

  static Shape of(long[] sizes) {
    return new Shape(sizes.clone());
  }

  /** The rank; -1 when it is unknown. */
  public int numDimensions() {
    return sizes == null ? -1 : sizes.length;
  }

  /** The size of a dimension; -1 when it is unknown. */
  public long size(int i) {
    return sizes[i];
  }

  /** The sizes; none when the rank is unknown. */
  long[] sizes() {
    return sizes == null ? new long[0] : sizes;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sizes);
  }

  /** Whether both are known and equal. */
  @Override
  public boolean equals(Object other) {
    if (!(other instanceof Shape shape) || sizes == null || !Arrays.equals(sizes, shape.sizes)) {
      return false;
    }
    return Arrays.stream(sizes).noneMatch(size -> size == -1);
  }

  @Override
  public String toString() {
    return sizes == null ? "<unknown>" : Arrays.toString(sizes).replace("-1", "?");
  }
}
