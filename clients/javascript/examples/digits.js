// Trains a perceptron on handwritten digits, with gradients and Adam: node digits.js FILE
// The file is of clients/conformance/digits_data.py. The program fails when less than 97 %
// of the digits that it has not seen are told apart.
import { readFileSync } from 'node:fs';
import { Scope, Session, Tensor } from '../lib/index.js';
import * as ops from '../lib/ops.js';

const [PIXELS, HIDDEN, CLASSES, BATCH, EPOCHS, UNSEEN] = [64, 64, 10, 100, 30, 297];

function read(path) {
  const { buffer, byteOffset, length } = readFileSync(path);
  const bytes = buffer.slice(byteOffset, byteOffset + length);
  const count = new Int32Array(bytes, 0, 1)[0];
  const images = new Float32Array(bytes, 4, count * PIXELS);
  return { count, images, labels: new Int32Array(bytes, 4 + 4 * count * PIXELS, count) };
}

/** A model and its training, in a graph of its own. */
class Model {
  constructor() {
    const s = new Scope();
    this.scope = s;
    this.learned = [];
    this.init = [];
    this.x = ops.Placeholder(s, { dtype: 'float32', shape: [-1, PIXELS] });
    this.y = ops.Placeholder(s, { dtype: 'int32', shape: [-1] });
    const layer = ops.Relu(s, this.dense(s.subScope('hidden'), this.x, PIXELS, HIDDEN));
    const logits = this.dense(s.subScope('logits'), layer, HIDDEN, CLASSES);
    const targets = ops.OneHot(s, this.y, s.constant(CLASSES, 'int32'), s.constant(1), s.constant(0));
    const first = s.constant([0], 'int32');
    const [each] = ops.SoftmaxCrossEntropyWithLogits(s, logits, targets);
    this.adam(s, ops.Mean(s, each, first));
    const best = ops.ArgMax(s, logits, s.constant(1, 'int32'), { output_type: 'int32' });
    this.accuracy = ops.Mean(s, ops.Cast(s, ops.Equal(s, best, this.y), { DstT: 'float32' }), first);
  }

  variable(s, initial, shape) {
    const name = `variable${this.init.length}`;
    const handle = ops.VarHandleOp(s, { dtype: 'float32', shape, shared_name: name });
    this.init.push(ops.AssignVariableOp(s, handle, initial));
    return { handle, shape, value: ops.ReadVariableOp(s, handle, { dtype: 'float32' }) };
  }

  dense(s, x, inputs, outputs) {
    const normal = ops.RandomStandardNormal(s, s.constant([inputs, outputs], 'int32'), {
      dtype: 'float32', seed: 1, seed2: inputs + outputs,
    });
    const weights = this.variable(s, ops.Mul(s, normal, s.constant(0.1)), [inputs, outputs]);
    const bias = this.variable(s, s.constant(Array(outputs).fill(0)), [outputs]);
    this.learned.push(weights, bias);
    return ops.BiasAdd(s, ops.MatMul(s, x, weights.value), bias.value);
  }

  adam(s, loss) {
    const beta1 = s.constant(0.9);
    const beta2 = s.constant(0.999);
    const powers = [this.variable(s, beta1, []), this.variable(s, beta2, [])];
    const gradients = s.gradients([loss], this.learned.map(({ value }) => value));
    const steps = this.learned.map(({ handle, shape }, i) => {
      const zeros = ops.Fill(s, s.constant(shape, 'int32'), s.constant(0));
      return ops.ResourceApplyAdam(
        s, handle, this.variable(s, zeros, shape).handle, this.variable(s, zeros, shape).handle,
        powers[0].value, powers[1].value, s.constant(0.005), beta1, beta2, s.constant(1e-8),
        gradients[i]);
    });
    const after = s.after(...steps);
    this.train = powers.map(({ handle, value }, i) => (
      ops.AssignVariableOp(after, handle, ops.Mul(after, value, [beta1, beta2][i]))));
  }
}

const { count, images, labels } = read(process.argv[2]);
const model = new Model();
const session = new Session(model.scope.graph);
const feed = (from, to) => [
  [model.x, new Tensor('float32', [to - from, PIXELS], images.slice(from * PIXELS, to * PIXELS))],
  [model.y, new Tensor('int32', [to - from], labels.slice(from, to))],
];
await session.run([], [], model.init);
for (let epoch = 0; epoch < EPOCHS; epoch++) {
  for (let at = 0; at + BATCH <= count - UNSEEN; at += BATCH) {
    await session.run(feed(at, at + BATCH), [], model.train);
  }
}
const [accuracy] = await session.run(feed(count - UNSEEN, count), [model.accuracy]);
console.log(`${(100 * accuracy.value()).toFixed(1)} % of ${UNSEEN} digits that it has not seen`);
session.close();
if (accuracy.value() < 0.97) process.exitCode = 1;
