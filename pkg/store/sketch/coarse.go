package sketch

import "math"

// Coarse is the direction of a vector in a byte an element: enough to tell what
// is far from what may be near. The zero value is of no dimension.
type Coarse struct {
	steps   []int8
	inverse float32 // of the length of steps; 0 = none has a direction
}

// CoarseError is more than a cosine of coarse vectors differs from that of the
// vectors: each element is off by half a step of 127 to the largest one, to either
// side. Of 384 dimensions a thousandth was seen.
const CoarseError = .02

// Coarsen reads what Pack wrote; the zero Coarse of bytes that are no packed vector.
func Coarsen(raw []byte) Coarse {
	n := PackedDimension(len(raw))
	if n == 0 {
		return Coarse{}
	}
	high, low := raw[scaleBytes:][:n], raw[scaleBytes+n:]
	out := Coarse{steps: make([]int8, n)}
	sum := 0
	for i, h := range high {
		fine := int(int8(h))<<2 | int(low[i/4]>>(2*(i%4))&3)
		s := min((fine+2)>>2, math.MaxInt8)
		out.steps[i] = int8(s)
		sum += s * s
	}
	if sum > 0 {
		out.inverse = float32(1 / math.Sqrt(float64(sum)))
	}
	return out
}

// Dimension is how many elements it has.
func (c Coarse) Dimension() int { return len(c.steps) }

// Cosine is about the cosine of two of one dimension; 0 where one has no direction.
func (c Coarse) Cosine(o Coarse) float32 {
	a, b := c.steps, o.steps
	if len(a) != len(b) {
		return 0
	}
	var s0, s1, s2, s3 int32 // four sums, which a processor adds side by side
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(a[0])*int32(b[0]) + int32(a[4])*int32(b[4])
		s1 += int32(a[1])*int32(b[1]) + int32(a[5])*int32(b[5])
		s2 += int32(a[2])*int32(b[2]) + int32(a[6])*int32(b[6])
		s3 += int32(a[3])*int32(b[3]) + int32(a[7])*int32(b[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += int32(a[i]) * int32(b[i])
	}
	return float32(int64(s0)+int64(s1)+int64(s2)+int64(s3)) * c.inverse * o.inverse
}
