// Graphs, operations, outputs, functions and loops.
import koffi from 'koffi';
import { attrMetadata, getAttr, setAttr } from './attrs.js';
import { checked, cleaner, filled, takeBuffer, tf, TF_Output } from './library.js';
import { dtypeName, fromNative } from './tensor.js';

const cOutput = (output) => ({ oper: output.op.pointer, index: output.index });
const blanks = (n) => Array(Math.max(n, 1)).fill(null);

/** A tensor that an operation makes in each step. */
export class Output {
  constructor(op, index) {
    this.op = op;
    this.index = index;
  }

  get name() { return `${this.op.name}:${this.index}`; }

  get dtype() { return dtypeName(tf.TF_OperationOutputType(cOutput(this))); }

  /** What is known of the shape: null, or sizes of which -1 is unknown. */
  get shape() {
    const graph = this.op.graph.pointer;
    const rank = checked((s) => tf.TF_GraphGetTensorNumDims(graph, cOutput(this), s));
    if (rank < 0) return null;
    const dims = Array(rank).fill(0);
    if (rank) checked((s) => tf.TF_GraphGetTensorShape(graph, cOutput(this), dims, rank, s));
    return dims.map(Number);
  }

  set shape(shape) {
    checked((s) => tf.TF_GraphSetTensorShape(
      this.op.graph.pointer, cOutput(this), (shape ?? []).map(BigInt), shape ? shape.length : -1, s));
  }

  /** The inputs that take the tensor: operations and indices. */
  consumers() {
    const n = tf.TF_OperationOutputNumConsumers(cOutput(this));
    const found = Array.from({ length: n }, () => ({ oper: null, index: 0 }));
    if (n) tf.TF_OperationOutputConsumers(cOutput(this), found, n);
    return found.map((input) => ({ op: new Operation(this.op.graph, input.oper), index: input.index }));
  }
}

/** A node of a graph. */
export class Operation {
  constructor(graph, pointer) {
    this.graph = graph;
    this.pointer = pointer;
  }

  get name() { return tf.TF_OperationName(this.pointer); }
  get type() { return tf.TF_OperationOpType(this.pointer); }
  get device() { return tf.TF_OperationDevice(this.pointer); }
  get numInputs() { return tf.TF_OperationNumInputs(this.pointer); }
  get numOutputs() { return tf.TF_OperationNumOutputs(this.pointer); }

  output(index) { return new Output(this, index); }

  /** The output behind an input. */
  input(index) {
    return this.graph.wrap(tf.TF_OperationInput({ oper: this.pointer, index }));
  }

  /** Length of an input by its name in the definition. */
  inputListLength(name) {
    return checked((s) => tf.TF_OperationInputListLength(this.pointer, name, s));
  }

  /** Length of an output by its name in the definition. */
  outputListLength(name) {
    return checked((s) => tf.TF_OperationOutputListLength(this.pointer, name, s));
  }

  controlInputs() {
    const n = tf.TF_OperationNumControlInputs(this.pointer);
    const found = blanks(n);
    if (n) tf.TF_OperationGetControlInputs(this.pointer, found, n);
    return found.slice(0, n).map((pointer) => new Operation(this.graph, pointer));
  }

  controlOutputs() {
    const n = tf.TF_OperationNumControlOutputs(this.pointer);
    const found = blanks(n);
    if (n) tf.TF_OperationGetControlOutputs(this.pointer, found, n);
    return found.slice(0, n).map((pointer) => new Operation(this.graph, pointer));
  }

  /** [kind, value] of an attribute. */
  attr(name) { return getAttr(this.pointer, name); }
  attrMetadata(name) { return attrMetadata(this.pointer, name); }
  nodeDef() { return filled((b, s) => tf.TF_OperationToNodeDef(this.pointer, b, s)); }
}

/** A graph that operations of other graphs call. */
export class GraphFunction {
  constructor(pointer) {
    this.pointer = pointer;
    cleaner.register(this, () => tf.TF_DeleteFunction(pointer));
  }

  /** The function of a serialized FunctionDef. */
  static read(def) {
    return new GraphFunction(checked((s) => tf.TF_FunctionImportFunctionDef(def, def.length, s)));
  }

  get name() { return tf.TF_FunctionName(this.pointer); }
  def() { return filled((b, s) => tf.TF_FunctionToFunctionDef(this.pointer, b, s)); }
}

/** A graph of operations. */
export class Graph {
  constructor(pointer = null) {
    this.pointer = pointer ?? tf.TF_NewGraph();
    const mine = this.pointer;
    // The graphs of a loop are the loop's.
    if (!pointer) cleaner.register(this, () => tf.TF_DeleteGraph(mine));
  }

  wrap(output) { return new Output(new Operation(this, output.oper), output.index); }

  /** An operation by its name, or null. */
  operation(name) {
    const pointer = tf.TF_GraphOperationByName(this.pointer, name);
    return pointer ? new Operation(this, pointer) : null;
  }

  /** All operations, in the order in which they were added. */
  operations() {
    const found = [];
    const position = [0];
    for (;;) {
      const pointer = tf.TF_GraphNextOperation(this.pointer, position);
      if (!pointer) return found;
      found.push(new Operation(this, pointer));
    }
  }

  /**
   * Adds an operation.
   * @param inputs an Output, or a list of them for an input that is a list
   * @param attrs [kind, value] by name
   */
  addOperation({ type, name = type, inputs = [], attrs = {}, controls = [], colocate = [], device }) {
    const description = tf.TF_NewOperation(this.pointer, type, name);
    let problem;
    try {
      if (device) tf.TF_SetDevice(description, device);
      for (const input of inputs) {
        if (Array.isArray(input)) tf.TF_AddInputList(description, input.map(cOutput), input.length);
        else tf.TF_AddInput(description, cOutput(input));
      }
      for (const op of controls) tf.TF_AddControlInput(description, op.pointer);
      for (const op of colocate) tf.TF_ColocateWith(description, op.pointer);
      for (const [key, value] of Object.entries(attrs)) setAttr(description, key, value);
    } catch (error) {
      problem = error;
    }
    // Finishing frees the description, so it is done after an error too.
    const finish = () => checked((s) => tf.TF_FinishOperation(description, s));
    if (problem) {
      try { finish(); } catch { /* the first error is the cause */ }
      throw problem;
    }
    return new Operation(this, finish());
  }

  /** The serialized GraphDef. */
  graphDef() { return filled((b, s) => tf.TF_GraphToGraphDef(this.pointer, b, s)); }
  opDef(name) { return filled((b, s) => tf.TF_GraphGetOpDef(this.pointer, name, b, s)); }

  /** The Tensor of an output that no session is needed for, or null. */
  constantValue(output) {
    const found = [null];
    const known = checked((s) => (
      tf.TF_TryEvaluateConstant(this.pointer, cOutput(output), found, s)));
    return known ? fromNative(found[0]) : null;
  }

  /** Adds the nodes of a serialized GraphDef; maps are lists of [name, index, output]. */
  importGraphDef(def, {
    prefix = '', device, uniquifyNames = false, inputMap = [], controlMap = [],
    controlDependencies = [], returnOutputs = [], returnOperations = [],
  } = {}) {
    const options = tf.TF_NewImportGraphDefOptions();
    const buffer = def.length ? tf.TF_NewBufferFromString(def, def.length) : tf.TF_NewBuffer();
    try {
      tf.TF_ImportGraphDefOptionsSetPrefix(options, prefix);
      if (device) tf.TF_ImportGraphDefOptionsSetDefaultDevice(options, device);
      tf.TF_ImportGraphDefOptionsSetUniquifyNames(options, uniquifyNames ? 1 : 0);
      for (const [name, index, output] of inputMap) {
        tf.TF_ImportGraphDefOptionsAddInputMapping(options, name, index, cOutput(output));
      }
      for (const [name, op] of controlMap) {
        tf.TF_ImportGraphDefOptionsRemapControlDependency(options, name, op.pointer);
      }
      for (const op of controlDependencies) {
        tf.TF_ImportGraphDefOptionsAddControlDependency(options, op.pointer);
      }
      for (const [name, index] of returnOutputs) {
        tf.TF_ImportGraphDefOptionsAddReturnOutput(options, name, index);
      }
      for (const name of returnOperations) {
        tf.TF_ImportGraphDefOptionsAddReturnOperation(options, name);
      }
      return this.importResults(checked((s) => (
        tf.TF_GraphImportGraphDefWithResults(this.pointer, buffer, options, s))));
    } finally {
      tf.TF_DeleteImportGraphDefOptions(options);
      tf.TF_DeleteBuffer(buffer);
    }
  }

  importResults(results) {
    const n = [0];
    const list = [null];
    const more = [null];
    const read = (pointer, type) => (n[0] ? koffi.decode(pointer, koffi.array(type, n[0])) : []);
    tf.TF_ImportGraphDefResultsReturnOutputs(results, n, list);
    const outputs = Array.from(read(list[0], TF_Output), (output) => this.wrap(output));
    tf.TF_ImportGraphDefResultsReturnOperations(results, n, list);
    const operations = Array.from(read(list[0], 'void *'), (op) => new Operation(this, op));
    tf.TF_ImportGraphDefResultsMissingUnusedInputMappings(results, n, list, more);
    const names = Array.from(read(list[0], 'const char *'));
    const indices = Array.from(read(more[0], 'int'));
    tf.TF_DeleteImportGraphDefResults(results);
    return { outputs, operations, unusedInputMap: names.map((name, i) => [name, indices[i]]) };
  }

  /** Adds the derivatives of the sum of ys by each x; dys are ones when not given. */
  addGradients(ys, xs, dys = [], prefix = null) {
    if (dys.length && dys.length !== ys.length) throw new RangeError('a dy for each y');
    const found = xs.map(() => ({ oper: null, index: 0 }));
    checked((s) => tf.TF_AddGradientsWithPrefix(
      this.pointer, prefix, ys.map(cOutput), ys.length, xs.map(cOutput), xs.length,
      dys.length ? dys.map(cOutput) : null, s, found));
    return found.map((output) => this.wrap(output));
  }

  /** A function of the graph's operations, all when no body is given. */
  toFunction({ name, body = null, inputs = [], outputs = [], outputNames = null }) {
    return new GraphFunction(checked((s) => tf.TF_GraphToFunction(
      this.pointer, name, 0, body ? body.length : -1, body ? body.map((op) => op.pointer) : null,
      inputs.length, inputs.map(cOutput), outputs.length, outputs.map(cOutput),
      outputNames?.length ? outputNames : null, null, null, s)));
  }

  /** Makes a function known to the graph. */
  copyFunction(f) { checked((s) => tf.TF_GraphCopyFunction(this.pointer, f.pointer, null, s)); }

  functions() {
    const n = tf.TF_GraphNumFunctions(this.pointer);
    const found = blanks(n);
    if (n) checked((s) => tf.TF_GraphGetFunctions(this.pointer, found, n, s));
    return found.slice(0, n).map((pointer) => new GraphFunction(pointer));
  }

  /**
   * Adds a loop: as long as the condition's output is true, the body gives the variables
   * their next values. Both are functions of a graph and the variables in it.
   */
  while(name, variables, condition, body) {
    const n = variables.length;
    // The library reads the inputs once more when the loop is finished.
    const inputs = koffi.alloc(TF_Output, n);
    koffi.encode(inputs, koffi.array(TF_Output, n), variables.map(cOutput));
    const params = checked((s) => tf.TF_NewWhile(this.pointer, inputs, n, s));
    const part = (pointer, from, build) => {
      const graph = new Graph(pointer);
      const outputs = Array.from(koffi.decode(from, koffi.array(TF_Output, n)));
      return build(graph, outputs.map((output) => graph.wrap(output)));
    };
    try {
      params.cond_output = cOutput(part(params.cond_graph, params.cond_inputs, condition));
      const ends = part(params.body_graph, params.body_inputs, body);
      koffi.encode(params.body_outputs, koffi.array(TF_Output, n), ends.map(cOutput));
    } catch (error) {
      tf.TF_AbortWhile(params);
      throw error;
    }
    params.name = name;
    const found = variables.map(() => ({ oper: null, index: 0 }));
    checked((s) => tf.TF_FinishWhile(params, s, found));
    koffi.free(inputs);
    return found.map((output) => this.wrap(output));
  }
}

/** The serialized OpList of all operations. */
export const registeredOps = () => takeBuffer(tf.TF_GetAllOpList());

/** The serialized KernelList of one operation. */
export const registeredKernels = (op) => (
  takeBuffer(checked((s) => tf.TF_GetRegisteredKernelsForOp(op, s))));
