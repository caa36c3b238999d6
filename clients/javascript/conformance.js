// Runs the cases of clients/conformance: node conformance.js TABLE...
// Prints "ok NAME", "fail NAME: why" or "skip NAME: why".
import { readFileSync } from 'node:fs';
import {
  Graph, GraphFunction, loadSavedModel, registeredKernels, registeredOps, Session, Tensor,
  TensorFlowError,
} from './lib/index.js';

const isPeer = Boolean(process.env.CONFORMANCE_PEER);

function unescape(text) {
  const parts = text.split(/(%[0-9a-f]{2})/i);
  return Buffer.concat(parts.map((part) => (
    /^%[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))));
}

const list = (text, separator = ',') => (text ? text.split(separator) : []);
const show = (shape) => {
  if (shape === null) return 'unknown';
  return shape.length ? shape.map((size) => (size < 0 ? '?' : size)).join(',') : 'scalar';
};

function parseShape(text) {
  if (text === 'unknown') return null;
  if (text === 'scalar' || text === '') return [];
  return text.split(',').map((size) => (size === '?' ? -1 : Number(size)));
}

function literal(text) {
  const [, dtype, dims, values] = text.match(/^(\w+)\[(.*?)\]=(.*)$/s);
  const shape = parseShape(dims);
  const count = shape.reduce((a, b) => a * b, 1);
  const given = count ? values.split(',') : [];
  return { dtype, shape, values: given.length < count ? Array(count).fill(given[0]) : given };
}

function parseTensor(text) {
  const { dtype, shape, values } = literal(text);
  if (dtype === 'string') return new Tensor(dtype, shape, values.map(unescape));
  return new Tensor(dtype, shape, dtype === 'bool' ? values.map((v) => v === 'true') : values);
}

class Broken extends Error {}

function expect(what, got, expected) {
  if (String(got) !== String(expected)) throw new Broken(`${what} is ${got}, expected ${expected}`);
}

function near(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return a === b || Math.abs(a - b) <= 1e-5 + 1e-4 * Math.abs(b);
}

function expectTensor(what, got, text) {
  const { dtype, shape } = literal(text);
  const expected = parseTensor(text);
  expect(`the dtype of ${what}`, got.dtype, dtype);
  expect(`the shape of ${what}`, show(got.shape), show(shape));
  for (let i = 0; i < expected.data.length; i++) {
    const [a, b] = [got.data[i], expected.data[i]];
    const same = dtype === 'string' ? a.equals(b) : dtype.startsWith('float') ? near(a, b) : a === b;
    if (!same) throw new Broken(`element ${i} of ${what} is ${a}, expected ${b}`);
  }
}

function parseAttr(text) {
  const [, kind, value] = text.match(/^(\w+):(.*)$/s);
  const plain = kind.replace(/s$/, '');
  const one = {
    int: BigInt, float: Number, bool: (v) => v === 'true', type: (v) => v, string: unescape,
    shape: parseShape, tensor: parseTensor, func: (v) => v, proto: unescape,
  }[plain];
  if (kind === plain) return [kind, one(value)];
  return [`list(${plain})`, list(value, plain === 'shape' ? ';' : ',').map(one)];
}

const shown = (value) => {
  if (Array.isArray(value)) return `[${value.map(shown)}]`;
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
};

const splitName = (reference) => {
  const at = reference.lastIndexOf(':');
  return at < 0 ? [reference, 0] : [reference.slice(0, at), Number(reference.slice(at + 1))];
};

/** What the steps of a case share, and a method a step. */
class World {
  constructor() {
    this.current = new Graph();
    this.graphs = { main: this.current };
    this.aliases = new Map();
    this.made = {};
  }

  operation(name) {
    const found = this.current.operation(name);
    if (!found) throw new Broken(`the graph has no operation "${name}"`);
    return found;
  }

  output(reference) {
    const alias = this.aliases.get(this.current)?.[reference];
    if (alias) return alias;
    const [name, index] = splitName(reference);
    return this.operation(name).output(index);
  }

  outputs(text) { return list(text).map((reference) => this.output(reference)); }

  alias(name, outputs) {
    if (!this.aliases.has(this.current)) this.aliases.set(this.current, {});
    outputs.forEach((output, i) => { this.aliases.get(this.current)[`${name}:${i}`] = output; });
  }

  op([type, name, ...words]) {
    const spec = { type, name, inputs: [], attrs: {}, controls: [], colocate: [] };
    for (const word of words) {
      const equals = word.indexOf('=');
      if (word[0] === '[') spec.inputs.push(this.outputs(word.slice(1, -1)));
      else if (word[0] === '^') spec.controls.push(this.operation(word.slice(1)));
      else if (word[0] === '@') spec.device = word.slice(1);
      else if (word[0] === '~') spec.colocate.push(this.operation(word.slice(1)));
      else if (equals > 0) spec.attrs[word.slice(0, equals)] = parseAttr(word.slice(equals + 1));
      else spec.inputs.push(this.output(word));
    }
    this.current.addOperation(spec);
  }

  'graph'([name]) { this.current = this.graphs[name] ??= new Graph(); }
  'set-shape'([output, shape]) { this.output(output).shape = parseShape(shape); }
  'shape'([output, shape]) { expect('the shape', show(this.output(output).shape), shape); }
  'dtype'([output, dtype]) { expect('the dtype', this.output(output).dtype, dtype); }

  'op-info'([name, ...words]) {
    const op = this.operation(name);
    const given = options(words);
    const looks = {
      type: op.type, device: op.device, inputs: op.numInputs, outputs: op.numOutputs,
      controls: op.controlInputs().map((o) => o.name), followers: op.controlOutputs().map((o) => o.name),
    };
    for (const key of Object.keys(given)) expect(key, looks[key], given[key]);
  }

  'input'([reference, expected]) {
    const [name, index] = splitName(reference);
    expect('the input', this.operation(name).input(index).name, expected);
  }

  'consumers'([output, expected = '']) {
    const found = this.output(output).consumers().map(({ op, index }) => `${op.name}:${index}`);
    expect('the consumers', found, expected);
  }

  'list-length'([name, side, arg, length]) {
    const op = this.operation(name);
    const got = side === 'in' ? op.inputListLength(arg) : op.outputListLength(arg);
    if (length) expect('the length', got, length);
  }

  'ops'([expected = '']) {
    expect('the operations', this.current.operations().map((op) => op.name), expected);
  }

  'attr'([name, attr, text]) {
    const [kind, got] = this.operation(name).attr(attr);
    if (!text) return;
    if (kind === 'tensor') return expectTensor(attr, got, text.slice('tensor:'.length));
    const [expectedKind, expected] = parseAttr(text);
    expect('the kind', kind, expectedKind);
    // An empty string is no field of the message.
    expect(attr, shown(got === undefined ? '' : got), shown(expected));
  }

  'metadata'([name, attr, ...expected]) {
    const got = this.operation(name).attrMetadata(attr);
    const found = [Number(got.isList), got.listSize, got.type, got.totalSize];
    expected.forEach((text, i) => { if (text !== '-') expect('the metadata', found[i], text); });
  }

  'contains'([what, name, text]) {
    const data = {
      'graph-def': () => this.current.graphDef(), 'node-def': () => this.operation(name).nodeDef(),
      'op-def': () => this.current.opDef(name), 'function-def': () => this.made[name].def(),
      'op-list': () => registeredOps(), kernels: () => registeredKernels(name),
    }[what]();
    if (!data.includes(unescape(text))) throw new Broken(`${what} ${name} has no bytes "${text}"`);
  }

  'constant'([output, text]) {
    const got = this.current.constantValue(this.output(output));
    if (text === 'none' || !got) expect('known', got !== null, text !== 'none');
    else expectTensor(output, got, text);
  }

  'import'([source, ...words]) {
    const given = options(words);
    const pairs = (text) => list(text).map((pair) => pair.split('>'));
    const found = this.current.importGraphDef(this.graphs[source].graphDef(), {
      prefix: given.prefix, device: given.device, uniquifyNames: 'uniquify' in given,
      inputMap: pairs(given.map).map(([from, to]) => [...splitName(from), this.output(to)]),
      controlMap: pairs(given['control-map']).map(([from, to]) => [from, this.operation(to)]),
      controlDependencies: list(given.depend).map((name) => this.operation(name)),
      returnOutputs: list(given.return).map(splitName),
      returnOperations: list(given['return-ops']),
    });
    const results = [...found.outputs, ...found.operations.map((op) => op.output(0))];
    if (given.alias) this.alias(given.alias, results);
    expect('the unused mappings', found.unusedInputMap.map(([name, i]) => `${name}:${i}`), given.missing ?? '');
  }

  'import-bytes'([text]) { this.current.importGraphDef(unescape(text)); }

  'gradients'([name, ys, xs, ...words]) {
    const { prefix } = options(words);
    const dys = words[0] && !words[0].includes('=') ? this.outputs(words[0]) : [];
    this.alias(name, this.current.addGradients(this.outputs(ys), this.outputs(xs), dys, prefix ?? null));
  }

  'function'([name, ...words]) {
    const given = options(words);
    this.made[name] = this.current.toFunction({
      name, inputs: this.outputs(given.inputs), outputs: this.outputs(given.outputs),
      outputNames: list(given.names),
      body: 'ops' in given ? list(given.ops).map((op) => this.operation(op)) : null,
    });
    expect("the function's name", this.made[name].name, name);
  }

  'copy-function'([name]) { this.current.copyFunction(this.made[name]); }
  'reread-function'([old, name]) { this.made[name] = GraphFunction.read(this.made[old].def()); }

  'functions'([expected = '']) {
    expect('the functions', this.current.functions().map((f) => f.name).sort(), expected);
  }

  /** The steps of a loop, taken when all are known. */
  finishLoop({ name, variables, condition, body }, ends) {
    const outer = this.current;
    const part = (steps, end) => (graph, inner) => {
      this.current = graph;
      try {
        this.alias('in', inner);
        for (const step of steps) takeNow(this, step);
        return this.outputs(end);
      } finally {
        this.current = outer;
      }
    };
    const last = condition.pop().split(' ')[1];
    const results = outer.while(name, variables, (g, v) => part(condition, last)(g, v)[0], part(body, ends));
    this.alias(name, results);
  }

  'session'(words) { this.session = new Session(this.current, options(words)); }
  'close'() { this.session.close(); }

  'load'([directory, tags, text]) {
    const model = loadSavedModel(directory.startsWith('$') ? process.env[directory.slice(1)] : directory, list(tags));
    Object.assign(this, { current: model.graph, session: model.session });
    if (text && !model.metaGraphDef.includes(text)) throw new Broken(`no bytes "${text}"`);
  }

  'devices'([type]) {
    const found = this.session.listDevices().some((d) => d.type === type && d.name.includes('/device:'));
    if (!found) throw new Broken(`no device of type ${type}`);
  }

  tokens(words) {
    const run = { feeds: [], fetches: [], targets: [], expected: [] };
    for (const word of words) {
      const at = word.search(/[<>]/);
      if (word[0] === '!') run.targets.push(this.operation(word.slice(1)));
      else if (word[at] === '<') {
        const text = word.slice(at + 1);
        run.feeds.push([this.output(word.slice(0, at)), text && parseTensor(text)]);
      } else {
        run.fetches.push(this.output(word.slice(0, at)));
        run.expected.push(word.slice(at + 1));
      }
    }
    return run;
  }

  check(run, results) {
    results.forEach((result, i) => {
      if (run.expected[i]) expectTensor(run.fetches[i].name, result, run.expected[i]);
    });
  }

  async 'run'(words) {
    const run = this.tokens(words);
    this.check(run, await this.session.run(run.feeds, run.fetches, run.targets));
  }

  'partial-setup'(words) {
    const run = this.tokens(words);
    this.partial = this.session.partialRun(run.feeds.map(([o]) => o), run.fetches, run.targets);
  }

  async 'partial-run'(words) {
    const run = this.tokens(words);
    this.check(run, await this.partial.run(run.feeds, run.fetches, run.targets));
  }

  async 'threads'([count, repeats, ...words]) {
    await Promise.all(Array.from({ length: Number(count) }, async () => {
      for (let i = 0; i < Number(repeats); i++) await this.run(words);
    }));
  }
}

function options(words) {
  return Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => {
    const equals = word.indexOf('=');
    return [word.slice(0, equals), word.slice(equals + 1)];
  }));
}

/** Takes a step outside of loops; a promise for those that run a session. */
function takeNow(world, line) {
  const [verb, ...words] = line.split(' ');
  if (!(verb in world)) throw new Broken(`no step "${verb}"`);
  return world[verb](words);
}

async function dispatch(world, line) {
  const [verb, ...words] = line.split(' ');
  const loop = world.loop;
  if (verb === 'while') {
    world.loop = { name: words[0], variables: world.outputs(words[1]), condition: [], body: null };
  } else if (!loop) await takeNow(world, line);
  else if (verb === 'while-body' || verb === 'while-abort') {
    world.loop = null;
    if (verb === 'while-body') return world.finishLoop(loop, words[0]);
    const stop = new Error('stop');
    try {
      world.current.while(loop.name, loop.variables, () => { throw stop; });
    } catch (error) {
      expect("the loop's error", error, stop);
    }
  } else if (loop.body) loop.body.push(line);
  else {
    loop.condition.push(line);
    if (verb === 'while-cond') loop.body = [];
  }
  return undefined;
}

async function take(world, line) {
  const [, expected = 'OK', step] = line.match(/^(?:fails (\S+) )?(.*)$/s);
  let code = 'OK';
  let message = '';
  try {
    await dispatch(world, step);
  } catch (error) {
    if (!(error instanceof TensorFlowError)) throw error;
    ({ code, message } = error);
  }
  if (code !== expected) throw new Broken(`${code}, expected ${expected}: ${message}`);
}

async function runCase(header, steps) {
  const [, name, only] = header.split(' ');
  if (only && isPeer) return console.log(`skip ${name}: of tensorloom alone`);
  const world = new World();
  try {
    for (const step of steps) await take(world, step);
    console.log(`ok ${name}`);
  } catch (error) {
    const lacking = isPeer && error.message.includes('No gradient defined');
    console.log(`${lacking ? 'skip' : 'fail'} ${name}: ${error.message.replaceAll('\n', ' ')}`);
    if (!lacking) process.exitCode = 1;
  }
  return undefined;
}

for (const path of process.argv.slice(2)) {
  const lines = readFileSync(path, 'utf8').split('\n').map((line) => line.trim());
  const cases = [];
  for (const line of lines) {
    if (line.startsWith('case ')) cases.push([line, []]);
    else if (line && line[0] !== '#') cases.at(-1)[1].push(line);
  }
  for (const [header, steps] of cases) await runCase(header, steps);
}
