package org.tensorflow.types;

/** The class of tensors of unsigned bytes, whose elements are given as byte. */
public final class UInt8 extends Number {
  private final byte value;

  public UInt8(byte value) {
    this.value = value;
  }

  @Override
  public int intValue() {
    return value & 0xff;
  }

  @Override
  public long longValue() {
    return intValue();
  }

  @Override
  public float floatValue() {
    return intValue();
  }

  @Override
  public double doubleValue() {
    return intValue();
  }
}
