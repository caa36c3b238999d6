//! The functions of tensorflow/c/c_api.h that this crate calls.
#![allow(non_camel_case_types, non_snake_case, missing_docs)]

use std::os::raw::{c_char, c_int, c_void};

macro_rules! opaque {
    ($($name:ident)*) => {
        $(#[repr(C)] pub struct $name { private: [u8; 0] })*
    };
}

opaque! {
    TF_Status TF_Tensor TF_Graph TF_Operation TF_OperationDescription TF_Session
    TF_SessionOptions TF_Function TF_ImportGraphDefOptions TF_ImportGraphDefResults
    TF_DeviceList TF_Library
}

#[repr(C)]
pub struct TF_Buffer {
    pub data: *const c_void,
    pub length: usize,
    pub deallocator: Option<unsafe extern "C" fn(*mut c_void, usize)>,
}

/// TF_Output, and TF_Input, which has the same members.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TF_Output {
    pub oper: *mut TF_Operation,
    pub index: c_int,
}

#[repr(C)]
pub struct TF_WhileParams {
    pub ninputs: c_int,
    pub cond_graph: *mut TF_Graph,
    pub cond_inputs: *const TF_Output,
    pub cond_output: TF_Output,
    pub body_graph: *mut TF_Graph,
    pub body_inputs: *const TF_Output,
    pub body_outputs: *mut TF_Output,
    pub name: *const c_char,
}

#[repr(C)]
pub struct TF_AttrMetadata {
    pub is_list: u8,
    pub list_size: i64,
    pub kind: c_int,
    pub total_size: i64,
}

pub type Text = *const c_char;
pub type Desc = *mut TF_OperationDescription;
pub type Op = *mut TF_Operation;
pub type S = *mut TF_Status;

extern "C" {
    pub fn TF_Version() -> Text;
    pub fn TF_NewStatus() -> S;
    pub fn TF_DeleteStatus(status: S);
    pub fn TF_GetCode(status: *const TF_Status) -> c_int;
    pub fn TF_Message(status: *const TF_Status) -> Text;
    pub fn TF_NewBuffer() -> *mut TF_Buffer;
    pub fn TF_NewBufferFromString(data: *const c_void, size: usize) -> *mut TF_Buffer;
    pub fn TF_DeleteBuffer(buffer: *mut TF_Buffer);

    pub fn TF_AllocateTensor(dtype: c_int, dims: *const i64, rank: c_int, size: usize) -> *mut TF_Tensor;
    pub fn TF_DeleteTensor(tensor: *mut TF_Tensor);
    pub fn TF_TensorType(tensor: *const TF_Tensor) -> c_int;
    pub fn TF_NumDims(tensor: *const TF_Tensor) -> c_int;
    pub fn TF_Dim(tensor: *const TF_Tensor, index: c_int) -> i64;
    pub fn TF_TensorByteSize(tensor: *const TF_Tensor) -> usize;
    pub fn TF_TensorData(tensor: *const TF_Tensor) -> *mut c_void;

    pub fn TF_NewGraph() -> *mut TF_Graph;
    pub fn TF_DeleteGraph(graph: *mut TF_Graph);
    pub fn TF_GraphSetTensorShape(graph: *mut TF_Graph, output: TF_Output, dims: *const i64, rank: c_int, status: S);
    pub fn TF_GraphGetTensorNumDims(graph: *mut TF_Graph, output: TF_Output, status: S) -> c_int;
    pub fn TF_GraphGetTensorShape(graph: *mut TF_Graph, output: TF_Output, dims: *mut i64, rank: c_int, status: S);
    pub fn TF_GraphOperationByName(graph: *mut TF_Graph, name: Text) -> Op;
    pub fn TF_GraphNextOperation(graph: *mut TF_Graph, position: *mut usize) -> Op;
    pub fn TF_GraphToGraphDef(graph: *mut TF_Graph, buffer: *mut TF_Buffer, status: S);
    pub fn TF_GraphGetOpDef(graph: *mut TF_Graph, name: Text, buffer: *mut TF_Buffer, status: S);
    pub fn TF_TryEvaluateConstant(graph: *mut TF_Graph, output: TF_Output, result: *mut *mut TF_Tensor, status: S) -> u8;
    pub fn TF_AddGradientsWithPrefix(
        graph: *mut TF_Graph, prefix: Text, y: *mut TF_Output, ny: c_int, x: *mut TF_Output, nx: c_int,
        dx: *mut TF_Output, status: S, dy: *mut TF_Output,
    );
    pub fn TF_NewWhile(graph: *mut TF_Graph, inputs: *mut TF_Output, count: c_int, status: S) -> TF_WhileParams;
    pub fn TF_FinishWhile(params: *const TF_WhileParams, status: S, outputs: *mut TF_Output);
    pub fn TF_AbortWhile(params: *const TF_WhileParams);

    pub fn TF_NewOperation(graph: *mut TF_Graph, kind: Text, name: Text) -> Desc;
    pub fn TF_SetDevice(desc: Desc, device: Text);
    pub fn TF_AddInput(desc: Desc, input: TF_Output);
    pub fn TF_AddInputList(desc: Desc, inputs: *const TF_Output, count: c_int);
    pub fn TF_AddControlInput(desc: Desc, op: Op);
    pub fn TF_ColocateWith(desc: Desc, op: Op);
    pub fn TF_SetAttrString(desc: Desc, name: Text, value: *const c_void, length: usize);
    pub fn TF_SetAttrStringList(desc: Desc, name: Text, values: *const *const c_void, lengths: *const usize, count: c_int);
    pub fn TF_SetAttrInt(desc: Desc, name: Text, value: i64);
    pub fn TF_SetAttrIntList(desc: Desc, name: Text, values: *const i64, count: c_int);
    pub fn TF_SetAttrFloat(desc: Desc, name: Text, value: f32);
    pub fn TF_SetAttrFloatList(desc: Desc, name: Text, values: *const f32, count: c_int);
    pub fn TF_SetAttrBool(desc: Desc, name: Text, value: u8);
    pub fn TF_SetAttrBoolList(desc: Desc, name: Text, values: *const u8, count: c_int);
    pub fn TF_SetAttrType(desc: Desc, name: Text, value: c_int);
    pub fn TF_SetAttrTypeList(desc: Desc, name: Text, values: *const c_int, count: c_int);
    pub fn TF_SetAttrFuncName(desc: Desc, name: Text, value: Text, length: usize);
    pub fn TF_SetAttrShape(desc: Desc, name: Text, dims: *const i64, rank: c_int);
    pub fn TF_SetAttrShapeList(desc: Desc, name: Text, dims: *const *const i64, ranks: *const c_int, count: c_int);
    pub fn TF_SetAttrTensor(desc: Desc, name: Text, value: *mut TF_Tensor, status: S);
    pub fn TF_SetAttrTensorList(desc: Desc, name: Text, values: *const *mut TF_Tensor, count: c_int, status: S);
    pub fn TF_SetAttrValueProto(desc: Desc, name: Text, data: *const c_void, size: usize, status: S);
    pub fn TF_FinishOperation(desc: Desc, status: S) -> Op;

    pub fn TF_OperationName(op: Op) -> Text;
    pub fn TF_OperationOpType(op: Op) -> Text;
    pub fn TF_OperationDevice(op: Op) -> Text;
    pub fn TF_OperationNumOutputs(op: Op) -> c_int;
    pub fn TF_OperationOutputType(output: TF_Output) -> c_int;
    pub fn TF_OperationOutputListLength(op: Op, name: Text, status: S) -> c_int;
    pub fn TF_OperationNumInputs(op: Op) -> c_int;
    pub fn TF_OperationInputListLength(op: Op, name: Text, status: S) -> c_int;
    pub fn TF_OperationInput(input: TF_Output) -> TF_Output;
    pub fn TF_OperationOutputNumConsumers(output: TF_Output) -> c_int;
    pub fn TF_OperationOutputConsumers(output: TF_Output, found: *mut TF_Output, max: c_int) -> c_int;
    pub fn TF_OperationNumControlInputs(op: Op) -> c_int;
    pub fn TF_OperationGetControlInputs(op: Op, found: *mut Op, max: c_int) -> c_int;
    pub fn TF_OperationNumControlOutputs(op: Op) -> c_int;
    pub fn TF_OperationGetControlOutputs(op: Op, found: *mut Op, max: c_int) -> c_int;
    pub fn TF_OperationToNodeDef(op: Op, buffer: *mut TF_Buffer, status: S);
    pub fn TF_OperationGetAttrMetadata(op: Op, name: Text, status: S) -> TF_AttrMetadata;
    pub fn TF_OperationGetAttrString(op: Op, name: Text, value: *mut c_void, size: usize, status: S);
    pub fn TF_OperationGetAttrStringList(
        op: Op, name: Text, values: *mut *mut c_void, lengths: *mut usize, max: c_int, storage: *mut c_void,
        size: usize, status: S,
    );
    pub fn TF_OperationGetAttrInt(op: Op, name: Text, value: *mut i64, status: S);
    pub fn TF_OperationGetAttrIntList(op: Op, name: Text, values: *mut i64, max: c_int, status: S);
    pub fn TF_OperationGetAttrFloat(op: Op, name: Text, value: *mut f32, status: S);
    pub fn TF_OperationGetAttrFloatList(op: Op, name: Text, values: *mut f32, max: c_int, status: S);
    pub fn TF_OperationGetAttrBool(op: Op, name: Text, value: *mut u8, status: S);
    pub fn TF_OperationGetAttrBoolList(op: Op, name: Text, values: *mut u8, max: c_int, status: S);
    pub fn TF_OperationGetAttrType(op: Op, name: Text, value: *mut c_int, status: S);
    pub fn TF_OperationGetAttrTypeList(op: Op, name: Text, values: *mut c_int, max: c_int, status: S);
    pub fn TF_OperationGetAttrShape(op: Op, name: Text, dims: *mut i64, rank: c_int, status: S);
    pub fn TF_OperationGetAttrShapeList(
        op: Op, name: Text, dims: *mut *mut i64, ranks: *mut c_int, count: c_int, storage: *mut i64, size: c_int,
        status: S,
    );
    pub fn TF_OperationGetAttrTensor(op: Op, name: Text, value: *mut *mut TF_Tensor, status: S);
    pub fn TF_OperationGetAttrTensorList(op: Op, name: Text, values: *mut *mut TF_Tensor, max: c_int, status: S);
    pub fn TF_OperationGetAttrValueProto(op: Op, name: Text, buffer: *mut TF_Buffer, status: S);

    pub fn TF_NewImportGraphDefOptions() -> *mut TF_ImportGraphDefOptions;
    pub fn TF_DeleteImportGraphDefOptions(options: *mut TF_ImportGraphDefOptions);
    pub fn TF_ImportGraphDefOptionsSetPrefix(options: *mut TF_ImportGraphDefOptions, prefix: Text);
    pub fn TF_ImportGraphDefOptionsSetDefaultDevice(options: *mut TF_ImportGraphDefOptions, device: Text);
    pub fn TF_ImportGraphDefOptionsSetUniquifyNames(options: *mut TF_ImportGraphDefOptions, yes: u8);
    pub fn TF_ImportGraphDefOptionsAddInputMapping(
        options: *mut TF_ImportGraphDefOptions, name: Text, index: c_int, output: TF_Output,
    );
    pub fn TF_ImportGraphDefOptionsRemapControlDependency(options: *mut TF_ImportGraphDefOptions, name: Text, op: Op);
    pub fn TF_ImportGraphDefOptionsAddControlDependency(options: *mut TF_ImportGraphDefOptions, op: Op);
    pub fn TF_ImportGraphDefOptionsAddReturnOutput(options: *mut TF_ImportGraphDefOptions, name: Text, index: c_int);
    pub fn TF_ImportGraphDefOptionsAddReturnOperation(options: *mut TF_ImportGraphDefOptions, name: Text);
    pub fn TF_GraphImportGraphDefWithResults(
        graph: *mut TF_Graph, def: *const TF_Buffer, options: *const TF_ImportGraphDefOptions, status: S,
    ) -> *mut TF_ImportGraphDefResults;
    pub fn TF_DeleteImportGraphDefResults(results: *mut TF_ImportGraphDefResults);
    pub fn TF_ImportGraphDefResultsReturnOutputs(
        results: *mut TF_ImportGraphDefResults, count: *mut c_int, outputs: *mut *mut TF_Output,
    );
    pub fn TF_ImportGraphDefResultsReturnOperations(
        results: *mut TF_ImportGraphDefResults, count: *mut c_int, operations: *mut *mut Op,
    );
    pub fn TF_ImportGraphDefResultsMissingUnusedInputMappings(
        results: *mut TF_ImportGraphDefResults, count: *mut c_int, names: *mut *mut Text, indices: *mut *mut c_int,
    );

    pub fn TF_GraphToFunction(
        body: *const TF_Graph, name: Text, hash: u8, op_count: c_int, ops: *const Op, input_count: c_int,
        inputs: *const TF_Output, output_count: c_int, outputs: *const TF_Output, names: *const Text,
        options: *const c_void, description: Text, status: S,
    ) -> *mut TF_Function;
    pub fn TF_FunctionImportFunctionDef(def: *const c_void, size: usize, status: S) -> *mut TF_Function;
    pub fn TF_FunctionName(function: *mut TF_Function) -> Text;
    pub fn TF_FunctionToFunctionDef(function: *mut TF_Function, buffer: *mut TF_Buffer, status: S);
    pub fn TF_DeleteFunction(function: *mut TF_Function);
    pub fn TF_GraphCopyFunction(graph: *mut TF_Graph, function: *const TF_Function, gradient: *const TF_Function, status: S);
    pub fn TF_GraphNumFunctions(graph: *mut TF_Graph) -> c_int;
    pub fn TF_GraphGetFunctions(graph: *mut TF_Graph, found: *mut *mut TF_Function, max: c_int, status: S) -> c_int;

    pub fn TF_NewSessionOptions() -> *mut TF_SessionOptions;
    pub fn TF_DeleteSessionOptions(options: *mut TF_SessionOptions);
    pub fn TF_SetTarget(options: *mut TF_SessionOptions, target: Text);
    pub fn TF_SetConfig(options: *mut TF_SessionOptions, config: *const c_void, size: usize, status: S);
    pub fn TF_NewSession(graph: *mut TF_Graph, options: *const TF_SessionOptions, status: S) -> *mut TF_Session;
    pub fn TF_LoadSessionFromSavedModel(
        options: *const TF_SessionOptions, run_options: *const TF_Buffer, directory: Text, tags: *const Text,
        tag_count: c_int, graph: *mut TF_Graph, meta_graph: *mut TF_Buffer, status: S,
    ) -> *mut TF_Session;
    pub fn TF_CloseSession(session: *mut TF_Session, status: S);
    pub fn TF_DeleteSession(session: *mut TF_Session, status: S);
    pub fn TF_SessionRun(
        session: *mut TF_Session, run_options: *const TF_Buffer, inputs: *const TF_Output,
        input_values: *const *mut TF_Tensor, input_count: c_int, outputs: *const TF_Output,
        output_values: *mut *mut TF_Tensor, output_count: c_int, targets: *const Op, target_count: c_int,
        metadata: *mut TF_Buffer, status: S,
    );
    pub fn TF_SessionPRunSetup(
        session: *mut TF_Session, inputs: *const TF_Output, input_count: c_int, outputs: *const TF_Output,
        output_count: c_int, targets: *const Op, target_count: c_int, handle: *mut Text, status: S,
    );
    pub fn TF_SessionPRun(
        session: *mut TF_Session, handle: Text, inputs: *const TF_Output, input_values: *const *mut TF_Tensor,
        input_count: c_int, outputs: *const TF_Output, output_values: *mut *mut TF_Tensor, output_count: c_int,
        targets: *const Op, target_count: c_int, status: S,
    );
    pub fn TF_DeletePRunHandle(handle: Text);
    pub fn TF_SessionListDevices(session: *mut TF_Session, status: S) -> *mut TF_DeviceList;
    pub fn TF_DeviceListCount(list: *const TF_DeviceList) -> c_int;
    pub fn TF_DeviceListName(list: *const TF_DeviceList, index: c_int, status: S) -> Text;
    pub fn TF_DeviceListType(list: *const TF_DeviceList, index: c_int, status: S) -> Text;
    pub fn TF_DeviceListMemoryBytes(list: *const TF_DeviceList, index: c_int, status: S) -> i64;
    pub fn TF_DeleteDeviceList(list: *mut TF_DeviceList);

    pub fn TF_LoadLibrary(path: Text, status: S) -> *mut TF_Library;
    pub fn TF_GetOpList(library: *mut TF_Library) -> TF_Buffer;
    pub fn TF_DeleteLibraryHandle(library: *mut TF_Library);
    pub fn TF_GetAllOpList() -> *mut TF_Buffer;
    pub fn TF_GetRegisteredKernelsForOp(name: Text, status: S) -> *mut TF_Buffer;
}
