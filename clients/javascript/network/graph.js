// Nodes of a GraphDef, for a client that has no library to make them.
import { dtypeNumber, encodeTensor } from './tensor_proto.js';

/** A dtype as the value of an attribute. */
export const type = (name) => ({ type: dtypeNumber(name) });

/** A shape as the value of an attribute; -1 is an unknown size. */
export const shape = (sizes) => ({ shape: { dim: sizes.map((size) => ({ size })) } });

/** A text as the value of an attribute. */
export const text = (value) => ({ s: Buffer.from(value) });

/** A node; inputs are "NODE", "NODE:INDEX" or "^NODE", attrs AttrValues by name. */
export const node = (op, name, input = [], attr = {}) => ({ op, name, input, attr });

/** A constant of a value {dtype, shape, data}. */
export const constant = (name, value) => (
  node('Const', name, [], { dtype: type(value.dtype), value: { tensor: encodeTensor(value) } }));
