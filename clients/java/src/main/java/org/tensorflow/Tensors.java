package org.tensorflow;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/** Tensors of known classes, from scalars and arrays. */
public final class Tensors {
  private Tensors() {}

  /** A scalar of the text's bytes in UTF-8. */
  public static Tensor<String> create(String text) {
    return create(text, StandardCharsets.UTF_8);
  }

  public static Tensor<String> create(String text, Charset charset) {
    return create(text.getBytes(charset));
  }

  public static Tensor<Float> create(float data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[][] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[][][] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[][][][] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[][][][][] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Float> create(float[][][][][][] data) {
    return Tensor.create(data, Float.class);
  }

  public static Tensor<Double> create(double data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[][] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[][][] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[][][][] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[][][][][] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Double> create(double[][][][][][] data) {
    return Tensor.create(data, Double.class);
  }

  public static Tensor<Integer> create(int data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[][] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[][][] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[][][][] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[][][][][] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Integer> create(int[][][][][][] data) {
    return Tensor.create(data, Integer.class);
  }

  public static Tensor<Long> create(long data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[][] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[][][] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[][][][] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[][][][][] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Long> create(long[][][][][][] data) {
    return Tensor.create(data, Long.class);
  }

  public static Tensor<Boolean> create(boolean data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[][] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[][][] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[][][][] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[][][][][] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<Boolean> create(boolean[][][][][][] data) {
    return Tensor.create(data, Boolean.class);
  }

  public static Tensor<String> create(byte[] data) {
    return Tensor.create(data, String.class);
  }

  public static Tensor<String> create(byte[][] data) {
    return Tensor.create(data, String.class);
  }

  public static Tensor<String> create(byte[][][] data) {
    return Tensor.create(data, String.class);
  }

  public static Tensor<String> create(byte[][][][] data) {
    return Tensor.create(data, String.class);
  }

  public static Tensor<String> create(byte[][][][][] data) {
    return Tensor.create(data, String.class);
  }

  public static Tensor<String> create(byte[][][][][][] data) {
    return Tensor.create(data, String.class);
  }
}
