//! Builds and runs graphs through the C API of libtensorloom.
//!
//! Names are those of the core of the `tensorflow` crate. The module [`ops`] has a builder
//! and a function an operation; it is written by clients/generator.

mod attrs;
mod data_type;
mod ffi;
mod function;
mod graph;
mod import;
mod operation;
pub mod ops;
mod scope;
mod session;
mod shape;
mod status;
mod strings;
mod tensor;
mod while_loop;

pub use attrs::{AttrMetadata, AttrValue};
pub use data_type::DataType;
pub use function::Function;
pub use graph::Graph;
pub use import::{ImportGraphDefOptions, ImportGraphDefResults};
pub use operation::{Operation, OperationDescription, Output};
pub use scope::{Attrs, Input, Scope};
pub use session::{
    Device, FetchToken, PartialRun, SavedModelBundle, Session, SessionOptions, SessionRunArgs,
};
pub use shape::Shape;
pub use status::{Code, Result, Status};
pub use tensor::{AnyTensor, Tensor, TensorType};
pub use while_loop::WhileBuilder;

use status::{c_string, take_buffer, text, Checked};

/// The version of TensorFlow whose interface the library has.
pub fn version() -> String {
    unsafe { text(ffi::TF_Version()) }
}

/// The serialized OpList of all operations.
pub fn get_all_op_list() -> Vec<u8> {
    unsafe { take_buffer(ffi::TF_GetAllOpList()) }
}

/// The serialized KernelList of one operation.
pub fn get_registered_kernels_for_op(name: &str) -> Result<Vec<u8>> {
    let name = c_string(name)?;
    let status = Checked::new();
    let buffer = unsafe { ffi::TF_GetRegisteredKernelsForOp(name.as_ptr(), status.c()) };
    status.result()?;
    Ok(unsafe { take_buffer(buffer) })
}

/// Loads operations and kernels; the result is the serialized OpList of what is new.
pub fn load_library(path: &str) -> Result<Vec<u8>> {
    let path = c_string(path)?;
    let status = Checked::new();
    let library = unsafe { ffi::TF_LoadLibrary(path.as_ptr(), status.c()) };
    status.result()?;
    unsafe {
        let list = ffi::TF_GetOpList(library);
        let bytes = status::buffer_bytes(&list);
        ffi::TF_DeleteLibraryHandle(library);
        Ok(bytes)
    }
}
