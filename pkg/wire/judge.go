package wire

import (
	"bytes"
	"encoding/json"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// DefaultJudgeThreshold is the score that a judged item needs if the request names none.
const DefaultJudgeThreshold = .6

// Judge asks a language model to judge what was found. It is true, false or {"threshold":0.6} on the wire.
type Judge struct {
	Off bool // false on the wire: as if nothing was asked
	// Threshold is the score an item needs to be kept, 0 to 1; nil = DefaultJudgeThreshold.
	Threshold *float64
}

// MarshalJSON writes the shortest form.
func (j Judge) MarshalJSON() ([]byte, error) {
	if j.Threshold == nil || j.Off {
		return json.Marshal(!j.Off)
	}
	return json.Marshal(map[string]float64{"threshold": *j.Threshold})
}

// UnmarshalJSON reads either form and refuses any other value.
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
		return memory.Invalid("judge", "expected true, false or {\"threshold\": 0 to 1}")
	}
	if with.Threshold != nil && (*with.Threshold < 0 || *with.Threshold > 1) {
		return memory.Invalid("judge.threshold", "is %g; expected 0 to 1", *with.Threshold)
	}
	*j = Judge{Threshold: with.Threshold}
	return nil
}
