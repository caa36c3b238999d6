// A scope of names, to which the functions of ops.js add.
import { Graph } from './graph.js';
import { Tensor } from './tensor.js';

export class Scope {
  constructor(graph = new Graph()) {
    this.graph = graph;
    this.prefix = '';
    this.controls = [];
    this.device = undefined;
  }

  #with(changes) { return Object.assign(new Scope(this.graph), this, changes); }

  /** Puts a namespace before the names of what is added to it. */
  subScope(name) { return this.#with({ prefix: `${this.#unique(name)}/` }); }

  /** Runs what is added after these operations. */
  after(...operations) { return this.#with({ controls: [...this.controls, ...operations] }); }

  /** Places what is added. */
  on(device) { return this.#with({ device }); }

  #unique(name) {
    const taken = (text) => this.graph.operation(text) !== null || scopes(this.graph).has(text);
    let full = this.prefix + name;
    for (let i = 1; taken(full); i++) full = `${this.prefix}${name}_${i}`;
    scopes(this.graph).add(full);
    return full;
  }

  /** Adds an operation of a type, for the functions of ops.js. */
  add(type, inputs, attrs) {
    return this.graph.addOperation({
      type, name: this.#unique(type), inputs, attrs, controls: this.controls, device: this.device,
    });
  }

  /** A constant of a Tensor, or of a value that `Tensor.of` takes. */
  constant(value, dtype) {
    const tensor = value instanceof Tensor ? value : Tensor.of(value, dtype);
    return this.add('Const', [], { dtype: ['type', tensor.dtype], value: ['tensor', tensor] }).output(0);
  }

  /** The derivatives of the sum of ys by each x. */
  gradients(ys, xs, dys = []) {
    return this.graph.addGradients(ys, xs, dys, this.#unique('gradients'));
  }
}

const names = new WeakMap();

function scopes(graph) {
  if (!names.has(graph)) names.set(graph, new Set());
  return names.get(graph);
}

/** The outputs of an operation by the definition: one, a list, or several of both. */
export function results(op, outputs) {
  let at = 0;
  const found = outputs.map(([name, isList]) => {
    if (!isList) return op.output(at++);
    return Array.from({ length: op.outputListLength(name) }, () => op.output(at++));
  });
  if (!found.length) return op;
  return found.length === 1 ? found[0] : found;
}
