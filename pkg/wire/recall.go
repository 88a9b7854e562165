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

// RecallsRequest lists the recalls that a bank has kept, the last one first.
type RecallsRequest struct {
	Limit int `json:"limit,omitempty"` // default 50, which is also how many are kept
}

// RecallsReply holds kept recalls; On says whether the bank keeps them. Items is never null.
type RecallsReply struct {
	On    bool         `json:"on"`
	Items []KeptRecall `json:"items"`
}

// KeptRecall is what was asked of a bank, what was found, and why.
type KeptRecall struct {
	At         time.Time       `json:"at"`
	Endpoint   string          `json:"endpoint"` // recall or reflect
	Recall     string          `json:"recall,omitempty"`
	Request    map[string]any  `json:"request"` // as it was sent, without its vector
	Items      []KeptItem      `json:"items"`   // of a reflect: what it cites
	Response   string          `json:"response,omitempty"`
	Confidence float64         `json:"confidence,omitempty"`
	Tokens     int             `json:"tokens"`
	Fresh      bool            `json:"fresh"`
	Degraded   []string        `json:"degraded,omitempty"`
	Took       memory.Duration `json:"took"`
}

// Query is what was asked, in words.
func (k KeptRecall) Query() string {
	q, _ := k.Request["query"].(string) //nolint:errcheck // of another type it is no query
	return q
}

// KeptItem is an item that was given. Its text, and how many are kept, is cut.
type KeptItem struct {
	ID      string                         `json:"id"`
	Record  memory.Record                  `json:"record,omitempty"`
	Text    string                         `json:"text"`
	Score   float64                        `json:"score,omitempty"`
	Explain map[string]memory.Contribution `json:"explain,omitempty"` // what each strategy and signal contributed
}
