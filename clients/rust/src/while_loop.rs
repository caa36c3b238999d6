use crate::operation::{c_outputs, outputs};
use crate::status::{c_string, Checked};
use crate::{ffi, Graph, Output, Result, Status};
use std::ffi::CString;
use std::os::raw::c_int;
use std::ptr;

/// Builds a loop: as long as the condition is true, the body gives the variables their next
/// values.
pub struct WhileBuilder<'a> {
    graph: &'a mut Graph,
    params: ffi::TF_WhileParams,
    // The library reads the inputs once more when the loop is finished.
    _inputs: Vec<ffi::TF_Output>,
    name: CString,
    finished: bool,
}

impl<'a> WhileBuilder<'a> {
    /// Builds the parts, each from the loop's variables, in graphs of their own.
    pub fn new(
        graph: &'a mut Graph,
        cond: impl FnOnce(&mut Graph, &[Output]) -> Result<Output>,
        body: impl FnOnce(&mut Graph, &[Output]) -> Result<Vec<Output>>,
        inputs: &[Output],
    ) -> Result<WhileBuilder<'a>> {
        let (mut inputs, status) = (c_outputs(inputs), Checked::new());
        let count = inputs.len();
        let params = unsafe {
            ffi::TF_NewWhile(graph.c(), inputs.as_mut_ptr(), count as c_int, status.c())
        };
        status.result()?;
        let name = c_string("while")?;
        let mut builder = WhileBuilder { graph, params, _inputs: inputs, name, finished: false };
        let params = &mut builder.params;
        let part = |graph, from| {
            let graph = Graph::wrap(graph, false);
            let from = unsafe { std::slice::from_raw_parts(from, count) };
            let variables = outputs(&graph.inner, from);
            (graph, variables)
        };
        let (mut inner, variables) = part(params.cond_graph, params.cond_inputs);
        params.cond_output = cond(&mut inner, &variables)?.c();
        let (mut inner, variables) = part(params.body_graph, params.body_inputs);
        let ends = body(&mut inner, &variables)?;
        if ends.len() != count {
            let given = ends.len();
            return Err(Status::invalid(format!("{given} next values for {count} variables")));
        }
        for (i, end) in ends.iter().enumerate() {
            unsafe { *params.body_outputs.add(i) = end.c() };
        }
        Ok(builder)
    }

    /// Names the loop.
    pub fn name(mut self, name: &str) -> Result<Self> {
        self.name = c_string(name)?;
        Ok(self)
    }

    /// Adds the loop; the results are the last values of the variables.
    pub fn finish(mut self) -> Result<Vec<Output>> {
        self.params.name = self.name.as_ptr();
        let none = ffi::TF_Output { oper: ptr::null_mut(), index: 0 };
        let (mut found, status) = (vec![none; self.params.ninputs as usize], Checked::new());
        self.finished = true;
        unsafe { ffi::TF_FinishWhile(&self.params, status.c(), found.as_mut_ptr()) };
        status.result()?;
        Ok(outputs(&self.graph.inner, &found))
    }
}

impl Drop for WhileBuilder<'_> {
    fn drop(&mut self) {
        if !self.finished {
            unsafe { ffi::TF_AbortWhile(&self.params) }
        }
    }
}
