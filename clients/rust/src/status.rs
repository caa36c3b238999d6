//! Errors, and the buffers that calls fill.

use crate::ffi;
use std::ffi::{CStr, CString, NulError};
use std::fmt;
use std::os::raw::c_char;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    Ok,
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

const CODES: [Code; 17] = [
    Code::Ok,
    Code::Cancelled,
    Code::Unknown,
    Code::InvalidArgument,
    Code::DeadlineExceeded,
    Code::NotFound,
    Code::AlreadyExists,
    Code::PermissionDenied,
    Code::ResourceExhausted,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::Unimplemented,
    Code::Internal,
    Code::Unavailable,
    Code::DataLoss,
    Code::Unauthenticated,
];

/// An error: a code and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    code: Code,
    message: String,
}

/// What a call of this crate gives.
pub type Result<T> = std::result::Result<T, Status>;

impl Status {
    /// An error of the caller's.
    pub fn new_set(code: Code, message: impl Into<String>) -> Status {
        Status { code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Status {
        Status::new_set(Code::InvalidArgument, message)
    }

    /// The kind of the error.
    pub fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Status {}

impl From<NulError> for Status {
    fn from(error: NulError) -> Status {
        Status::invalid(error.to_string())
    }
}

/// A TF_Status that one call writes.
pub(crate) struct Checked(*mut ffi::TF_Status);

impl Checked {
    pub fn new() -> Checked {
        Checked(unsafe { ffi::TF_NewStatus() })
    }

    pub fn c(&self) -> *mut ffi::TF_Status {
        self.0
    }

    pub fn result(&self) -> Result<()> {
        let code = unsafe { ffi::TF_GetCode(self.0) } as usize;
        if code == 0 {
            return Ok(());
        }
        let code = CODES.get(code).copied().unwrap_or(Code::Unknown);
        Err(Status::new_set(code, unsafe { text(ffi::TF_Message(self.0)) }))
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteStatus(self.0) }
    }
}

/// A text for C; an error when it has a zero in it.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    Ok(CString::new(text)?)
}

/// Texts for C, and pointers to them that last as long.
pub(crate) fn c_strings(texts: &[&str]) -> Result<(Vec<CString>, Vec<*const c_char>)> {
    let texts = texts.iter().map(|text| c_string(text)).collect::<Result<Vec<_>>>()?;
    let pointers = texts.iter().map(|text| text.as_ptr()).collect();
    Ok((texts, pointers))
}

/// A copy of a text of C.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    CStr::from_ptr(pointer).to_string_lossy().into_owned()
}

/// A copy of the bytes of a buffer.
pub(crate) unsafe fn buffer_bytes(buffer: &ffi::TF_Buffer) -> Vec<u8> {
    if buffer.length == 0 {
        return Vec::new();
    }
    std::slice::from_raw_parts(buffer.data.cast::<u8>(), buffer.length).to_vec()
}

/// Copies the bytes of a buffer and deletes it.
pub(crate) unsafe fn take_buffer(buffer: *mut ffi::TF_Buffer) -> Vec<u8> {
    let bytes = buffer_bytes(&*buffer);
    ffi::TF_DeleteBuffer(buffer);
    bytes
}

/// The bytes that a call (buffer, status) wrote.
pub(crate) fn into_buffer(
    call: impl FnOnce(*mut ffi::TF_Buffer, *mut ffi::TF_Status),
) -> Result<Vec<u8>> {
    let status = Checked::new();
    let buffer = unsafe { ffi::TF_NewBuffer() };
    call(buffer, status.c());
    let bytes = unsafe { take_buffer(buffer) };
    status.result()?;
    Ok(bytes)
}
