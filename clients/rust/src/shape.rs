use std::fmt;

/// The shape of a tensor, any part of which may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(Option<Vec<Option<i64>>>);

impl Shape {
    /// A shape of these sizes; None is what is unknown.
    pub fn new(sizes: Option<Vec<Option<i64>>>) -> Shape {
        Shape(sizes)
    }

    /// The rank, if it is known.
    pub fn dims(&self) -> Option<usize> {
        self.0.as_ref().map(Vec::len)
    }

    /// The sizes as C has them, where -1 is unknown; and the rank, which may be -1.
    pub(crate) fn c(&self) -> (Vec<i64>, i32) {
        let sizes = self.0.iter().flatten().map(|size| size.unwrap_or(-1)).collect();
        (sizes, self.dims().map_or(-1, |rank| rank as i32))
    }
}

/// Sizes of which -1 is an unknown one.
impl From<&[i64]> for Shape {
    fn from(sizes: &[i64]) -> Shape {
        Shape(Some(sizes.iter().map(|&size| (size >= 0).then(|| size)).collect()))
    }
}

impl<const N: usize> From<[i64; N]> for Shape {
    fn from(sizes: [i64; N]) -> Shape {
        Shape::from(&sizes[..])
    }
}

impl From<Shape> for Option<Vec<Option<i64>>> {
    fn from(shape: Shape) -> Self {
        shape.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = match &self.0 {
            Some(sizes) => sizes,
            None => return f.write_str("<unknown>"),
        };
        let words: Vec<_> = sizes
            .iter()
            .map(|size| size.map_or("?".to_string(), |s| s.to_string()))
            .collect();
        write!(f, "[{}]", words.join(", "))
    }
}
