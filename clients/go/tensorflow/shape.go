package tensorflow

import (
	"fmt"
	"strings"
)

// Shape of a tensor, any part of which may be unknown. The zero value is unknown.
type Shape struct{ dims []int64 }

// ScalarShape has no dimensions.
func ScalarShape() Shape { return Shape{[]int64{}} }

// MakeShape has these dimensions; -1 is an unknown one.
func MakeShape(dims ...int64) Shape { return Shape{append([]int64{}, dims...)} }

// NumDimensions is -1 when the rank is unknown.
func (s Shape) NumDimensions() int {
	if s.dims == nil {
		return -1
	}
	return len(s.dims)
}

// Size of a dimension, -1 when it is unknown.
func (s Shape) Size(dim int) int64 {
	if dim < 0 || dim >= len(s.dims) {
		return -1
	}
	return s.dims[dim]
}

// IsFullySpecified says that every dimension is known.
func (s Shape) IsFullySpecified() bool {
	for _, d := range s.dims {
		if d < 0 {
			return false
		}
	}
	return s.dims != nil
}

// ToSlice has the dimensions of a shape of known rank.
func (s Shape) ToSlice() ([]int64, error) {
	if s.dims == nil {
		return nil, fmt.Errorf("a shape of unknown rank has no dimensions")
	}
	return append([]int64{}, s.dims...), nil
}

func (s Shape) String() string {
	if s.dims == nil {
		return "?"
	}
	words := make([]string, len(s.dims))
	for i, d := range s.dims {
		words[i] = "?"
		if d >= 0 {
			words[i] = fmt.Sprint(d)
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}
