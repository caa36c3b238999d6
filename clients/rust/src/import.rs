use crate::graph::GraphImpl;
use crate::operation::outputs;
use crate::status::{c_string, text, Checked};
use crate::{ffi, Graph, Operation, Output, Result};
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// How a GraphDef becomes part of a graph.
pub struct ImportGraphDefOptions {
    c: *mut ffi::TF_ImportGraphDefOptions,
    // The operations of the options last as long as they.
    graphs: Vec<Operation>,
}

impl Default for ImportGraphDefOptions {
    fn default() -> Self {
        ImportGraphDefOptions::new()
    }
}

impl Drop for ImportGraphDefOptions {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteImportGraphDefOptions(self.c) }
    }
}

impl ImportGraphDefOptions {
    /// Options that change nothing.
    pub fn new() -> ImportGraphDefOptions {
        let c = unsafe { ffi::TF_NewImportGraphDefOptions() };
        ImportGraphDefOptions { c, graphs: Vec::new() }
    }

    /// Puts a text and a slash before the names of the nodes.
    pub fn set_prefix(&mut self, prefix: &str) -> Result<()> {
        let prefix = c_string(prefix)?;
        unsafe { ffi::TF_ImportGraphDefOptionsSetPrefix(self.c, prefix.as_ptr()) };
        Ok(())
    }

    /// Places nodes that have no device.
    pub fn set_default_device(&mut self, device: &str) -> Result<()> {
        let device = c_string(device)?;
        unsafe { ffi::TF_ImportGraphDefOptionsSetDefaultDevice(self.c, device.as_ptr()) };
        Ok(())
    }

    /// Gives a new name to a node whose name the graph has.
    pub fn set_uniquify_names(&mut self, yes: bool) {
        unsafe { ffi::TF_ImportGraphDefOptionsSetUniquifyNames(self.c, u8::from(yes)) }
    }

    /// Takes an output of the graph for one of the GraphDef.
    pub fn add_input_mapping(&mut self, name: &str, index: usize, to: &Output) -> Result<()> {
        let name = c_string(name)?;
        self.graphs.push(to.operation.clone());
        let index = index as c_int;
        unsafe {
            ffi::TF_ImportGraphDefOptionsAddInputMapping(self.c, name.as_ptr(), index, to.c());
        }
        Ok(())
    }

    /// Takes an operation of the graph for a control input of the GraphDef.
    pub fn remap_control_dependency(&mut self, name: &str, to: &Operation) -> Result<()> {
        let name = c_string(name)?;
        self.graphs.push(to.clone());
        unsafe {
            ffi::TF_ImportGraphDefOptionsRemapControlDependency(self.c, name.as_ptr(), to.c());
        }
        Ok(())
    }

    /// Runs what is added after an operation of the graph.
    pub fn add_control_dependency(&mut self, operation: &Operation) {
        self.graphs.push(operation.clone());
        unsafe { ffi::TF_ImportGraphDefOptionsAddControlDependency(self.c, operation.c()) }
    }

    /// Asks for an output among the results.
    pub fn add_return_output(&mut self, name: &str, index: usize) -> Result<()> {
        let name = c_string(name)?;
        let index = index as c_int;
        unsafe { ffi::TF_ImportGraphDefOptionsAddReturnOutput(self.c, name.as_ptr(), index) };
        Ok(())
    }

    /// Asks for an operation among the results.
    pub fn add_return_operation(&mut self, name: &str) -> Result<()> {
        let name = c_string(name)?;
        unsafe { ffi::TF_ImportGraphDefOptionsAddReturnOperation(self.c, name.as_ptr()) };
        Ok(())
    }
}

/// What an import was asked to return.
pub struct ImportGraphDefResults {
    c: *mut ffi::TF_ImportGraphDefResults,
    graph: Arc<GraphImpl>,
}

impl Drop for ImportGraphDefResults {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteImportGraphDefResults(self.c) }
    }
}

unsafe fn slice<'a, T>(pointer: *const T, count: c_int) -> &'a [T] {
    match count {
        0 => &[],
        _ => std::slice::from_raw_parts(pointer, count as usize),
    }
}

impl ImportGraphDefResults {
    /// The outputs that were asked for.
    pub fn return_outputs(&self) -> Vec<Output> {
        let (mut count, mut found) = (0, ptr::null_mut());
        unsafe {
            ffi::TF_ImportGraphDefResultsReturnOutputs(self.c, &mut count, &mut found);
            outputs(&self.graph, slice(found, count))
        }
    }

    /// The operations that were asked for.
    pub fn return_operations(&self) -> Vec<Operation> {
        let (mut count, mut found) = (0, ptr::null_mut());
        unsafe {
            ffi::TF_ImportGraphDefResultsReturnOperations(self.c, &mut count, &mut found);
            slice(found, count).iter().map(|&op| Operation::new(&self.graph, op)).collect()
        }
    }

    /// Mappings of outputs that the GraphDef does not have.
    pub fn missing_unused_input_mappings(&self) -> Vec<(String, usize)> {
        let (mut count, mut names, mut indices) = (0, ptr::null_mut(), ptr::null_mut());
        unsafe {
            ffi::TF_ImportGraphDefResultsMissingUnusedInputMappings(
                self.c,
                &mut count,
                &mut names,
                &mut indices,
            );
            let indices = slice(indices, count).iter().map(|&index| index as usize);
            slice(names, count).iter().map(|&name| text(name)).zip(indices).collect()
        }
    }
}

impl Graph {
    /// Adds the nodes of a serialized GraphDef, or none on an error.
    pub fn import_graph_def(&mut self, def: &[u8], options: &ImportGraphDefOptions) -> Result<()> {
        self.import_graph_def_with_results(def, options).map(drop)
    }

    /// Adds the nodes of a serialized GraphDef, or none on an error, and has what was asked for.
    pub fn import_graph_def_with_results(
        &mut self,
        def: &[u8],
        options: &ImportGraphDefOptions,
    ) -> Result<ImportGraphDefResults> {
        let status = Checked::new();
        let c = unsafe {
            let data = def.as_ptr().cast::<c_void>();
            let buffer = ffi::TF_NewBufferFromString(data, def.len());
            let c =
                ffi::TF_GraphImportGraphDefWithResults(self.c(), buffer, options.c, status.c());
            ffi::TF_DeleteBuffer(buffer);
            c
        };
        status.result()?;
        Ok(ImportGraphDefResults { c, graph: self.inner.clone() })
    }
}
