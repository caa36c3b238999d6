package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;

/** Runs parts of a graph. Steps may run at the same time. */
public final class Session implements AutoCloseable {
  /** The results of a step, and what it cost as a serialized RunMetadata. */
  public static final class Run {
    public List<Tensor<?>> outputs;
    public byte[] metadata;
  }

  /** A device that the session can use. */
  public record Device(String name, String type, long memoryBytes) {}

  private final Graph graph;
  private final Handle handle;
  // Steps hold the lock to read, so that the session is deleted after the last of them.
  private final ReadWriteLock steps = new ReentrantReadWriteLock();

  /** A session of this process. */
  public Session(Graph graph) {
    this(graph, "", null);
  }

  /**
   * A session of this process.
   *
   * @param config a serialized ConfigProto, or null
   */
  public Session(Graph graph, byte[] config) {
    this(graph, "", config);
  }

  /**
   * A session of a master.
   *
   * @param target as "grpc://host:port"
   */
  public Session(Graph graph, String target, byte[] config) {
    this(
        withOptions(
            target,
            config,
            options -> Status.call(s -> LIB.TF_NewSession(graph.handle(), options, s))),
        graph);
  }

  Session(Pointer pointer, Graph graph) {
    this.graph = graph;
    this.handle = new Handle("Session", pointer, Session::delete);
  }

  private static void delete(Pointer session) {
    Pointer status = LIB.TF_NewStatus();
    LIB.TF_DeleteSession(session, status);
    LIB.TF_DeleteStatus(status);
  }

  static <T> T withOptions(
      String target, byte[] config, Function<Pointer, T> call) {
    Pointer options = LIB.TF_NewSessionOptions();
    try {
      LIB.TF_SetTarget(options, target);
      if (config != null && config.length > 0) {
        Status.run(s -> LIB.TF_SetConfig(options, config, config.length, s));
      }
      return call.apply(options);
    } finally {
      LIB.TF_DeleteSessionOptions(options);
    }
  }

  /** Waits for the steps that run and ends the session. */
  @Override
  public void close() {
    steps.writeLock().lock();
    try {
      handle.close();
    } finally {
      steps.writeLock().unlock();
    }
  }

  /** Starts to describe a step. */
  public Runner runner() {
    return new Runner();
  }

  /** The devices that the session can use. */
  public List<Device> devices() {
    return step(
        () -> {
          Pointer list = Status.call(s -> LIB.TF_SessionListDevices(handle.get(), s));
          try {
            List<Device> found = new ArrayList<>();
            for (int i = 0; i < LIB.TF_DeviceListCount(list); i++) {
              int at = i;
              found.add(
                  new Device(
                      Status.call(s -> LIB.TF_DeviceListName(list, at, s)),
                      Status.call(s -> LIB.TF_DeviceListType(list, at, s)),
                      Status.call(s -> LIB.TF_DeviceListMemoryBytes(list, at, s))));
            }
            return found;
          } finally {
            LIB.TF_DeleteDeviceList(list);
          }
        });
  }

  private <T> T step(Supplier<T> call) {
    steps.readLock().lock();
    try {
      return call.get();
    } finally {
      steps.readLock().unlock();
      Reference.reachabilityFence(this);
    }
  }

  /** A step that runs in parts; of {@link Runner#partialRun}. */
  public final class PartialRun {
    private final Handle part;

    private PartialRun(Pointer part) {
      this.part = new Handle("PartialRun", part, LIB::TF_DeletePRunHandle);
    }

    /** Starts to describe a part. */
    public Runner runner() {
      Runner runner = new Runner();
      runner.partial = this;
      return runner;
    }
  }

  /** Describes a step: what is fed, what is fetched, what else is run. */
  public final class Runner {
    private final List<Output<?>> inputs = new ArrayList<>();
    private final List<Tensor<?>> inputTensors = new ArrayList<>();
    private final List<Output<?>> outputs = new ArrayList<>();
    private final List<Operation> targets = new ArrayList<>();
    private PartialRun partial;
    private byte[] options;

    /** Feeds an output, by a name as "x" or "x:1". */
    public Runner feed(String name, Tensor<?> tensor) {
      return feed(parse(name), tensor);
    }

    public Runner feed(String operation, int index, Tensor<?> tensor) {
      return feed(named(operation).output(index), tensor);
    }

    public Runner feed(Operand<?> operand, Tensor<?> tensor) {
      inputs.add(operand.asOutput());
      inputTensors.add(tensor);
      return this;
    }

    /** Fetches an output, by a name as "y" or "y:1". */
    public Runner fetch(String name) {
      return fetch(parse(name));
    }

    public Runner fetch(String operation, int index) {
      return fetch(named(operation).output(index));
    }

    public Runner fetch(Operand<?> operand) {
      outputs.add(operand.asOutput());
      return this;
    }

    /** Runs an operation whose outputs nobody wants. */
    public Runner addTarget(String operation) {
      return addTarget(named(operation));
    }

    public Runner addTarget(Operation operation) {
      targets.add(operation);
      return this;
    }

    public Runner addTarget(Operand<?> operand) {
      return addTarget(operand.asOutput().op());
    }

    /** Takes a serialized RunOptions. */
    public Runner setOptions(byte[] options) {
      this.options = options;
      return this;
    }

    /** Runs the step; the results are closed by the caller. */
    public List<Tensor<?>> run() {
      return run(false).outputs;
    }

    public Run runAndFetchMetadata() {
      return run(true);
    }

    /**
     * Begins a step that runs in parts, of which this says all that they will feed, fetch and run.
     * A tensor may be null here.
     */
    public PartialRun partialRun() {
      PointerByReference found = new PointerByReference();
      Memory in = Output.pack(inputs);
      Memory out = Output.pack(outputs);
      Pointer[] ops = Operation.handles(targets);
      return step(
          () -> {
            Status.run(
                s ->
                    LIB.TF_SessionPRunSetup(
                        handle.get(), in, inputs.size(), out, outputs.size(), ops, ops.length, found,
                        s));
            return new PartialRun(found.getValue());
          });
    }

    private Run run(boolean withMetadata) {
      Memory in = Output.pack(inputs);
      Memory out = Output.pack(outputs);
      Pointer[] values = inputTensors.stream().map(Tensor::handle).toArray(Pointer[]::new);
      Pointer[] results = new Pointer[outputs.size()];
      Pointer[] ops = Operation.handles(targets);
      Pointer runOptions =
          options == null ? null : LIB.TF_NewBufferFromString(options, options.length);
      Pointer metadata = withMetadata ? LIB.TF_NewBuffer() : null;
      try {
        step(() -> {
              Status.run(s -> call(in, values, out, results, ops, runOptions, metadata, s));
              return null;
            });
        Run run = new Run();
        run.metadata = withMetadata ? Status.bytes(metadata) : null;
        run.outputs = new ArrayList<>();
        Arrays.stream(results).forEach(each -> run.outputs.add(new Tensor<>(each)));
        return run;
      } finally {
        Reference.reachabilityFence(inputTensors);
        if (runOptions != null) {
          LIB.TF_DeleteBuffer(runOptions);
        }
        if (metadata != null) {
          LIB.TF_DeleteBuffer(metadata);
        }
      }
    }

    private void call(
        Memory in, Pointer[] values, Memory out, Pointer[] results, Pointer[] ops, Pointer runOptions,
        Pointer metadata, Pointer status) {
      if (partial != null) {
        LIB.TF_SessionPRun(
            handle.get(), partial.part.get(), in, values, values.length, out, results,
            results.length, ops, ops.length, status);
      } else {
        LIB.TF_SessionRun(
            handle.get(), runOptions, in, values, values.length, out, results, results.length, ops,
            ops.length, metadata, status);
      }
    }

    private Operation named(String name) {
      Operation found = graph.operation(name);
      if (found == null) {
        throw new IllegalArgumentException("the graph has no operation " + name);
      }
      return found;
    }

    private Output<?> parse(String name) {
      int colon = name.lastIndexOf(':');
      if (colon > 0 && name.substring(colon + 1).matches("\\d+")) {
        return named(name.substring(0, colon)).output(Integer.parseInt(name.substring(colon + 1)));
      }
      return named(name).output(0);
    }
  }
}
