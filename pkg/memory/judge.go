package memory

import (
	"bytes"
	"encoding/json"
)

// DefaultJudgeThreshold is what a judged item needs where a request names none.
const DefaultJudgeThreshold = .6

// Judge asks that a language model judges what was found. It is true, false or
// {"threshold":0.6} on the wire.
type Judge struct {
	Off bool // false on the wire: as if nothing was asked
	// Threshold is what an item needs to be kept, 0 to 1; nil = DefaultJudgeThreshold.
	Threshold *float64
}

// MarshalJSON writes the shortest form.
func (j Judge) MarshalJSON() ([]byte, error) {
	if j.Threshold == nil || j.Off {
		return json.Marshal(!j.Off)
	}
	return json.Marshal(map[string]float64{"threshold": *j.Threshold})
}

// UnmarshalJSON reads either form and refuses what it does not know.
func (j *Judge) UnmarshalJSON(b []byte) error {
	var on bool
	if json.Unmarshal(b, &on) == nil {
		*j = Judge{Off: !on}
		return nil
	}
	var with struct {
		Threshold *float64 `json:"threshold"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&with) != nil {
		return Invalid("judge", "expected true, false or {\"threshold\": 0 to 1}")
	}
	if with.Threshold != nil && (*with.Threshold < 0 || *with.Threshold > 1) {
		return Invalid("judge.threshold", "is %g; expected 0 to 1", *with.Threshold)
	}
	*j = Judge{Threshold: with.Threshold}
	return nil
}
