export { Graph, GraphFunction, Operation, Output, registeredKernels, registeredOps } from './graph.js';
export { TensorFlowError, version } from './library.js';
export { Scope } from './scope.js';
export { loadSavedModel, Session } from './session.js';
export { DTYPES, Tensor } from './tensor.js';
