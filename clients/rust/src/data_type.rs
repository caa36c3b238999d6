use std::os::raw::c_int;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DataType {
    Float,
    Double,
    Int32,
    UInt8,
    Int16,
    Int8,
    String,
    Complex64,
    Int64,
    Bool,
    QInt8,
    QUInt8,
    QInt32,
    BFloat16,
    QInt16,
    QUInt16,
    UInt16,
    Complex128,
    Half,
    Resource,
    Variant,
    UInt32,
    UInt64,
    /// A number that this crate has no name for, such as that of a reference.
    Other(c_int),
}

// By number, from 1.
const TYPES: [DataType; 23] = [
    DataType::Float,
    DataType::Double,
    DataType::Int32,
    DataType::UInt8,
    DataType::Int16,
    DataType::Int8,
    DataType::String,
    DataType::Complex64,
    DataType::Int64,
    DataType::Bool,
    DataType::QInt8,
    DataType::QUInt8,
    DataType::QInt32,
    DataType::BFloat16,
    DataType::QInt16,
    DataType::QUInt16,
    DataType::UInt16,
    DataType::Complex128,
    DataType::Half,
    DataType::Resource,
    DataType::Variant,
    DataType::UInt32,
    DataType::UInt64,
];

impl DataType {
    pub(crate) fn of(number: c_int) -> DataType {
        let found = TYPES.get((number - 1) as usize);
        found.copied().unwrap_or(DataType::Other(number))
    }

    pub(crate) fn number(self) -> c_int {
        match self {
            DataType::Other(number) => number,
            known => 1 + TYPES.iter().position(|each| *each == known).unwrap() as c_int,
        }
    }
}
