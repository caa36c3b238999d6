package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** Calls of the library whose last word is a status, and the buffers that they fill. */
final class Status {
  private Status() {}

  /** The result of a call; an exception when its status is not OK. */
  static <T> T call(Function<Pointer, T> function) {
    Pointer status = LIB.TF_NewStatus();
    try {
      T result = function.apply(status);
      int code = LIB.TF_GetCode(status);
      if (code != 0) {
        throw TensorFlowException.of(code, LIB.TF_Message(status));
      }
      return result;
    } finally {
      LIB.TF_DeleteStatus(status);
    }
  }

  static void run(Consumer<Pointer> function) {
    call(
        status -> {
          function.accept(status);
          return null;
        });
  }

  /** The bytes that a call (buffer, status) wrote. */
  static byte[] bytes(BiConsumer<Pointer, Pointer> function) {
    Pointer buffer = LIB.TF_NewBuffer();
    try {
      run(status -> function.accept(buffer, status));
      return bytes(buffer);
    } finally {
      LIB.TF_DeleteBuffer(buffer);
    }
  }

  /** The bytes of a buffer, which stays. */
  static byte[] bytes(Pointer buffer) {
    return new CApi.Buffer(buffer).bytes();
  }

  /** The bytes of a buffer, which is deleted. */
  static byte[] take(Pointer buffer) {
    try {
      return bytes(buffer);
    } finally {
      LIB.TF_DeleteBuffer(buffer);
    }
  }

  /** Memory of C with these bytes and a zero after them. */
  static Memory memory(byte[] data) {
    Memory memory = new Memory(data.length + 1);
    memory.write(0, data, 0, data.length);
    memory.setByte(data.length, (byte) 0);
    return memory;
  }
}
