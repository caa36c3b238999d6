//! The values of attributes, set and read.

use crate::status::{c_string, into_buffer, Checked};
use crate::tensor::{AnyTensor, Raw};
use crate::{ffi, strings, DataType, Operation, Result, Shape, Status, Tensor, TensorType};
use std::os::raw::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

/// A value that an attribute is set to. Each type of Rust that is one turns into it.
#[derive(Clone)]
#[allow(missing_docs)]
pub enum AttrValue {
    /// Bytes, most often a text.
    String(Vec<u8>),
    Int(i64),
    Float(f32),
    Bool(bool),
    Type(DataType),
    Shape(Shape),
    Tensor(Rc<dyn AnyTensor>),
    /// The name of a function of the graph.
    Func(String),
    /// A serialized AttrValue.
    Proto(Vec<u8>),
    Strings(Vec<Vec<u8>>),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Bools(Vec<bool>),
    Types(Vec<DataType>),
    Shapes(Vec<Shape>),
    Tensors(Vec<Rc<dyn AnyTensor>>),
    Funcs(Vec<String>),
}

macro_rules! from {
    ($($rust:ty => $value:ident $(.$convert:ident())?;)*) => {$(
        impl From<$rust> for AttrValue {
            fn from(value: $rust) -> AttrValue {
                AttrValue::$value(value$(.$convert())?)
            }
        }
    )*};
}

from! {
    &str => String.into();
    String => String.into_bytes();
    Vec<u8> => String;
    i64 => Int;
    f32 => Float;
    bool => Bool;
    DataType => Type;
    Shape => Shape;
    Vec<Vec<u8>> => Strings;
    &[i64] => Ints.to_vec();
    Vec<i64> => Ints;
    &[f32] => Floats.to_vec();
    Vec<f32> => Floats;
    &[bool] => Bools.to_vec();
    Vec<bool> => Bools;
    &[DataType] => Types.to_vec();
    Vec<DataType> => Types;
    &[Shape] => Shapes.to_vec();
    Vec<Shape> => Shapes;
}

impl From<&[&str]> for AttrValue {
    fn from(texts: &[&str]) -> AttrValue {
        AttrValue::Strings(texts.iter().map(|text| text.as_bytes().to_vec()).collect())
    }
}

impl<T: TensorType> From<Tensor<T>> for AttrValue {
    fn from(tensor: Tensor<T>) -> AttrValue {
        AttrValue::Tensor(Rc::new(tensor))
    }
}

impl AttrValue {
    /// Sets an attribute of a description.
    pub(crate) fn set(&self, desc: ffi::Desc, name: &str) -> Result<()> {
        let name = c_string(name)?;
        let name = name.as_ptr();
        let status = Checked::new();
        unsafe {
            match self {
                AttrValue::String(v) => ffi::TF_SetAttrString(desc, name, v.as_ptr().cast(), v.len()),
                AttrValue::Int(v) => ffi::TF_SetAttrInt(desc, name, *v),
                AttrValue::Float(v) => ffi::TF_SetAttrFloat(desc, name, *v),
                AttrValue::Bool(v) => ffi::TF_SetAttrBool(desc, name, u8::from(*v)),
                AttrValue::Type(v) => ffi::TF_SetAttrType(desc, name, v.number()),
                AttrValue::Shape(v) => {
                    let (dims, rank) = v.c();
                    ffi::TF_SetAttrShape(desc, name, dims.as_ptr(), rank);
                }
                AttrValue::Tensor(v) => {
                    let held = v.held();
                    ffi::TF_SetAttrTensor(desc, name, held.c, status.c());
                }
                AttrValue::Func(v) => ffi::TF_SetAttrFuncName(desc, name, v.as_ptr().cast(), v.len()),
                AttrValue::Proto(v) => {
                    ffi::TF_SetAttrValueProto(desc, name, v.as_ptr().cast(), v.len(), status.c());
                }
                AttrValue::Funcs(v) => {
                    let proto = functions(v);
                    ffi::TF_SetAttrValueProto(desc, name, proto.as_ptr().cast(), proto.len(), status.c());
                }
                list => list.set_list(desc, name, status.c()),
            }
        }
        status.result()
    }

    unsafe fn set_list(&self, desc: ffi::Desc, name: ffi::Text, status: ffi::S) {
        match self {
            AttrValue::Strings(v) => {
                let texts: Vec<*const c_void> = v.iter().map(|text| text.as_ptr().cast()).collect();
                let lengths: Vec<usize> = v.iter().map(Vec::len).collect();
                let count = v.len() as c_int;
                ffi::TF_SetAttrStringList(desc, name, texts.as_ptr(), lengths.as_ptr(), count);
            }
            AttrValue::Ints(v) => ffi::TF_SetAttrIntList(desc, name, v.as_ptr(), v.len() as c_int),
            AttrValue::Floats(v) => ffi::TF_SetAttrFloatList(desc, name, v.as_ptr(), v.len() as c_int),
            AttrValue::Bools(v) => {
                ffi::TF_SetAttrBoolList(desc, name, v.as_ptr().cast(), v.len() as c_int);
            }
            AttrValue::Types(v) => {
                let numbers: Vec<c_int> = v.iter().map(|each| each.number()).collect();
                ffi::TF_SetAttrTypeList(desc, name, numbers.as_ptr(), v.len() as c_int);
            }
            AttrValue::Shapes(v) => {
                let (dims, ranks): (Vec<_>, Vec<c_int>) = v.iter().map(Shape::c).unzip();
                let pointers: Vec<*const i64> = dims.iter().map(Vec::as_ptr).collect();
                let count = v.len() as c_int;
                ffi::TF_SetAttrShapeList(desc, name, pointers.as_ptr(), ranks.as_ptr(), count);
            }
            AttrValue::Tensors(v) => {
                let held: Vec<_> = v.iter().map(|tensor| tensor.held()).collect();
                let pointers: Vec<_> = held.iter().map(|each| each.c).collect();
                let count = v.len() as c_int;
                ffi::TF_SetAttrTensorList(desc, name, pointers.as_ptr(), count, status);
            }
            _ => unreachable!("set() takes the other kinds"),
        }
    }
}

/// A list of functions, which the C API has as a serialized AttrValue alone.
fn functions(names: &[String]) -> Vec<u8> {
    let field = |number: u8, data: &[u8]| {
        let mut bytes = vec![number << 3 | 2];
        bytes.extend(strings::varint(data.len()));
        bytes.extend(data);
        bytes
    };
    // AttrValue.list, AttrValue.ListValue.func, NameAttrList.name
    let list: Vec<u8> = names.iter().flat_map(|name| field(9, &field(1, name.as_bytes()))).collect();
    field(1, &list)
}

/// What TF_AttrMetadata has; `attr_type` is a number of TF_AttrType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttrMetadata {
    /// None when the value is no list.
    pub list_size: Option<i64>,
    /// The kind of the value, or of each element.
    pub attr_type: i32,
    /// The bytes of strings, or the number of dimensions.
    pub total_size: i64,
}

// A call of TF_OperationGetAttr..., with the name and a status.
fn get(op: &Operation, name: &str, call: impl FnOnce(ffi::Op, ffi::Text, ffi::S)) -> Result<()> {
    let name = c_string(name)?;
    let status = Checked::new();
    call(op.c(), name.as_ptr(), status.c());
    status.result()
}

macro_rules! getters {
    ($($one:ident $many:ident $c_one:ident $c_many:ident $c:ty => $rust:ty, $convert:expr;)*) => {$(
        /// The value of an attribute of this type.
        pub fn $one(&self, name: &str) -> Result<$rust> {
            let mut value: $c = Default::default();
            get(self, name, |op, n, s| unsafe { ffi::$c_one(op, n, &mut value, s) })?;
            Ok($convert(value))
        }

        /// The value of an attribute that is a list of this type.
        pub fn $many(&self, name: &str) -> Result<Vec<$rust>> {
            let count = self.list_size(name)?;
            let mut values: Vec<$c> = vec![Default::default(); count];
            get(self, name, |op, n, s| unsafe {
                ffi::$c_many(op, n, values.as_mut_ptr(), count as c_int, s)
            })?;
            Ok(values.into_iter().map($convert).collect())
        }
    )*};
}

impl Operation {
    /// How large the value of an attribute is.
    pub fn get_attr_metadata(&self, name: &str) -> Result<AttrMetadata> {
        let mut found = None;
        get(self, name, |op, n, s| {
            found = Some(unsafe { ffi::TF_OperationGetAttrMetadata(op, n, s) });
        })?;
        let found = found.expect("the call above has set it");
        Ok(AttrMetadata {
            list_size: (found.is_list != 0).then(|| found.list_size),
            attr_type: found.kind,
            total_size: found.total_size,
        })
    }

    fn list_size(&self, name: &str) -> Result<usize> {
        let size = self.get_attr_metadata(name)?.list_size;
        size.map(|n| n as usize).ok_or_else(|| Status::invalid(format!("attribute {name} is no list")))
    }

    getters! {
        get_attr_int get_attr_int_list TF_OperationGetAttrInt TF_OperationGetAttrIntList i64 => i64, |v| v;
        get_attr_float get_attr_float_list TF_OperationGetAttrFloat TF_OperationGetAttrFloatList f32 => f32, |v| v;
        get_attr_bool get_attr_bool_list TF_OperationGetAttrBool TF_OperationGetAttrBoolList u8 => bool, |v| v != 0;
        get_attr_type get_attr_type_list TF_OperationGetAttrType TF_OperationGetAttrTypeList c_int => DataType, DataType::of;
    }

    /// The bytes of an attribute that is a string.
    pub fn get_attr_string(&self, name: &str) -> Result<Vec<u8>> {
        let size = self.get_attr_metadata(name)?.total_size.max(0) as usize;
        let mut value = vec![0u8; size];
        get(self, name, |op, n, s| unsafe {
            ffi::TF_OperationGetAttrString(op, n, value.as_mut_ptr().cast(), size, s);
        })?;
        Ok(value)
    }

    /// The bytes of each string of an attribute that is a list of them.
    pub fn get_attr_string_list(&self, name: &str) -> Result<Vec<Vec<u8>>> {
        let count = self.list_size(name)?;
        let size = self.get_attr_metadata(name)?.total_size as usize;
        let mut storage = vec![0u8; size];
        let (mut texts, mut lengths) = (vec![ptr::null_mut(); count], vec![0usize; count]);
        get(self, name, |op, n, s| unsafe {
            let (texts, lengths) = (texts.as_mut_ptr(), lengths.as_mut_ptr());
            let storage = storage.as_mut_ptr().cast();
            ffi::TF_OperationGetAttrStringList(op, n, texts, lengths, count as c_int, storage, size, s);
        })?;
        let bytes = |(&text, &length): (&*mut c_void, &usize)| match length {
            0 => Vec::new(),
            _ => unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) }.to_vec(),
        };
        Ok(texts.iter().zip(&lengths).map(bytes).collect())
    }

    /// The value of an attribute that is a shape.
    pub fn get_attr_shape(&self, name: &str) -> Result<Shape> {
        let rank = self.get_attr_metadata(name)?.total_size;
        if rank < 0 {
            return Ok(Shape::new(None));
        }
        let mut dims = vec![0i64; rank as usize];
        get(self, name, |op, n, s| unsafe {
            ffi::TF_OperationGetAttrShape(op, n, dims.as_mut_ptr(), rank as c_int, s);
        })?;
        Ok(Shape::from(&dims[..]))
    }

    /// The value of an attribute that is a list of shapes.
    pub fn get_attr_shape_list(&self, name: &str) -> Result<Vec<Shape>> {
        let count = self.list_size(name)?;
        let size = self.get_attr_metadata(name)?.total_size.max(0) as usize;
        let mut storage = vec![0i64; size];
        let (mut dims, mut ranks) = (vec![ptr::null_mut(); count], vec![0 as c_int; count]);
        get(self, name, |op, n, s| unsafe {
            let (dims, ranks) = (dims.as_mut_ptr(), ranks.as_mut_ptr());
            let (count, size) = (count as c_int, size as c_int);
            ffi::TF_OperationGetAttrShapeList(op, n, dims, ranks, count, storage.as_mut_ptr(), size, s);
        })?;
        let shape = |(&dims, &rank): (&*mut i64, &c_int)| match rank {
            rank if rank < 0 => Shape::new(None),
            0 => Shape::new(Some(vec![])),
            _ => Shape::from(unsafe { std::slice::from_raw_parts(dims, rank as usize) }),
        };
        Ok(dims.iter().zip(&ranks).map(shape).collect())
    }

    /// The value of an attribute that is a tensor.
    pub fn get_attr_tensor<T: TensorType>(&self, name: &str) -> Result<Tensor<T>> {
        let mut value = ptr::null_mut();
        get(self, name, |op, n, s| unsafe {
            ffi::TF_OperationGetAttrTensor(op, n, &mut value, s);
        })?;
        Tensor::from_raw(Raw(value))
    }

    /// The value of an attribute that is a list of tensors.
    pub fn get_attr_tensor_list<T: TensorType>(&self, name: &str) -> Result<Vec<Tensor<T>>> {
        let count = self.list_size(name)?;
        let mut values = vec![ptr::null_mut(); count];
        get(self, name, |op, n, s| unsafe {
            ffi::TF_OperationGetAttrTensorList(op, n, values.as_mut_ptr(), count as c_int, s);
        })?;
        // All of them are owned before one is looked at.
        let values: Vec<_> = values.into_iter().map(Raw).collect();
        values.into_iter().map(Tensor::from_raw).collect()
    }

    /// The serialized AttrValue of an attribute of any type.
    pub fn get_attr_value_proto(&self, name: &str) -> Result<Vec<u8>> {
        let name = c_string(name)?;
        into_buffer(|buffer, s| unsafe {
            ffi::TF_OperationGetAttrValueProto(self.c(), name.as_ptr(), buffer, s);
        })
    }
}
