// TensorProtos and the values {dtype, shape, data} of the client.
const DTYPES = {
  float32: 1, float64: 2, int32: 3, uint8: 4, int16: 5, int8: 6, string: 7, int64: 9, bool: 10,
};
const NAMES = Object.fromEntries(Object.entries(DTYPES).map(([name, n]) => [n, name]));
const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array,
  int16: Int16Array, int8: Int8Array, int64: BigInt64Array, bool: Uint8Array,
};
const FIELDS = {
  float32: 'float_val', float64: 'double_val', int64: 'int64_val', bool: 'bool_val', string: 'string_val',
};

/** The number of a dtype. */
export const dtypeNumber = (name) => DTYPES[name];

/** A TensorProto of a value; data are elements in row-major order. */
export function encodeTensor({ dtype, shape, data }) {
  const proto = { dtype: DTYPES[dtype], tensor_shape: { dim: shape.map((size) => ({ size })) } };
  if (dtype === 'string') return { ...proto, string_val: Array.from(data, (text) => Buffer.from(text)) };
  const array = data instanceof ARRAYS[dtype] ? data : ARRAYS[dtype].from(data, dtype === 'int64' ? BigInt : Number);
  return { ...proto, tensor_content: Buffer.from(array.buffer, array.byteOffset, array.byteLength) };
}

// All lengths as varints, then all texts.
function packedStrings(bytes, count) {
  let at = 0;
  const lengths = Array.from({ length: count }, () => {
    let length = 0;
    for (let factor = 1; ; factor *= 128) {
      length += (bytes[at] % 128) * factor;
      if (bytes[at++] < 128) return length;
    }
  });
  return lengths.map((length) => Buffer.from(bytes.subarray(at, at += length)));
}

/** The value of a TensorProto, whose elements lie in its content or in a field. */
export function decodeTensor(proto) {
  const dtype = NAMES[proto.dtype];
  const shape = (proto.tensor_shape?.dim ?? []).map(({ size }) => Number(size));
  const count = shape.reduce((a, b) => a * b, 1);
  if (proto.tensor_content?.length) {
    if (dtype === 'string') return { dtype, shape, data: packedStrings(proto.tensor_content, count) };
    return { dtype, shape, data: new ARRAYS[dtype](new Uint8Array(proto.tensor_content).buffer) };
  }
  const given = Array.from(proto[FIELDS[dtype] ?? 'int_val']);
  // The last element stands for all that follow.
  const list = Array.from({ length: count }, (_, i) => given[Math.min(i, given.length - 1)] ?? 0);
  if (dtype === 'string') return { dtype, shape, data: list.map((text) => Buffer.from(text || '')) };
  const convert = dtype === 'int64' ? (value) => BigInt(value.toString()) : Number;
  return { dtype, shape, data: ARRAYS[dtype].from(list, convert) };
}
