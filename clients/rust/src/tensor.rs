use crate::{ffi, strings, DataType, Result, Shape, Status};
use std::ops::{Deref, DerefMut};
use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// A TF_Tensor, which is deleted with this.
pub struct Raw(pub(crate) *mut ffi::TF_Tensor);

unsafe impl Send for Raw {}
unsafe impl Sync for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteTensor(self.0) }
    }
}

impl Raw {
    fn filled(dtype: DataType, dims: &[u64], bytes: &[u8]) -> Raw {
        let dims: Vec<i64> = dims.iter().map(|&d| d as i64).collect();
        let (rank, size) = (dims.len() as c_int, bytes.len());
        unsafe {
            let tensor = ffi::TF_AllocateTensor(dtype.number(), dims.as_ptr(), rank, size);
            if size > 0 {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), ffi::TF_TensorData(tensor).cast(), size);
            }
            Raw(tensor)
        }
    }

    pub(crate) fn data_type(&self) -> DataType {
        DataType::of(unsafe { ffi::TF_TensorType(self.0) })
    }

    fn dims(&self) -> Vec<u64> {
        let rank = unsafe { ffi::TF_NumDims(self.0) };
        (0..rank).map(|i| unsafe { ffi::TF_Dim(self.0, i) } as u64).collect()
    }

    fn bytes(&self) -> &[u8] {
        let size = unsafe { ffi::TF_TensorByteSize(self.0) };
        if size == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(ffi::TF_TensorData(self.0).cast(), size) }
    }
}

/// Where the elements are: in the library's memory, or here until a step needs them.
pub enum Storage<T> {
    #[doc(hidden)]
    Library(Library),
    #[doc(hidden)]
    Here(Vec<T>),
}

/// A tensor in the library's memory.
pub struct Library {
    raw: Raw,
    // Whether the library may read or keep the memory, so that it is copied before a write.
    shared: AtomicBool,
}

/// The types that elements have here.
pub trait TensorType: Clone + 'static {
    /// The library's type.
    fn data_type() -> DataType;
    /// What a new tensor is filled with.
    fn zero() -> Self;
    #[doc(hidden)]
    fn store(dims: &[u64], values: Vec<Self>) -> Storage<Self>;
    #[doc(hidden)]
    fn load(library: Library, count: usize) -> Result<Storage<Self>>;
    #[doc(hidden)]
    fn pack(dims: &[u64], values: &[Self]) -> Raw;
}

macro_rules! numbers {
    ($($rust:ty: $dtype:ident = $zero:expr),*) => {$(
        impl TensorType for $rust {
            fn data_type() -> DataType {
                DataType::$dtype
            }
            fn zero() -> $rust {
                $zero
            }
            fn store(dims: &[u64], values: Vec<$rust>) -> Storage<$rust> {
                let raw = Self::pack(dims, &values);
                Storage::Library(Library { raw, shared: AtomicBool::new(false) })
            }
            fn load(library: Library, _count: usize) -> Result<Storage<$rust>> {
                Ok(Storage::Library(library))
            }
            fn pack(dims: &[u64], values: &[$rust]) -> Raw {
                let size = std::mem::size_of_val(values);
                // Numbers have no padding, so their memory is bytes.
                let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size) };
                Raw::filled(DataType::$dtype, dims, bytes)
            }
        }
    )*};
}

numbers! {
    f32: Float = 0.0, f64: Double = 0.0, i8: Int8 = 0, i16: Int16 = 0, i32: Int32 = 0,
    i64: Int64 = 0, u8: UInt8 = 0, u16: UInt16 = 0, u32: UInt32 = 0, u64: UInt64 = 0,
    bool: Bool = false
}

macro_rules! texts {
    ($($rust:ty, $decode:expr);*) => {$(
        impl TensorType for $rust {
            fn data_type() -> DataType {
                DataType::String
            }
            fn zero() -> $rust {
                Default::default()
            }
            fn store(_dims: &[u64], values: Vec<$rust>) -> Storage<$rust> {
                Storage::Here(values)
            }
            fn load(library: Library, count: usize) -> Result<Storage<$rust>> {
                let texts = strings::decode(library.raw.bytes(), count)?;
                let texts = texts.into_iter().map($decode).collect::<Result<_>>()?;
                Ok(Storage::Here(texts))
            }
            fn pack(dims: &[u64], values: &[$rust]) -> Raw {
                Raw::filled(DataType::String, dims, &strings::encode(values))
            }
        }
    )*};
}

texts! {
    Vec<u8>, Ok;
    String, |bytes| {
        String::from_utf8(bytes).map_err(|e| Status::invalid(format!("no text in UTF-8: {e}")))
    }
}

/// An array of one type and shape. It is a slice of its elements, in row-major order.
///
/// Tensors of strings are of `String`, or of `Vec<u8>` when they may be no UTF-8.
pub struct Tensor<T: TensorType> {
    dims: Vec<u64>,
    storage: Storage<T>,
}

impl<T: TensorType> Tensor<T> {
    /// Zeros, or empty strings; a scalar has no dims.
    pub fn new(dims: &[u64]) -> Tensor<T> {
        let storage = T::store(dims, vec![T::zero(); count(dims)]);
        Tensor { dims: dims.to_vec(), storage }
    }

    /// The tensor with these elements; an error when there are more or fewer than it has.
    pub fn with_values(mut self, values: &[T]) -> Result<Tensor<T>> {
        if values.len() != self.len() {
            let (given, dims) = (values.len(), &self.dims);
            return Err(Status::invalid(format!("{given} values given for the dims {dims:?}")));
        }
        self.clone_from_slice(values);
        Ok(self)
    }

    /// The size of each dimension.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The dims as a shape, all of it known.
    pub fn shape(&self) -> Shape {
        Shape::new(Some(self.dims.iter().map(|&d| Some(d as i64)).collect()))
    }

    pub(crate) fn from_raw(raw: Raw) -> Result<Tensor<T>> {
        if raw.data_type() != T::data_type() {
            let (found, asked) = (raw.data_type(), T::data_type());
            return Err(Status::invalid(format!("a tensor of {found:?}, not of {asked:?}")));
        }
        let dims = raw.dims();
        let count = count(&dims);
        let storage = T::load(Library { raw, shared: AtomicBool::new(true) }, count)?;
        Ok(Tensor { dims, storage })
    }
}

fn count(dims: &[u64]) -> usize {
    dims.iter().product::<u64>() as usize
}

impl<T: TensorType> Deref for Tensor<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.storage {
            Storage::Here(values) => values,
            Storage::Library(library) => {
                let bytes = library.raw.bytes();
                if bytes.is_empty() {
                    return &[];
                }
                let count = bytes.len() / std::mem::size_of::<T>();
                // The library aligns its memory for every type.
                unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), count) }
            }
        }
    }
}

impl<T: TensorType> DerefMut for Tensor<T> {
    /// A step may have kept the memory that it was fed; then this copies it first.
    fn deref_mut(&mut self) -> &mut [T] {
        let shared = match &self.storage {
            Storage::Here(_) => false,
            Storage::Library(library) => library.shared.load(Ordering::Relaxed),
        };
        if shared {
            self.storage = T::store(&self.dims, self.to_vec());
        }
        match &mut self.storage {
            Storage::Here(values) => values,
            Storage::Library(library) => {
                let count = library.raw.bytes().len() / std::mem::size_of::<T>();
                if count == 0 {
                    return &mut [];
                }
                let data = unsafe { ffi::TF_TensorData(library.raw.0) };
                unsafe { std::slice::from_raw_parts_mut(data.cast(), count) }
            }
        }
    }
}

impl<T: TensorType> From<T> for Tensor<T> {
    fn from(value: T) -> Tensor<T> {
        Tensor { dims: vec![], storage: T::store(&[], vec![value]) }
    }
}

impl<T: TensorType> From<&[T]> for Tensor<T> {
    fn from(values: &[T]) -> Tensor<T> {
        let dims = vec![values.len() as u64];
        let storage = T::store(&dims, values.to_vec());
        Tensor { dims, storage }
    }
}

impl<T: TensorType> Clone for Tensor<T> {
    fn clone(&self) -> Tensor<T> {
        Tensor { dims: self.dims.clone(), storage: T::store(&self.dims, self.to_vec()) }
    }
}

impl<T: TensorType + std::fmt::Debug> std::fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tensor {:?} {:?}", self.dims, &self[..])
    }
}

/// A tensor whatever its type, as attributes and feeds take it.
pub trait AnyTensor {
    /// The type of the elements.
    fn data_type(&self) -> DataType;
    #[doc(hidden)]
    fn held(&self) -> Held;
}

/// A TF_Tensor that lasts as long as this or the tensor that it is of.
pub struct Held {
    pub(crate) c: *mut ffi::TF_Tensor,
    _packed: Option<Raw>,
}

impl<T: TensorType> AnyTensor for Tensor<T> {
    fn data_type(&self) -> DataType {
        T::data_type()
    }

    fn held(&self) -> Held {
        match &self.storage {
            Storage::Library(library) => {
                library.shared.store(true, Ordering::Relaxed);
                Held { c: library.raw.0, _packed: None }
            }
            Storage::Here(values) => {
                let raw = T::pack(&self.dims, values);
                Held { c: raw.0, _packed: Some(raw) }
            }
        }
    }
}
