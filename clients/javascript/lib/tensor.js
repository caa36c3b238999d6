// Tensors: a dtype, a shape and the elements, and their way into the library and back.
import koffi from 'koffi';
import { bytesAt, tf } from './library.js';

/** TensorFlow's numbers of the dtypes. */
export const DTYPES = {
  float32: 1, float64: 2, int32: 3, uint8: 4, int16: 5, int8: 6, string: 7, complex64: 8,
  int64: 9, bool: 10, bfloat16: 14, uint16: 17, complex128: 18, float16: 19, resource: 20,
  variant: 21, uint32: 22, uint64: 23,
};
const NAMES = Object.fromEntries(Object.entries(DTYPES).map(([name, n]) => [n, name]));
const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array,
  int16: Int16Array, int8: Int8Array, int64: BigInt64Array, bool: Uint8Array,
  uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};
const TSTRING = 24;

/** A dtype's name by its number. */
export const dtypeName = (number) => NAMES[number];

/** An array of one dtype and shape. Elements of strings are Buffers. */
export class Tensor {
  /** Elements of a typed array, or a list; in row-major order. */
  constructor(dtype, shape, data) {
    const count = shape.reduce((a, b) => a * b, 1);
    if (data.length !== count) {
      throw new RangeError(`${data.length} elements for a tensor of shape [${shape}]`);
    }
    this.dtype = dtype;
    this.shape = shape;
    if (dtype === 'string') this.data = Array.from(data, (text) => Buffer.from(text));
    else if (data instanceof ARRAYS[dtype]) this.data = data;
    else this.data = ARRAYS[dtype].from(data, dtype.includes('int64') ? BigInt : Number);
  }

  /** A tensor of a number, string, boolean, or lists of them; float32 unless said. */
  static of(value, dtype) {
    const shape = [];
    for (let at = value; Array.isArray(at); at = at[0]) shape.push(at.length);
    const elements = shape.length ? value.flat(Infinity) : [value];
    const kinds = { string: 'string', boolean: 'bool', bigint: 'int64' };
    return new Tensor(dtype ?? kinds[typeof elements[0]] ?? 'float32', shape, elements);
  }

  /** A scalar, or lists as deep as the rank. Strings are text. */
  value() {
    let flat = Array.from(this.data);
    if (this.dtype === 'string') flat = flat.map(String);
    if (this.dtype === 'bool') flat = flat.map(Boolean);
    for (const size of this.shape.slice(1).reverse()) {
      flat = Array.from({ length: flat.length / (size || 1) }, (_, i) => (
        flat.slice(i * size, (i + 1) * size)));
    }
    return this.shape.length ? flat : flat[0];
  }
}

// How the elements of string tensors lie is known below alone. Up to TensorFlow 2.3 a
// tensor of n strings is n offsets of 8 bytes, and then each string after its length as a
// varint; later ones are arrays of TF_TString.
function hasTStrings() {
  const [major, minor] = tf.TF_Version().split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 4);
}

function varint(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function encodeStrings(texts) {
  const offsets = Buffer.alloc(8 * texts.length);
  const parts = [offsets];
  let at = 0;
  texts.forEach((text, i) => {
    offsets.writeBigUInt64LE(BigInt(at), 8 * i);
    const length = varint(text.length);
    parts.push(length, text);
    at += length.length + text.length;
  });
  return Buffer.concat(parts);
}

function decodeStrings(bytes, count) {
  return Array.from({ length: count }, (_, i) => {
    let at = 8 * count + Number(bytes.readBigUInt64LE(8 * i));
    let length = 0;
    for (let factor = 1; ; factor *= 128) {
      length += (bytes[at] % 128) * factor;
      if (bytes[at++] < 128) break;
    }
    return bytes.subarray(at, at + length);
  });
}

function fillTStrings(pointer, texts) {
  texts.forEach((text, i) => {
    const element = koffi.address(pointer) + BigInt(i * TSTRING);
    tf.TF_StringInit(element);
    tf.TF_StringCopy(element, text, text.length);
  });
}

function readTStrings(pointer, count) {
  return Array.from({ length: count }, (_, i) => {
    const element = koffi.address(pointer) + BigInt(i * TSTRING);
    return bytesAt(tf.TF_StringGetDataPointer(element), Number(tf.TF_StringGetSize(element)));
  });
}

/** A TF_Tensor with a copy of the elements; the caller deletes it. */
export function toNative(tensor) {
  const { dtype, shape, data } = tensor;
  const tstrings = dtype === 'string' && hasTStrings();
  let bytes = data;
  if (dtype === 'string') bytes = tstrings ? Buffer.alloc(TSTRING * data.length) : encodeStrings(data);
  const size = bytes.byteLength;
  const native = tf.TF_AllocateTensor(DTYPES[dtype], shape.map(BigInt), shape.length, size);
  if (size && tstrings) fillTStrings(tf.TF_TensorData(native), data);
  else if (size) {
    const from = new Uint8Array(bytes.buffer, bytes.byteOffset, size);
    new Uint8Array(koffi.view(tf.TF_TensorData(native), size)).set(from);
  }
  return native;
}

/** The Tensor of a TF_Tensor, which is deleted. */
export function fromNative(native) {
  const dtype = NAMES[tf.TF_TensorType(native)];
  const shape = Array.from({ length: tf.TF_NumDims(native) }, (_, i) => Number(tf.TF_Dim(native, i)));
  const count = shape.reduce((a, b) => a * b, 1);
  const size = Number(tf.TF_TensorByteSize(native));
  const pointer = tf.TF_TensorData(native);
  let data;
  if (dtype === 'string') {
    data = hasTStrings() ? readTStrings(pointer, count) : decodeStrings(bytesAt(pointer, size), count);
  } else {
    const bytes = bytesAt(pointer, size);
    data = new ARRAYS[dtype](new Uint8Array(bytes).buffer);
  }
  tf.TF_DeleteTensor(native);
  return new Tensor(dtype, shape, data);
}
