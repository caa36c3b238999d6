// Attributes of operations: a value and its kind, as ["int", 3] or ["list(type)", [...]].
import koffi from 'koffi';
import { checked, filled, tf } from './library.js';
import { DTYPES, dtypeName, fromNative, toNative } from './tensor.js';

const dims = (shape) => (shape ?? []).map(BigInt);
const rank = (shape) => (shape === null ? -1 : shape.length);

function native(array) {
  const memory = koffi.alloc('int64_t', Math.max(array.length, 1));
  koffi.encode(memory, koffi.array('int64_t', Math.max(array.length, 1)), array.length ? array : [0n]);
  return memory;
}

/** A field of a message in protobuf's wire format. */
function protoField(number, bytes) {
  const head = [(number << 3) | 2];
  let length = bytes.length;
  for (; length >= 128; length >>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), bytes]);
}

const SETTERS = {
  int: (op, name, value) => tf.TF_SetAttrInt(op, name, BigInt(value)),
  'list(int)': (op, name, list) => tf.TF_SetAttrIntList(op, name, list.map(BigInt), list.length),
  float: tf.TF_SetAttrFloat,
  'list(float)': (op, name, list) => tf.TF_SetAttrFloatList(op, name, list, list.length),
  bool: (op, name, value) => tf.TF_SetAttrBool(op, name, value ? 1 : 0),
  'list(bool)': (op, name, list) => tf.TF_SetAttrBoolList(op, name, list.map(Number), list.length),
  type: (op, name, value) => tf.TF_SetAttrType(op, name, DTYPES[value] ?? 0),
  'list(type)': (op, name, list) => (
    tf.TF_SetAttrTypeList(op, name, list.map((dtype) => DTYPES[dtype]), list.length)),
  string(op, name, value) {
    const text = Buffer.from(value);
    tf.TF_SetAttrString(op, name, text, text.length);
  },
  'list(string)'(op, name, list) {
    const texts = list.map((text) => Buffer.from(text));
    tf.TF_SetAttrStringList(op, name, texts, texts.map((text) => text.length), list.length);
  },
  shape: (op, name, shape) => tf.TF_SetAttrShape(op, name, dims(shape), rank(shape)),
  'list(shape)': (op, name, list) => (
    tf.TF_SetAttrShapeList(op, name, list.map((s) => native(dims(s))), list.map(rank), list.length)),
  func: (op, name, value) => tf.TF_SetAttrFuncName(op, name, value, Buffer.byteLength(value)),
  // The C API has lists of functions as AttrValues alone.
  'list(func)': (op, name, list) => {
    const functions = list.map((f) => protoField(9, protoField(1, Buffer.from(f))));
    SETTERS.proto(op, name, protoField(1, Buffer.concat(functions)));
  },
  proto: (op, name, bytes) => (
    checked((s) => tf.TF_SetAttrValueProto(op, name, bytes, bytes.length, s))),
  tensor(op, name, value) {
    const tensor = toNative(value);
    try {
      checked((s) => tf.TF_SetAttrTensor(op, name, tensor, s));
    } finally {
      tf.TF_DeleteTensor(tensor);
    }
  },
  'list(tensor)'(op, name, list) {
    const tensors = list.map(toNative);
    try {
      checked((s) => tf.TF_SetAttrTensorList(op, name, tensors, list.length, s));
    } finally {
      tensors.forEach((tensor) => tf.TF_DeleteTensor(tensor));
    }
  },
};

/** Sets an attribute of an operation that is being described. */
export function setAttr(description, name, [kind, value]) {
  if (!SETTERS[kind]) throw new TypeError(`attribute ${name}: no kind "${kind}"`);
  SETTERS[kind](description, name, value);
}

/** TF_AttrMetadata with numbers. */
export function attrMetadata(op, name) {
  const about = checked((s) => tf.TF_OperationGetAttrMetadata(op, name, s));
  return {
    isList: Boolean(about.is_list), listSize: Number(about.list_size),
    type: about.type, totalSize: Number(about.total_size),
  };
}

const KINDS = ['string', 'int', 'float', 'bool', 'type', 'shape', 'tensor', 'placeholder', 'func'];

/** The value of an attribute and its kind. Lists and numbers come from the AttrValue. */
export function getAttr(op, name) {
  const about = attrMetadata(op, name);
  const kind = about.isList ? `list(${KINDS[about.type]})` : KINDS[about.type];
  if (kind === 'tensor') {
    const found = [null];
    checked((s) => tf.TF_OperationGetAttrTensor(op, name, found, s));
    return [kind, fromNative(found[0])];
  }
  const value = readAttrValue(filled((b, s) => tf.TF_OperationGetAttrValueProto(op, name, b, s)));
  return [kind, about.isList ? value ?? [] : value];
}

// The fields of AttrValue and of its list are numbered alike: s=2 i=3 f=4 b=5 type=6
// shape=7. One reader of the wire format is shorter than a message for each.
function readAttrValue(bytes) {
  for (const [field, value] of fields(bytes)) {
    if (field === 1) return readList(value);
    return element(field, value);
  }
  return undefined;
}

function readList(bytes) {
  const list = [];
  for (const [field, value] of fields(bytes)) {
    if (Buffer.isBuffer(value) && [3, 4, 5, 6].includes(field)) list.push(...packed(field, value));
    else list.push(element(field, value));
  }
  return list;
}

function element(field, value) {
  if (field === 3) return BigInt.asIntN(64, value);
  if (field === 5) return value !== 0n;
  if (field === 6) return dtypeName(Number(value));
  if (field === 7) return readShape(value);
  return value;
}

function readShape(bytes) {
  const shape = [];
  for (const [field, value] of fields(bytes)) {
    if (field === 3 && value) return null;
    if (field === 2) {
      const sizes = [...fields(value)].filter(([inner]) => inner === 1);
      shape.push(sizes.length ? Number(BigInt.asIntN(64, sizes[0][1])) : 0);
    }
  }
  return shape;
}

function* packed(field, bytes) {
  for (let at = 0; at < bytes.length;) {
    if (field === 4) {
      yield bytes.readFloatLE(at);
      at += 4;
    } else {
      const [value, next] = readVarint(bytes, at);
      yield element(field, value);
      at = next;
    }
  }
}

function readVarint(bytes, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

function* fields(bytes) {
  for (let at = 0; at < bytes.length;) {
    let tag;
    let value;
    [tag, at] = readVarint(bytes, at);
    const wire = Number(tag & 7n);
    if (wire === 0) [value, at] = readVarint(bytes, at);
    else if (wire === 5) {
      value = bytes.readFloatLE(at);
      at += 4;
    } else {
      let length;
      [length, at] = readVarint(bytes, at);
      value = bytes.subarray(at, at + Number(length));
      at += Number(length);
    }
    yield [Number(tag >> 3n), value];
  }
}
