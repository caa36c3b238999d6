package org.tensorflow;

/**
 * An error of the library, with TensorFlow's code.
 *
 * <p>Some codes have an exception of Java's own: INVALID_ARGUMENT is an IllegalArgumentException,
 * PERMISSION_DENIED and UNAUTHENTICATED a SecurityException, RESOURCE_EXHAUSTED and
 * FAILED_PRECONDITION an IllegalStateException, OUT_OF_RANGE an IndexOutOfBoundsException and
 * UNIMPLEMENTED an UnsupportedOperationException. Then the TensorFlowException is its cause.
 */
public final class TensorFlowException extends RuntimeException {
  private final int code;

  TensorFlowException(int code, String message) {
    super(message);
    this.code = code;
  }

  /** The code, as in tensorflow/core/lib/core/error_codes.proto. */
  public int code() {
    return code;
  }

  static RuntimeException of(int code, String message) {
    TensorFlowException plain = new TensorFlowException(code, message);
    RuntimeException found =
        switch (code) {
          case 3 -> new IllegalArgumentException(message);
          case 7, 16 -> new SecurityException(message);
          case 8, 9 -> new IllegalStateException(message);
          case 11 -> new IndexOutOfBoundsException(message);
          case 12 -> new UnsupportedOperationException(message);
          default -> plain;
        };
    if (found != plain) {
      found.initCause(plain);
    }
    return found;
  }
}
