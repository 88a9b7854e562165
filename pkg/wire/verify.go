package wire

import (
	"fmt"
	"strings"
)

// VerifyRequest asks for a check of the store against itself and the log.
type VerifyRequest struct {
	// Full reads the whole file and log, where a part is enough otherwise.
	Full bool `json:"full,omitempty"`
}

// Verification is what a check of the store found. It names tables, ids and numbers, never text.
type Verification struct {
	OK       bool           `json:"ok"`       // no problem was found
	Counts   map[string]int `json:"counts"`   // rows by table
	Problems []string       `json:"problems"` // the broken rules, a sentence each; never null
	Checks   []Check        `json:"checks"`   // every rule, in the order checked
}

// Add records the result of one rule.
func (v *Verification) Add(c Check) {
	v.Checks = append(v.Checks, c)
	if c.Broken == 0 {
		return
	}
	v.OK = false
	p := fmt.Sprintf("%s: broken %d times", c.Rule, c.Broken)
	if c.Broken == 1 {
		p = c.Rule + ": broken"
	}
	if len(c.Where) > 0 {
		p += " (" + strings.Join(c.Where, ", ") + ")"
	}
	v.Problems = append(v.Problems, p)
}

// NewVerification returns a Verification without checks or problems.
func NewVerification() Verification {
	return Verification{OK: true, Counts: map[string]int{}, Problems: []string{}, Checks: []Check{}}
}

// Check is one rule and the result of checking it.
type Check struct {
	Rule    string   `json:"rule"`
	Broken  int      `json:"broken"`            // how often; 0 = it holds, or was not checked
	Where   []string `json:"where,omitempty"`   // some of the places
	Skipped string   `json:"skipped,omitempty"` // why it was not checked
}
