package memory

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
)

// Vector is an embedding. In an event of the log it is a base64 string of little-endian float32; a caller may also give
// a JSON array of numbers.
type Vector []float32

// MarshalJSON writes the base64 form; a nil vector is null.
func (v Vector) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(v.Bytes()))
}

// UnmarshalJSON reads either form.
func (v *Vector) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(raw)%4 != 0 {
			return Invalid("vector", "is not base64 of float32 values")
		}
		*v = VectorOf(raw)
		return nil
	}
	var f []float32
	if err := json.Unmarshal(b, &f); err != nil {
		return Invalid("vector", "must be an array of numbers or base64 of float32 values")
	}
	*v = f
	return nil
}

// Bytes returns the little-endian float32 form, 4 bytes per dimension.
func (v Vector) Bytes() []byte {
	b := make([]byte, 4*len(v))
	for i, f := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
	}
	return b
}

// VectorOf reads what Bytes wrote; bytes past the last whole value are ignored.
func VectorOf(b []byte) Vector {
	v := make(Vector, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// Check reports a vector that cannot be compared: empty, zero, or with NaN or infinity.
func (v Vector) Check(field string) error {
	var sum float64
	for i, f := range v {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return Invalid(field, "element %d is not a finite number", i)
		}
		sum += float64(f) * float64(f)
	}
	if sum == 0 {
		return Invalid(field, "must not be empty or zero")
	}
	return nil
}

// Unit returns v scaled to length 1; a zero vector stays zero.
func (v Vector) Unit() Vector {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	out := make(Vector, len(v))
	if sum == 0 {
		return out
	}
	n := 1 / math.Sqrt(sum)
	for i, f := range v {
		out[i] = float32(float64(f) * n)
	}
	return out
}

// Cosine returns the cosine similarity of two vectors, in [-1, 1]; 0 when their sizes differ or either is zero.
func Cosine(a, b Vector) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, na, nb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		na += x * x
		nb += y * y
	}
	if na == 0 || nb == 0 {
		return 0
	}
	return max(-1, min(1, dot/math.Sqrt(na*nb)))
}
