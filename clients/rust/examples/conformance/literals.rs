//! Tensors, shapes and attributes of the tables.

use crate::world::{broken, Problem};
use tensorloom::{AnyTensor, AttrValue, DataType, Operation, Shape, Tensor, TensorType};

pub type Outcome<T> = Result<T, Problem>;

const DTYPES: [(&str, DataType); 13] = [
    ("float32", DataType::Float),
    ("float64", DataType::Double),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("bool", DataType::Bool),
    ("string", DataType::String),
    ("resource", DataType::Resource),
];

pub fn dtype(name: &str) -> DataType {
    DTYPES.iter().find(|(text, _)| *text == name).map_or(DataType::Other(0), |(_, dtype)| *dtype)
}

pub fn list(text: &str, separator: char) -> Vec<&str> {
    if text.is_empty() { vec![] } else { text.split(separator).collect() }
}

pub fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        plain.push(u8::from_str_radix(&part[..2], 16).expect("two digits after %"));
        plain.extend(part[2..].as_bytes());
    }
    plain
}

pub fn shape(text: &str) -> Shape {
    if text == "unknown" {
        return Shape::new(None);
    }
    let sizes = if text == "scalar" { "" } else { text };
    Shape::new(Some(list(sizes, ',').iter().map(|size| size.parse().ok()).collect()))
}

pub fn show(shape: &Shape) -> String {
    match Option::<Vec<Option<i64>>>::from(shape.clone()) {
        None => "unknown".into(),
        Some(sizes) if sizes.is_empty() => "scalar".into(),
        Some(sizes) => {
            let word = |size: &Option<i64>| size.map_or("?".into(), |s| s.to_string());
            sizes.iter().map(word).collect::<Vec<String>>().join(",")
        }
    }
}

/// An element as the tables write it.
pub trait Element: TensorType {
    fn parse(text: &str) -> Self;
    fn same(&self, other: &Self) -> bool;
}

macro_rules! whole {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn parse(text: &str) -> $t {
                text.parse().expect("a number")
            }
            fn same(&self, other: &$t) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn parse(text: &str) -> $t {
                text.parse().expect("a number")
            }
            fn same(&self, other: &$t) -> bool {
                self == other
                    || self.is_nan() && other.is_nan()
                    || (self - other).abs() <= 1e-5 + 1e-4 * other.abs()
            }
        }
    )*};
}

whole! { i8 i16 i32 i64 u8 u16 u32 u64 bool }
real! { f32 f64 }

impl Element for Vec<u8> {
    fn parse(text: &str) -> Vec<u8> {
        unescape(text)
    }
    fn same(&self, other: &Vec<u8>) -> bool {
        self == other
    }
}

/// DTYPE[DIMS]=VALUE,... in its parts; one value stands for all elements.
pub struct Literal<'a> {
    pub dtype: &'a str,
    dims: Vec<u64>,
    values: Vec<&'a str>,
}

impl<'a> Literal<'a> {
    pub fn new(text: &'a str) -> Literal<'a> {
        let (dtype, rest) = text.split_once('[').expect("a tensor");
        let (dims, values) = rest.split_once("]=").expect("a tensor");
        let dims: Vec<u64> = list(dims, ',').iter().map(|d| d.parse().expect("a size")).collect();
        let count = dims.iter().product::<u64>() as usize;
        let mut values: Vec<&str> = values.split(',').collect();
        values.resize(count, values[0]);
        Literal { dtype, dims, values }
    }

    pub fn tensor<T: Element>(&self) -> Tensor<T> {
        let values: Vec<T> = self.values.iter().map(|text| T::parse(text)).collect();
        Tensor::new(&self.dims).with_values(&values).expect("as many values as the shape has")
    }

    pub fn expect<T: Element>(&self, what: &str, got: &Tensor<T>) -> Outcome<()> {
        if got.dims() != self.dims {
            return broken(format!("{what} has dims {:?}, not {:?}", got.dims(), self.dims));
        }
        let expected = self.tensor::<T>();
        match got.iter().zip(expected.iter()).position(|(a, b)| !a.same(b)) {
            Some(i) => broken(format!("element {i} of {what} is not {}", self.values[i])),
            None => Ok(()),
        }
    }
}

/// Calls a generic function with the Rust type of a dtype by its name.
#[macro_export]
macro_rules! with_type {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            "float32" => { type $t = f32; $body }
            "float64" => { type $t = f64; $body }
            "int8" => { type $t = i8; $body }
            "int16" => { type $t = i16; $body }
            "int32" => { type $t = i32; $body }
            "uint8" => { type $t = u8; $body }
            "uint16" => { type $t = u16; $body }
            "uint32" => { type $t = u32; $body }
            "uint64" => { type $t = u64; $body }
            "bool" => { type $t = bool; $body }
            "string" => { type $t = Vec<u8>; $body }
            _ => { type $t = i64; $body }
        }
    };
}

pub fn tensor(text: &str) -> Box<dyn AnyTensor + Send> {
    let literal = Literal::new(text);
    with_type!(literal.dtype, T => Box::new(literal.tensor::<T>()))
}

pub fn attr(text: &str) -> Outcome<AttrValue> {
    let (kind, value) = text.split_once(':').expect("a kind and a value");
    let parts = list(value, ',');
    Ok(match kind {
        "int" => AttrValue::Int(i64::parse(value)),
        "float" => AttrValue::Float(f32::parse(value)),
        "bool" => AttrValue::Bool(value == "true"),
        "type" => AttrValue::Type(dtype(value)),
        "string" => AttrValue::String(unescape(value)),
        "func" => AttrValue::Func(value.into()),
        "shape" => AttrValue::Shape(shape(value)),
        "tensor" => {
            let literal = Literal::new(value);
            with_type!(literal.dtype, T => AttrValue::from(literal.tensor::<T>()))
        }
        "proto" => AttrValue::Proto(unescape(value)),
        "ints" => AttrValue::Ints(parts.iter().map(|part| i64::parse(part)).collect()),
        "floats" => AttrValue::Floats(parts.iter().map(|part| f32::parse(part)).collect()),
        "bools" => AttrValue::Bools(parts.iter().map(|part| *part == "true").collect()),
        "types" => AttrValue::Types(parts.iter().map(|part| dtype(part)).collect()),
        "strings" => AttrValue::Strings(parts.iter().map(|part| unescape(part)).collect()),
        "shapes" => AttrValue::Shapes(list(value, ';').iter().map(|part| shape(part)).collect()),
        _ => return broken(format!("no kind of attribute {kind}")),
    })
}

pub fn expect_attr(op: &Operation, name: &str, text: &str) -> Outcome<()> {
    let (kind, value) = text.split_once(':').expect("a kind and a value");
    let same = match attr(text)? {
        AttrValue::Int(v) => op.get_attr_int(name)? == v,
        AttrValue::Float(v) => op.get_attr_float(name)? == v,
        AttrValue::Bool(v) => op.get_attr_bool(name)? == v,
        AttrValue::Type(v) => op.get_attr_type(name)? == v,
        AttrValue::String(v) => op.get_attr_string(name)? == v,
        AttrValue::Shape(v) => op.get_attr_shape(name)? == v,
        AttrValue::Ints(v) => op.get_attr_int_list(name)? == v,
        AttrValue::Floats(v) => op.get_attr_float_list(name)? == v,
        AttrValue::Bools(v) => op.get_attr_bool_list(name)? == v,
        AttrValue::Types(v) => op.get_attr_type_list(name)? == v,
        AttrValue::Strings(v) => op.get_attr_string_list(name)? == v,
        AttrValue::Shapes(v) => op.get_attr_shape_list(name)? == v,
        AttrValue::Tensor(_) => {
            let literal = Literal::new(value);
            let what = "the attribute";
            return with_type!(literal.dtype, T => {
                literal.expect(what, &op.get_attr_tensor::<T>(name)?)
            });
        }
        _ => return broken(format!("no kind of attribute {kind} is read")),
    };
    if same { Ok(()) } else { broken(format!("attribute {name} is not {text}")) }
}
