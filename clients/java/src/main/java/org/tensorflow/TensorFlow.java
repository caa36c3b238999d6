package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Pointer;

/** What the library says of itself. */
public final class TensorFlow {
  private TensorFlow() {}

  /** The version of TensorFlow whose interface it has. */
  public static String version() {
    return LIB.TF_Version();
  }

  /** The serialized OpList of all operations. */
  public static byte[] registeredOpList() {
    return Status.take(LIB.TF_GetAllOpList());
  }

  /** The serialized KernelList of one operation. */
  public static byte[] registeredKernels(String op) {
    return Status.take(Status.call(s -> LIB.TF_GetRegisteredKernelsForOp(op, s)));
  }

  /** Loads operations and kernels; the result is the serialized OpList of what is new. */
  public static byte[] loadLibrary(String filename) {
    Pointer library = Status.call(s -> LIB.TF_LoadLibrary(filename, s));
    try {
      return LIB.TF_GetOpList(library).bytes();
    } finally {
      LIB.TF_DeleteLibraryHandle(library);
    }
  }
}
