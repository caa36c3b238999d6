// Sessions. Steps run on threads of their own, so several can run at the same time.
import { Graph } from './graph.js';
import { checked, checkedAsync, cleaner, filled, tf } from './library.js';
import { fromNative, Tensor, toNative } from './tensor.js';

const cOutput = (output) => ({ oper: output.op.pointer, index: output.index });
const pointers = (operations) => operations.map((op) => op.pointer);

function newOptions({ target, config }) {
  const options = tf.TF_NewSessionOptions();
  if (target) tf.TF_SetTarget(options, target);
  if (config) checked((s) => tf.TF_SetConfig(options, config, config.length, s));
  return options;
}

/** Feeds as TF_Tensors, the step's results as Tensors. */
async function step(feeds, fetches, call) {
  const values = feeds.map(([, value]) => toNative(value instanceof Tensor ? value : Tensor.of(value)));
  const results = Array(Math.max(fetches.length, 1)).fill(null);
  try {
    await checkedAsync((s) => call(feeds.map(([output]) => cOutput(output)), values,
      fetches.map(cOutput), results, s));
  } finally {
    values.forEach((value) => tf.TF_DeleteTensor(value));
  }
  return results.slice(0, fetches.length).map(fromNative);
}

/** A step that runs in parts. */
class PartialRun {
  constructor(session, handle) {
    this.session = session;
    this.handle = handle;
    cleaner.register(this, () => tf.TF_DeletePRunHandle(handle));
  }

  /** Runs a part; as `Session.run`. */
  run(feeds, fetches, targets = []) {
    return step(feeds, fetches, (inputs, values, outputs, results, s) => tf.TF_SessionPRun.async(
      this.session.pointer, this.handle, inputs, values, inputs.length, outputs, results,
      outputs.length, pointers(targets), targets.length, s));
  }
}

/** Runs parts of a graph, which may grow. */
export class Session {
  /**
   * @param options target: of a master; config: a serialized ConfigProto
   */
  constructor(graph, options = {}, pointer = null) {
    this.graph = graph;
    this.pointer = pointer;
    if (!pointer) {
      const native = newOptions(options);
      try {
        this.pointer = checked((s) => tf.TF_NewSession(graph.pointer, native, s));
      } finally {
        tf.TF_DeleteSessionOptions(native);
      }
    }
    const mine = this.pointer;
    cleaner.register(this, () => checked((s) => tf.TF_DeleteSession(mine, s)));
  }

  /**
   * Runs one step.
   * @param feeds a list of [Output, Tensor or value]
   * @param fetches a list of Outputs
   * @param targets a list of Operations
   * @returns a promise of the fetches' Tensors
   */
  run(feeds, fetches, targets = []) {
    return step(feeds, fetches, (inputs, values, outputs, results, s) => tf.TF_SessionRun.async(
      this.pointer, null, inputs, values, inputs.length, outputs, results, outputs.length,
      pointers(targets), targets.length, null, s));
  }

  /** A step in parts, whose outputs and targets are said first. */
  partialRun(feeds, fetches, targets = []) {
    const handle = [null];
    checked((s) => tf.TF_SessionPRunSetup(
      this.pointer, feeds.map(cOutput), feeds.length, fetches.map(cOutput), fetches.length,
      pointers(targets), targets.length, handle, s));
    return new PartialRun(this, handle[0]);
  }

  /** The devices that the session can use. */
  listDevices() {
    const list = checked((s) => tf.TF_SessionListDevices(this.pointer, s));
    const devices = Array.from({ length: tf.TF_DeviceListCount(list) }, (_, i) => ({
      name: checked((s) => tf.TF_DeviceListName(list, i, s)),
      type: checked((s) => tf.TF_DeviceListType(list, i, s)),
      memoryBytes: Number(checked((s) => tf.TF_DeviceListMemoryBytes(list, i, s))),
    }));
    tf.TF_DeleteDeviceList(list);
    return devices;
  }

  /** Ends the session; steps fail from then on. */
  close() { checked((s) => tf.TF_CloseSession(this.pointer, s)); }
}

/** The graph of a SavedModel with exactly these tags, and a session with its variables. */
export function loadSavedModel(directory, tags, options = {}) {
  const graph = new Graph();
  const native = newOptions(options);
  let pointer;
  try {
    const metaGraphDef = filled((buffer, s) => {
      pointer = tf.TF_LoadSessionFromSavedModel(
        native, null, directory, tags, tags.length, graph.pointer, buffer, s);
    });
    return { graph, session: new Session(graph, {}, pointer), metaGraphDef };
  } finally {
    tf.TF_DeleteSessionOptions(native);
  }
}
