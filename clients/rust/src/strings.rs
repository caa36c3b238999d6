//! The memory of a tensor of strings: an offset of 8 bytes for each, and then each string
//! after its length as a varint. So it is in TensorFlow up to 2.3.

use crate::{Result, Status};

pub(crate) fn encode<T: AsRef<[u8]>>(strings: &[T]) -> Vec<u8> {
    let mut memory = Vec::new();
    let mut texts = Vec::new();
    for each in strings {
        let bytes = each.as_ref();
        memory.extend((texts.len() as u64).to_ne_bytes());
        texts.extend(varint(bytes.len()));
        texts.extend(bytes);
    }
    memory.extend(texts);
    memory
}

pub(crate) fn decode(memory: &[u8], count: usize) -> Result<Vec<Vec<u8>>> {
    let whole = || {
        let texts = memory.get(8 * count..)?;
        let mut found = Vec::with_capacity(count);
        for i in 0..count {
            let offset = u64::from_ne_bytes(memory[8 * i..8 * i + 8].try_into().ok()?);
            let mut rest = texts.get(offset as usize..)?;
            let mut length = 0;
            for shift in (0..64).step_by(7) {
                let (&byte, after) = rest.split_first()?;
                rest = after;
                length |= usize::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            found.push(rest.get(..length)?.to_vec());
        }
        Some(found)
    };
    whole().ok_or_else(|| Status::invalid("the memory of a string tensor is malformed"))
}

pub(crate) fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
