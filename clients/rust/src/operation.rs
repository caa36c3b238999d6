use crate::graph::GraphImpl;
use crate::status::{c_string, into_buffer, text, Checked};
use crate::{ffi, AttrValue, DataType, Graph, Result, Status};
use std::marker::PhantomData;
use std::os::raw::c_int;
use std::ptr;
use std::sync::Arc;

/// A node of a graph.
#[derive(Clone)]
pub struct Operation {
    c: ffi::Op,
    graph: Arc<GraphImpl>,
}

unsafe impl Send for Operation {}
unsafe impl Sync for Operation {}

impl PartialEq for Operation {
    fn eq(&self, other: &Operation) -> bool {
        self.c == other.c
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} {:?}>", self.op_type(), self.name())
    }
}

/// An output of an operation: a tensor in each step.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Whose output it is.
    pub operation: Operation,
    /// Which of its outputs.
    pub index: c_int,
}

impl From<Operation> for Output {
    fn from(operation: Operation) -> Output {
        Output { operation, index: 0 }
    }
}

impl From<&Operation> for Output {
    fn from(operation: &Operation) -> Output {
        operation.output(0)
    }
}

impl From<&Output> for Output {
    fn from(output: &Output) -> Output {
        output.clone()
    }
}

impl Output {
    pub(crate) fn c(&self) -> ffi::TF_Output {
        ffi::TF_Output { oper: self.operation.c, index: self.index }
    }
}

pub(crate) fn c_outputs(outputs: &[Output]) -> Vec<ffi::TF_Output> {
    outputs.iter().map(Output::c).collect()
}

pub(crate) fn outputs(graph: &Arc<GraphImpl>, c: &[ffi::TF_Output]) -> Vec<Output> {
    c.iter().map(|o| Output { operation: Operation::new(graph, o.oper), index: o.index }).collect()
}

impl Operation {
    pub(crate) fn new(graph: &Arc<GraphImpl>, c: ffi::Op) -> Operation {
        Operation { c, graph: graph.clone() }
    }

    pub(crate) fn c(&self) -> ffi::Op {
        self.c
    }

    fn port(&self, index: usize) -> ffi::TF_Output {
        ffi::TF_Output { oper: self.c, index: index as c_int }
    }

    /// The name, which is unique in the graph.
    pub fn name(&self) -> String {
        unsafe { text(ffi::TF_OperationName(self.c)) }
    }

    /// The name of the operation's definition, such as "MatMul".
    pub fn op_type(&self) -> String {
        unsafe { text(ffi::TF_OperationOpType(self.c)) }
    }

    /// The device that was asked for; empty when none was.
    pub fn device(&self) -> String {
        unsafe { text(ffi::TF_OperationDevice(self.c)) }
    }

    /// The number of outputs, each of a list counted.
    pub fn num_outputs(&self) -> usize {
        unsafe { ffi::TF_OperationNumOutputs(self.c) as usize }
    }

    /// The number of inputs, each of a list counted.
    pub fn num_inputs(&self) -> usize {
        unsafe { ffi::TF_OperationNumInputs(self.c) as usize }
    }

    /// One of the outputs.
    pub fn output(&self, index: usize) -> Output {
        Output { operation: self.clone(), index: index as c_int }
    }

    /// The type of an output's elements.
    pub fn output_type(&self, index: usize) -> DataType {
        DataType::of(unsafe { ffi::TF_OperationOutputType(self.port(index)) })
    }

    /// The length of an output by its name in the definition.
    pub fn output_list_length(&self, arg_name: &str) -> Result<usize> {
        let (name, status) = (c_string(arg_name)?, Checked::new());
        let found =
            unsafe { ffi::TF_OperationOutputListLength(self.c, name.as_ptr(), status.c()) };
        status.result().map(|()| found as usize)
    }

    /// The length of an input by its name in the definition.
    pub fn input_list_length(&self, arg_name: &str) -> Result<usize> {
        let (name, status) = (c_string(arg_name)?, Checked::new());
        let found = unsafe { ffi::TF_OperationInputListLength(self.c, name.as_ptr(), status.c()) };
        status.result().map(|()| found as usize)
    }

    /// The operation that feeds an input, and which of its outputs does.
    pub fn input(&self, index: usize) -> (Operation, usize) {
        self.pair(unsafe { ffi::TF_OperationInput(self.port(index)) })
    }

    /// The operations that take an output, and at which of their inputs.
    pub fn output_consumers(&self, index: usize) -> Vec<(Operation, usize)> {
        let output = self.port(index);
        let count = unsafe { ffi::TF_OperationOutputNumConsumers(output) };
        let none = ffi::TF_Output { oper: ptr::null_mut(), index: 0 };
        let mut found = vec![none; count as usize];
        unsafe { ffi::TF_OperationOutputConsumers(output, found.as_mut_ptr(), count) };
        found.into_iter().map(|each| self.pair(each)).collect()
    }

    fn pair(&self, port: ffi::TF_Output) -> (Operation, usize) {
        (Operation::new(&self.graph, port.oper), port.index as usize)
    }

    /// The operations that run before this one.
    pub fn control_inputs(&self) -> Vec<Operation> {
        let mut found =
            vec![ptr::null_mut(); unsafe { ffi::TF_OperationNumControlInputs(self.c) } as usize];
        let room = found.len() as c_int;
        unsafe { ffi::TF_OperationGetControlInputs(self.c, found.as_mut_ptr(), room) };
        found.into_iter().map(|op| Operation::new(&self.graph, op)).collect()
    }

    /// The operations that wait for this one.
    pub fn control_outputs(&self) -> Vec<Operation> {
        let mut found =
            vec![ptr::null_mut(); unsafe { ffi::TF_OperationNumControlOutputs(self.c) } as usize];
        let room = found.len() as c_int;
        unsafe { ffi::TF_OperationGetControlOutputs(self.c, found.as_mut_ptr(), room) };
        found.into_iter().map(|op| Operation::new(&self.graph, op)).collect()
    }

    /// The serialized NodeDef.
    pub fn node_def(&self) -> Result<Vec<u8>> {
        into_buffer(|buffer, s| unsafe { ffi::TF_OperationToNodeDef(self.c, buffer, s) })
    }
}

/// An operation that is not added yet.
pub struct OperationDescription<'a> {
    c: ffi::Desc,
    graph: Arc<GraphImpl>,
    problem: Option<Status>,
    // The graph is changed by nothing else meanwhile.
    borrowed: PhantomData<&'a mut Graph>,
}

impl<'a> OperationDescription<'a> {
    pub(crate) fn new(graph: &'a mut Graph, c: ffi::Desc) -> OperationDescription<'a> {
        let graph = graph.inner.clone();
        OperationDescription { c, graph, problem: None, borrowed: PhantomData }
    }

    /// Adds the operation, or none when there is an error.
    pub fn finish(mut self) -> Result<Operation> {
        let found = self.finish_c();
        match self.problem.take() {
            Some(problem) => Err(problem),
            None => found.map(|op| Operation::new(&self.graph, op)),
        }
    }

    fn finish_c(&mut self) -> Result<ffi::Op> {
        let status = Checked::new();
        let op = unsafe { ffi::TF_FinishOperation(self.c, status.c()) };
        self.c = ptr::null_mut();
        status.result().map(|()| op)
    }

    /// Places the operation.
    pub fn set_device(&mut self, device: &str) -> Result<()> {
        let device = c_string(device)?;
        unsafe { ffi::TF_SetDevice(self.c, device.as_ptr()) };
        Ok(())
    }

    /// Adds an input of one tensor.
    pub fn add_input(&mut self, input: impl Into<Output>) {
        unsafe { ffi::TF_AddInput(self.c, input.into().c()) }
    }

    /// Adds an input of several tensors.
    pub fn add_input_list(&mut self, inputs: &[Output]) {
        let c = c_outputs(inputs);
        unsafe { ffi::TF_AddInputList(self.c, c.as_ptr(), c.len() as c_int) }
    }

    /// Runs the operation after another one.
    pub fn add_control_input(&mut self, input: &Operation) {
        unsafe { ffi::TF_AddControlInput(self.c, input.c) }
    }

    /// Places the operation where another one is.
    pub fn colocate_with(&mut self, operation: &Operation) {
        unsafe { ffi::TF_ColocateWith(self.c, operation.c) }
    }

    /// Sets an attribute. An error is that of [`OperationDescription::finish`] too.
    pub fn set_attr(&mut self, name: &str, value: impl Into<AttrValue>) -> Result<()> {
        let result = value.into().set(self.c, name);
        if let Err(problem) = &result {
            self.problem.get_or_insert_with(|| problem.clone());
        }
        result
    }
}

impl Drop for OperationDescription<'_> {
    /// Nothing but finishing deletes a description, so one that is whole is added.
    fn drop(&mut self) {
        if !self.c.is_null() {
            let _ = self.finish_c();
        }
    }
}
