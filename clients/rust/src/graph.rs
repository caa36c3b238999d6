use crate::operation::{c_outputs, outputs};
use crate::status::{c_string, into_buffer, Checked};
use crate::tensor::Raw;
use crate::{
    ffi, DataType, Function, Operation, OperationDescription, Output, Result, Shape, Status, Tensor,
    TensorType,
};
use std::os::raw::c_int;
use std::ptr;
use std::sync::Arc;

/// A TF_Graph; that of a part of a loop belongs to the loop.
pub(crate) struct GraphImpl {
    pub c: *mut ffi::TF_Graph,
    owned: bool,
}

// The library locks its graphs.
unsafe impl Send for GraphImpl {}
unsafe impl Sync for GraphImpl {}

impl Drop for GraphImpl {
    fn drop(&mut self) {
        if self.owned {
            unsafe { ffi::TF_DeleteGraph(self.c) }
        }
    }
}

/// A graph of operations. It lives as long as one of its operations or sessions does.
pub struct Graph {
    pub(crate) inner: Arc<GraphImpl>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::wrap(unsafe { ffi::TF_NewGraph() }, true)
    }

    pub(crate) fn wrap(c: *mut ffi::TF_Graph, owned: bool) -> Graph {
        Graph { inner: Arc::new(GraphImpl { c, owned }) }
    }

    pub(crate) fn c(&self) -> *mut ffi::TF_Graph {
        self.inner.c
    }

    /// Starts to describe an operation.
    pub fn new_operation(&mut self, op_type: &str, name: &str) -> Result<OperationDescription<'_>> {
        let (kind, name) = (c_string(op_type)?, c_string(name)?);
        let desc = unsafe { ffi::TF_NewOperation(self.c(), kind.as_ptr(), name.as_ptr()) };
        Ok(OperationDescription::new(self, desc))
    }

    /// An operation by its name, if there is one.
    pub fn operation_by_name(&self, name: &str) -> Result<Option<Operation>> {
        let name = c_string(name)?;
        let found = unsafe { ffi::TF_GraphOperationByName(self.c(), name.as_ptr()) };
        Ok((!found.is_null()).then(|| Operation::new(&self.inner, found)))
    }

    /// An operation by its name; an error when there is none.
    pub fn operation_by_name_required(&self, name: &str) -> Result<Operation> {
        let missing = || Status::new_set(crate::Code::NotFound, format!("no operation {name:?}"));
        self.operation_by_name(name)?.ok_or_else(missing)
    }

    /// The operations in the order in which they were added.
    pub fn operation_iter(&self) -> impl Iterator<Item = Operation> + '_ {
        let mut position = 0;
        std::iter::from_fn(move || {
            let op = unsafe { ffi::TF_GraphNextOperation(self.c(), &mut position) };
            (!op.is_null()).then(|| Operation::new(&self.inner, op))
        })
    }

    /// The serialized GraphDef.
    pub fn graph_def(&self) -> Result<Vec<u8>> {
        into_buffer(|buffer, s| unsafe { ffi::TF_GraphToGraphDef(self.c(), buffer, s) })
    }

    /// The serialized definition of an operation as the graph knows it.
    pub fn get_op_def(&self, op_type: &str) -> Result<Vec<u8>> {
        let name = c_string(op_type)?;
        into_buffer(|buffer, s| unsafe { ffi::TF_GraphGetOpDef(self.c(), name.as_ptr(), buffer, s) })
    }

    /// The shape of an output that is known while the graph is built.
    pub fn tensor_shape(&self, output: impl Into<Output>) -> Result<Shape> {
        let output = output.into().c();
        let status = Checked::new();
        let rank = unsafe { ffi::TF_GraphGetTensorNumDims(self.c(), output, status.c()) };
        status.result()?;
        if rank < 0 {
            return Ok(Shape::new(None));
        }
        let mut dims = vec![0i64; rank as usize];
        unsafe {
            ffi::TF_GraphGetTensorShape(self.c(), output, dims.as_mut_ptr(), rank, status.c());
        }
        status.result()?;
        Ok(Shape::from(&dims[..]))
    }

    /// Adds to what is known of an output's shape.
    pub fn set_tensor_shape(&mut self, output: impl Into<Output>, shape: &Shape) -> Result<()> {
        let (dims, rank) = shape.c();
        let (output, status) = (output.into().c(), Checked::new());
        unsafe {
            ffi::TF_GraphSetTensorShape(self.c(), output, dims.as_ptr(), rank, status.c());
        }
        status.result()
    }

    /// The type of an output's elements.
    pub fn output_type(&self, output: impl Into<Output>) -> DataType {
        let output = output.into();
        output.operation.output_type(output.index as usize)
    }

    /// The value of an output that no session is needed for, if it is known.
    pub fn try_evaluate_constant<T: TensorType>(
        &self,
        output: impl Into<Output>,
    ) -> Result<Option<Tensor<T>>> {
        let (output, status, mut found) = (output.into().c(), Checked::new(), ptr::null_mut());
        let known = unsafe { ffi::TF_TryEvaluateConstant(self.c(), output, &mut found, status.c()) };
        status.result()?;
        match known {
            0 => Ok(None),
            _ => Tensor::from_raw(Raw(found)).map(Some),
        }
    }

    /// Adds operations that compute the derivatives of the sum of the ys by each x. `dx` are
    /// the derivatives of a loss by each y; ones when there are none.
    pub fn add_gradients(
        &mut self,
        prefix: Option<&str>,
        y: &[Output],
        x: &[Output],
        dx: Option<&[Output]>,
    ) -> Result<Vec<Output>> {
        let prefix = prefix.map(c_string).transpose()?;
        if dx.map_or(false, |dx| dx.len() != y.len()) {
            let given = dx.map_or(0, <[Output]>::len);
            return Err(Status::invalid(format!("{given} derivatives given for {} ys", y.len())));
        }
        let (mut ys, mut xs, mut dxs) = (c_outputs(y), c_outputs(x), dx.map(c_outputs));
        let mut found = vec![ffi::TF_Output { oper: ptr::null_mut(), index: 0 }; x.len()];
        let status = Checked::new();
        unsafe {
            ffi::TF_AddGradientsWithPrefix(
                self.c(),
                prefix.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
                ys.as_mut_ptr(),
                ys.len() as c_int,
                xs.as_mut_ptr(),
                xs.len() as c_int,
                dxs.as_mut().map_or(ptr::null_mut(), Vec::as_mut_ptr),
                status.c(),
                found.as_mut_ptr(),
            );
        }
        status.result()?;
        Ok(outputs(&self.inner, &found))
    }

    /// Makes a function known to the graph, so that operations can call it.
    pub fn copy_function(&mut self, function: &Function) -> Result<()> {
        let status = Checked::new();
        unsafe { ffi::TF_GraphCopyFunction(self.c(), function.c(), ptr::null(), status.c()) }
        status.result()
    }

    /// The functions that the graph knows.
    pub fn get_functions(&self) -> Result<Vec<Function>> {
        let room = unsafe { ffi::TF_GraphNumFunctions(self.c()) };
        let (mut found, status) = (vec![ptr::null_mut(); room as usize], Checked::new());
        let count =
            unsafe { ffi::TF_GraphGetFunctions(self.c(), found.as_mut_ptr(), room, status.c()) };
        status.result()?;
        found.truncate(count as usize);
        Ok(found.into_iter().map(Function::new).collect())
    }
}
