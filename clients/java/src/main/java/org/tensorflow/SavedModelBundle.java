package org.tensorflow;

import static org.tensorflow.CApi.LIB;

import com.sun.jna.Pointer;

/** A graph and a session with its variables, read from a SavedModel. */
public final class SavedModelBundle implements AutoCloseable {
  /** Says which graph of a directory to read, and how to run it. */
  public static final class Loader {
    private final String exportDir;
    private String[] tags = {};
    private byte[] config;
    private byte[] runOptions;

    private Loader(String exportDir) {
      this.exportDir = exportDir;
    }

    /** Takes the tags, which must be exactly those of the graph. */
    public Loader withTags(String... tags) {
      this.tags = tags;
      return this;
    }

    /** Takes a serialized ConfigProto of the session. */
    public Loader withConfigProto(byte[] config) {
      this.config = config;
      return this;
    }

    /** Takes a serialized RunOptions of the steps that initialize. */
    public Loader withRunOptions(byte[] options) {
      this.runOptions = options;
      return this;
    }

    public SavedModelBundle load() {
      Graph graph = new Graph();
      Pointer run =
          runOptions == null ? null : LIB.TF_NewBufferFromString(runOptions, runOptions.length);
      Pointer meta = LIB.TF_NewBuffer();
      try {
        Pointer session =
            Session.withOptions(
                "",
                config,
                options ->
                    Status.call(
                        s ->
                            LIB.TF_LoadSessionFromSavedModel(
                                options, run, exportDir, tags, tags.length, graph.handle(), meta, s)));
        return new SavedModelBundle(graph, new Session(session, graph), Status.bytes(meta));
      } catch (RuntimeException error) {
        graph.close();
        throw error;
      } finally {
        LIB.TF_DeleteBuffer(meta);
        if (run != null) {
          LIB.TF_DeleteBuffer(run);
        }
      }
    }
  }

  private final Graph graph;
  private final Session session;
  private final byte[] metaGraphDef;

  private SavedModelBundle(Graph graph, Session session, byte[] metaGraphDef) {
    this.graph = graph;
    this.session = session;
    this.metaGraphDef = metaGraphDef;
  }

  /** Reads the graph with exactly these tags. */
  public static SavedModelBundle load(String exportDir, String... tags) {
    return loader(exportDir).withTags(tags).load();
  }

  public static Loader loader(String exportDir) {
    return new Loader(exportDir);
  }

  /** The serialized MetaGraphDef; it has the signatures. */
  public byte[] metaGraphDef() {
    return metaGraphDef;
  }

  public Graph graph() {
    return graph;
  }

  public Session session() {
    return session;
  }

  @Override
  public void close() {
    session.close();
    graph.close();
  }
}
