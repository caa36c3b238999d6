// The functions of the C API, in libtensorloom.so or another library of its names.
// TENSORLOOM_LIBRARY is the library's path, TENSORLOOM_LIB_DIR its folder.
import koffi from 'koffi';

function path() {
  if (process.env.TENSORLOOM_LIBRARY) return process.env.TENSORLOOM_LIBRARY;
  const folder = process.env.TENSORLOOM_LIB_DIR;
  return folder ? `${folder}/libtensorloom.so` : 'libtensorloom.so';
}

const library = koffi.load(path());
export const TF_Output = koffi.struct('TF_Output', { oper: 'void *', index: 'int' });
koffi.struct('TF_Input', { oper: 'void *', index: 'int' });
koffi.struct('TF_Buffer', { data: 'void *', length: 'size_t', data_deallocator: 'void *' });
koffi.struct('TF_AttrMetadata', {
  is_list: 'uchar', list_size: 'int64_t', type: 'int', total_size: 'int64_t',
});
koffi.struct('TF_WhileParams', {
  ninputs: 'int', cond_graph: 'void *', cond_inputs: 'void *', cond_output: 'TF_Output',
  body_graph: 'void *', body_inputs: 'void *', body_outputs: 'void *', name: 'const char *',
});

const loaded = {};

/** The function of a C declaration, looked up when it is first called. */
function declare(declaration) {
  const name = declaration.match(/(\w+)\(/)[1];
  const get = () => (loaded[name] ??= library.func(declaration));
  const call = (...args) => get()(...args);
  call.async = (...args) => new Promise((resolve, reject) => {
    get().async(...args, (error, result) => (error ? reject(error) : resolve(result)));
  });
  return call;
}

const declarations = `
const char *TF_Version()
void *TF_NewStatus()
void TF_DeleteStatus(void *s)
int TF_GetCode(void *s)
const char *TF_Message(void *s)
void *TF_NewBuffer()
void *TF_NewBufferFromString(void *data, size_t length)
void TF_DeleteBuffer(void *b)
TF_Buffer TF_GetBuffer(void *b)
void *TF_AllocateTensor(int dtype, int64_t *dims, int rank, size_t size)
void TF_DeleteTensor(void *t)
int TF_TensorType(void *t)
int TF_NumDims(void *t)
int64_t TF_Dim(void *t, int i)
size_t TF_TensorByteSize(void *t)
void *TF_TensorData(void *t)
void TF_StringInit(void *t)
void TF_StringCopy(void *t, void *text, size_t size)
size_t TF_StringGetSize(void *t)
void *TF_StringGetDataPointer(void *t)
void *TF_NewGraph()
void TF_DeleteGraph(void *g)
void *TF_NewOperation(void *g, const char *type, const char *name)
void TF_SetDevice(void *d, const char *device)
void TF_AddInput(void *d, TF_Output input)
void TF_AddInputList(void *d, TF_Output *inputs, int n)
void TF_AddControlInput(void *d, void *op)
void TF_ColocateWith(void *d, void *op)
void TF_SetAttrString(void *d, const char *name, void *value, size_t n)
void TF_SetAttrStringList(void *d, const char *name, void **values, size_t *lengths, int n)
void TF_SetAttrInt(void *d, const char *name, int64_t value)
void TF_SetAttrIntList(void *d, const char *name, int64_t *values, int n)
void TF_SetAttrFloat(void *d, const char *name, float value)
void TF_SetAttrFloatList(void *d, const char *name, float *values, int n)
void TF_SetAttrBool(void *d, const char *name, uchar value)
void TF_SetAttrBoolList(void *d, const char *name, uchar *values, int n)
void TF_SetAttrType(void *d, const char *name, int value)
void TF_SetAttrTypeList(void *d, const char *name, int *values, int n)
void TF_SetAttrFuncName(void *d, const char *name, const char *value, size_t n)
void TF_SetAttrShape(void *d, const char *name, int64_t *dims, int rank)
void TF_SetAttrShapeList(void *d, const char *name, void **dims, int *ranks, int n)
void TF_SetAttrTensor(void *d, const char *name, void *value, void *s)
void TF_SetAttrTensorList(void *d, const char *name, void **values, int n, void *s)
void TF_SetAttrValueProto(void *d, const char *name, void *data, size_t n, void *s)
void *TF_FinishOperation(void *d, void *s)
const char *TF_OperationName(void *op)
const char *TF_OperationOpType(void *op)
const char *TF_OperationDevice(void *op)
int TF_OperationNumOutputs(void *op)
int TF_OperationOutputType(TF_Output output)
int TF_OperationOutputListLength(void *op, const char *name, void *s)
int TF_OperationNumInputs(void *op)
int TF_OperationInputListLength(void *op, const char *name, void *s)
TF_Output TF_OperationInput(TF_Input input)
int TF_OperationOutputNumConsumers(TF_Output output)
int TF_OperationOutputConsumers(TF_Output output, _Out_ TF_Input *found, int n)
int TF_OperationNumControlInputs(void *op)
int TF_OperationGetControlInputs(void *op, _Out_ void **found, int n)
int TF_OperationNumControlOutputs(void *op)
int TF_OperationGetControlOutputs(void *op, _Out_ void **found, int n)
TF_AttrMetadata TF_OperationGetAttrMetadata(void *op, const char *name, void *s)
void TF_OperationGetAttrString(void *op, const char *name, void *value, size_t n, void *s)
void TF_OperationGetAttrValueProto(void *op, const char *name, void *b, void *s)
void TF_OperationGetAttrTensor(void *op, const char *name, _Out_ void **value, void *s)
void TF_OperationToNodeDef(void *op, void *b, void *s)
void *TF_GraphOperationByName(void *g, const char *name)
void *TF_GraphNextOperation(void *g, _Inout_ size_t *position)
void TF_GraphToGraphDef(void *g, void *b, void *s)
void TF_GraphGetOpDef(void *g, const char *name, void *b, void *s)
void TF_GraphSetTensorShape(void *g, TF_Output output, int64_t *dims, int rank, void *s)
int TF_GraphGetTensorNumDims(void *g, TF_Output output, void *s)
void TF_GraphGetTensorShape(void *g, TF_Output output, _Out_ int64_t *dims, int rank, void *s)
uchar TF_TryEvaluateConstant(void *g, TF_Output output, _Out_ void **result, void *s)
void *TF_NewImportGraphDefOptions()
void TF_DeleteImportGraphDefOptions(void *o)
void TF_ImportGraphDefOptionsSetPrefix(void *o, const char *prefix)
void TF_ImportGraphDefOptionsSetDefaultDevice(void *o, const char *device)
void TF_ImportGraphDefOptionsSetUniquifyNames(void *o, uchar yes)
void TF_ImportGraphDefOptionsAddInputMapping(void *o, const char *name, int i, TF_Output to)
void TF_ImportGraphDefOptionsRemapControlDependency(void *o, const char *name, void *op)
void TF_ImportGraphDefOptionsAddControlDependency(void *o, void *op)
void TF_ImportGraphDefOptionsAddReturnOutput(void *o, const char *name, int i)
void TF_ImportGraphDefOptionsAddReturnOperation(void *o, const char *name)
void *TF_GraphImportGraphDefWithResults(void *g, void *def, void *o, void *s)
void TF_DeleteImportGraphDefResults(void *r)
void TF_ImportGraphDefResultsReturnOutputs(void *r, _Out_ int *n, _Out_ void **outputs)
void TF_ImportGraphDefResultsReturnOperations(void *r, _Out_ int *n, _Out_ void **ops)
void TF_ImportGraphDefResultsMissingUnusedInputMappings(void *r, _Out_ int *n, _Out_ void **names, _Out_ void **indices)
void TF_AddGradientsWithPrefix(void *g, const char *prefix, TF_Output *y, int ny, TF_Output *x, int nx, TF_Output *dx, void *s, _Out_ TF_Output *dy)
void *TF_GraphToFunction(void *g, const char *name, uchar hash, int nops, void **ops, int nin, TF_Output *inputs, int nout, TF_Output *outputs, const char **names, void *o, const char *text, void *s)
const char *TF_FunctionName(void *f)
void TF_FunctionToFunctionDef(void *f, void *b, void *s)
void *TF_FunctionImportFunctionDef(void *data, size_t n, void *s)
void TF_DeleteFunction(void *f)
void TF_GraphCopyFunction(void *g, void *f, void *gradient, void *s)
int TF_GraphNumFunctions(void *g)
int TF_GraphGetFunctions(void *g, _Out_ void **found, int n, void *s)
TF_WhileParams TF_NewWhile(void *g, void *inputs, int n, void *s)
void TF_FinishWhile(TF_WhileParams *p, void *s, _Out_ TF_Output *outputs)
void TF_AbortWhile(TF_WhileParams *p)
void *TF_NewSessionOptions()
void TF_DeleteSessionOptions(void *o)
void TF_SetTarget(void *o, const char *target)
void TF_SetConfig(void *o, void *data, size_t n, void *s)
void *TF_NewSession(void *g, void *o, void *s)
void *TF_LoadSessionFromSavedModel(void *o, void *run, const char *directory, const char **tags, int n, void *g, void *meta, void *s)
void TF_CloseSession(void *session, void *s)
void TF_DeleteSession(void *session, void *s)
void TF_SessionRun(void *session, void *o, TF_Output *feeds, void **values, int nfeeds, TF_Output *fetches, _Out_ void **results, int nfetches, void **targets, int ntargets, void *meta, void *s)
void TF_SessionPRunSetup(void *session, TF_Output *feeds, int nfeeds, TF_Output *fetches, int nfetches, void **targets, int ntargets, _Out_ void **handle, void *s)
void TF_SessionPRun(void *session, void *handle, TF_Output *feeds, void **values, int nfeeds, TF_Output *fetches, _Out_ void **results, int nfetches, void **targets, int ntargets, void *s)
void TF_DeletePRunHandle(void *handle)
void *TF_SessionListDevices(void *session, void *s)
void TF_DeleteDeviceList(void *l)
int TF_DeviceListCount(void *l)
const char *TF_DeviceListName(void *l, int i, void *s)
const char *TF_DeviceListType(void *l, int i, void *s)
int64_t TF_DeviceListMemoryBytes(void *l, int i, void *s)
void *TF_GetAllOpList()
void *TF_GetRegisteredKernelsForOp(const char *name, void *s)
`;

/** Every function of the C API that the client calls, by its name. */
export const tf = Object.fromEntries(
  declarations.trim().split('\n').map((line) => [line.match(/(\w+)\(/)[1], declare(line)]),
);

const CODES = [
  'OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND',
  'ALREADY_EXISTS', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION',
  'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** What the library reports; `code` is TensorFlow's, such as "INVALID_ARGUMENT". */
export class TensorFlowError extends Error {
  constructor(code, message) {
    super(message);
    this.code = CODES[code];
  }
}

function raise(status) {
  const code = tf.TF_GetCode(status);
  if (code !== 0) throw new TensorFlowError(code, tf.TF_Message(status));
}

/** The result of a call that takes a status; its error is thrown. */
export function checked(call) {
  const status = tf.TF_NewStatus();
  try {
    const result = call(status);
    raise(status);
    return result;
  } finally {
    tf.TF_DeleteStatus(status);
  }
}

/** The same for a call that runs on a thread of its own. */
export async function checkedAsync(call) {
  const status = tf.TF_NewStatus();
  try {
    await call(status);
    raise(status);
  } finally {
    tf.TF_DeleteStatus(status);
  }
}

/** A copy of native memory. */
export function bytesAt(pointer, size) {
  return size ? Buffer.from(new Uint8Array(koffi.view(pointer, size)).slice()) : Buffer.alloc(0);
}

/** The bytes of a TF_Buffer, which is deleted. */
export function takeBuffer(buffer) {
  const { data, length } = tf.TF_GetBuffer(buffer);
  const bytes = bytesAt(data, Number(length));
  tf.TF_DeleteBuffer(buffer);
  return bytes;
}

/** The bytes that a call writes into a TF_Buffer. */
export function filled(call) {
  const buffer = tf.TF_NewBuffer();
  try {
    checked((status) => call(buffer, status));
  } catch (error) {
    tf.TF_DeleteBuffer(buffer);
    throw error;
  }
  return takeBuffer(buffer);
}

/** Frees native memory when its owner is gone. */
export const cleaner = new FinalizationRegistry((free) => free());

/** Version of the library, such as "1.15.0". */
export const version = () => tf.TF_Version();
