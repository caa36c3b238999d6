use crate::operation::c_outputs;
use crate::status::{c_string, c_strings, into_buffer, text, Checked};
use crate::{ffi, Graph, Operation, Output, Result, Status};
use std::os::raw::c_int;
use std::ptr;

/// A graph that operations of other graphs call by its name.
pub struct Function {
    c: *mut ffi::TF_Function,
}

unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Drop for Function {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteFunction(self.c) }
    }
}

impl Function {
    pub(crate) fn new(c: *mut ffi::TF_Function) -> Function {
        Function { c }
    }

    pub(crate) fn c(&self) -> *mut ffi::TF_Function {
        self.c
    }

    /// Makes a function of a serialized FunctionDef.
    pub fn import_function_def(def: &[u8]) -> Result<Function> {
        let status = Checked::new();
        let data = def.as_ptr().cast();
        let c = unsafe { ffi::TF_FunctionImportFunctionDef(data, def.len(), status.c()) };
        status.result()?;
        Ok(Function { c })
    }

    /// The name by which operations call it.
    pub fn get_name(&self) -> String {
        unsafe { text(ffi::TF_FunctionName(self.c)) }
    }

    /// The serialized FunctionDef.
    pub fn to_function_def(&self) -> Result<Vec<u8>> {
        into_buffer(|buffer, s| unsafe { ffi::TF_FunctionToFunctionDef(self.c, buffer, s) })
    }
}

impl Graph {
    /// Makes a function of operations of the graph; of all of them without `opers`.
    pub fn to_function(
        &self,
        name: &str,
        opers: Option<&[&Operation]>,
        inputs: &[Output],
        outputs: &[Output],
        output_names: Option<&[&str]>,
    ) -> Result<Function> {
        if output_names.map_or(false, |names| names.len() != outputs.len()) {
            return Err(Status::invalid("each output has a name, or none has"));
        }
        let name = c_string(name)?;
        let opers: Option<Vec<_>> = opers.map(|all| all.iter().map(|op| op.c()).collect());
        let (inputs, outputs) = (c_outputs(inputs), c_outputs(outputs));
        let names = output_names.map(c_strings).transpose()?;
        let status = Checked::new();
        let c = unsafe {
            ffi::TF_GraphToFunction(
                self.c(),
                name.as_ptr(),
                0,
                opers.as_ref().map_or(-1, |all| all.len() as c_int),
                opers.as_ref().map_or(ptr::null(), |all| all.as_ptr()),
                inputs.len() as c_int,
                inputs.as_ptr(),
                outputs.len() as c_int,
                outputs.as_ptr(),
                names.as_ref().map_or(ptr::null(), |(_, pointers)| pointers.as_ptr()),
                ptr::null(),
                ptr::null(),
                status.c(),
            )
        };
        status.result()?;
        Ok(Function { c })
    }
}
