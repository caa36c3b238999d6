package org.tensorflow;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The memory of a tensor of strings: an offset of 8 bytes for each, and then each string after its
 * length as a varint. So it is in TensorFlow up to 2.3.
 */
final class Strings {
  private Strings() {}

  static byte[] encode(List<byte[]> strings) {
    ByteBuffer offsets = ByteBuffer.allocate(8 * strings.size()).order(ByteOrder.nativeOrder());
    ByteArrayOutputStream texts = new ByteArrayOutputStream();
    for (byte[] each : strings) {
      offsets.putLong(texts.size());
      texts.writeBytes(varint(each.length));
      texts.writeBytes(each);
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(offsets.array());
    whole.writeBytes(texts.toByteArray());
    return whole.toByteArray();
  }

  /** The i-th of n strings. */
  static byte[] decode(ByteBuffer data, int n, int i) {
    int at = 8 * n + (int) data.getLong(8 * i);
    int length = 0;
    for (int shift = 0; ; shift += 7) {
      byte part = data.get(at++);
      length |= (part & 0x7f) << shift;
      if (part >= 0) {
        break;
      }
    }
    byte[] text = new byte[length];
    data.get(at, text);
    return text;
  }

  static byte[] varint(int value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (; value >= 0x80; value >>>= 7) {
      bytes.write(value & 0x7f | 0x80);
    }
    bytes.write(value);
    return bytes.toByteArray();
  }
}
