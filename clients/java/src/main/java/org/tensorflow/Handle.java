package org.tensorflow;

import com.sun.jna.Pointer;
import java.lang.ref.Cleaner;
import java.util.function.Consumer;

/** An object of the library, deleted once: when it is closed, or when nobody has it. */
final class Handle {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Pointer pointer;
  private final String kind;
  private final Cleaner.Cleanable deletion;
  private volatile boolean closed;

  Handle(String kind, Pointer pointer, Consumer<Pointer> delete) {
    this.pointer = pointer;
    this.kind = kind;
    this.deletion = CLEANER.register(this, () -> delete.accept(pointer));
  }

  /**
   * The object.
   *
   * @throws IllegalStateException when it is closed
   */
  Pointer get() {
    if (closed) {
      throw new IllegalStateException("close() has been called on the " + kind);
    }
    return pointer;
  }

  void close() {
    closed = true;
    deletion.clean();
  }
}
