package wire

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// RecallRequest asks what bears on a query. Only Query is required.
type RecallRequest struct {
	Query string `json:"query"`
	memory.Filter
	MaxFacts   *int               `json:"max_facts,omitempty"`
	MaxTokens  *int               `json:"max_tokens,omitempty"`
	Now        *time.Time         `json:"now,omitempty"`
	Vector     memory.Vector      `json:"vector,omitempty"`
	Strategies map[string]float64 `json:"strategies,omitempty"`
	After      uint64             `json:"after,omitempty"`
	AfterWrite uint64             `json:"after_write,omitempty"`
	Wait       *memory.Duration   `json:"wait,omitempty"`
	Deadline   *memory.Duration   `json:"deadline,omitempty"`
	MinScore   float64            `json:"min_score,omitempty"` // on the scale of Confidence
	Explain    bool               `json:"explain,omitempty"`
	Sources    *bool              `json:"sources,omitempty"`
	Exact      bool               `json:"exact,omitempty"`    // compare every vector of the bank, however large it is
	Judge      *Judge             `json:"judge,omitempty"`    // a language model keeps what bears on the query
	Adequacy   int                `json:"adequacy,omitempty"` // rounds, 0 to 2, in which a language model asks for what is missing
}

// RecallReply answers a RecallRequest. Items is never null.
type RecallReply struct {
	Recall string        `json:"recall"` // for feedback
	Items  []memory.Item `json:"items"`
	// Confidence is the chance that the items hold an answer, 0 to 1; 0 where nothing was found.
	Confidence float64         `json:"confidence"`
	Tokens     int             `json:"tokens"`
	Fresh      bool            `json:"fresh"`
	Seen       uint64          `json:"seen"` // MEM_MESSAGES sequence that was applied
	Degraded   []string        `json:"degraded"`
	Took       memory.Duration `json:"took"`
	Judged     *Judged         `json:"judged,omitempty"` // where judge was asked for and a language model judged
}

// Judged counts what a language model kept and dropped.
type Judged struct {
	Kept    int `json:"kept"`
	Dropped int `json:"dropped"`
}
