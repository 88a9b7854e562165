package memory

import "time"

// Record is a kind of thing that recall returns.
type Record string

// The four records.
const (
	RecordFact        Record = "fact"
	RecordComposite   Record = "composite"
	RecordObservation Record = "observation"
	RecordMessage     Record = "message"
)

// Records lists the four records.
var Records = []Record{RecordFact, RecordComposite, RecordObservation, RecordMessage}

// Filter narrows what recall and list return: within one field any value
// matches, across fields all must. From and To bound when it was said or
// happened, both inclusive.
type Filter struct {
	Records  []Record   `json:"records,omitempty"`
	Kinds    []Kind     `json:"kinds,omitempty"`
	Types    []Type     `json:"types,omitempty"`
	Speakers []string   `json:"speakers,omitempty"`
	Entities []string   `json:"entities,omitempty"`
	Topics   []string   `json:"topics,omitempty"`
	Tags     []string   `json:"tags,omitempty"`
	Session  SessionID  `json:"session,omitempty"`
	From     *time.Time `json:"from,omitempty"`
	To       *time.Time `json:"to,omitempty"`
	AsOf     *time.Time `json:"as_of,omitempty"`
}

// RecallRequest asks what bears on a query. Only Query is required; Defaults
// fills the rest.
type RecallRequest struct {
	Query string `json:"query"`
	Filter
	MaxFacts   *int               `json:"max_facts,omitempty"`
	MaxTokens  *int               `json:"max_tokens,omitempty"`
	Now        *time.Time         `json:"now,omitempty"`
	Vector     Vector             `json:"vector,omitempty"`
	Strategies map[string]float64 `json:"strategies,omitempty"`
	After      uint64             `json:"after,omitempty"`
	AfterWrite uint64             `json:"after_write,omitempty"`
	Wait       *Duration          `json:"wait,omitempty"`
	Deadline   *Duration          `json:"deadline,omitempty"`
	MinScore   float64            `json:"min_score,omitempty"`
	Explain    bool               `json:"explain,omitempty"`
	Sources    *bool              `json:"sources,omitempty"`
	Exact      bool               `json:"exact,omitempty"`    // compare every vector of the bank, however large it is
	Judge      *Judge             `json:"judge,omitempty"`    // a language model keeps what bears on the query
	Adequacy   int                `json:"adequacy,omitempty"` // rounds, 0 to 2, in which a language model asks for what is missing
}

// The strategies of recall.
const (
	StrategyKeyword  = "keyword"
	StrategySemantic = "semantic"
	StrategyEntity   = "entity"
	StrategyTemporal = "temporal"
	StrategyGraph    = "graph"
	StrategyRecency  = "recency"
)

// Strategies lists the names a request may weigh.
var Strategies = []string{StrategyKeyword, StrategySemantic, StrategyEntity, StrategyTemporal, StrategyGraph, StrategyRecency}

// Contribution is what one strategy or signal gave an item.
type Contribution struct {
	Rank  int     `json:"rank,omitempty"` // 1 = best; 0 = the strategy does not rank
	Score float64 `json:"score"`
}

// Item is one thing recalled or listed.
type Item struct {
	ID         string                  `json:"id"`
	Record     Record                  `json:"record"`
	Kind       Kind                    `json:"kind,omitempty"`
	Type       string                  `json:"type,omitempty"`
	Text       string                  `json:"text"`
	Score      float64                 `json:"score"`
	Entities   []EntityID              `json:"entities"`
	Tags       []string                `json:"tags,omitempty"`
	Topic      string                  `json:"topic,omitempty"`
	Speaker    string                  `json:"speaker,omitempty"`
	Role       Role                    `json:"role,omitempty"`
	Occurred   *Span                   `json:"occurred,omitempty"`
	Said       *time.Time              `json:"said,omitempty"`
	Valid      []Interval              `json:"valid,omitempty"`
	Confidence float64                 `json:"confidence,omitempty"`
	Session    SessionID               `json:"session,omitempty"`
	Level      int                     `json:"level,omitempty"`
	Children   []string                `json:"children"`
	Sources    []MessageID             `json:"sources,omitempty"`
	Reasoning  string                  `json:"reasoning,omitempty"`
	Metadata   map[string]any          `json:"metadata,omitempty"`
	Version    uint64                  `json:"version,omitempty"`
	Superseded FactID                  `json:"superseded_by,omitempty"`
	Merged     FactID                  `json:"merged_into,omitempty"`
	Key        string                  `json:"key,omitempty"`
	Explain    map[string]Contribution `json:"explain,omitempty"`
}

// RecallReply answers a RecallRequest. Items is never null.
type RecallReply struct {
	Recall   string   `json:"recall"` // for feedback
	Items    []Item   `json:"items"`
	Tokens   int      `json:"tokens"`
	Fresh    bool     `json:"fresh"`
	Seen     uint64   `json:"seen"` // MEM_MESSAGES sequence that was applied
	Degraded []string `json:"degraded"`
	Took     Duration `json:"took"`
	Judged   *Judged  `json:"judged,omitempty"` // where judge was asked for and a language model judged
}

// Judged counts what a language model kept and dropped.
type Judged struct {
	Kept    int `json:"kept"`
	Dropped int `json:"dropped"`
}

// ReflectRequest asks for an answer, or for packed context for a caller's own model.
type ReflectRequest struct {
	RecallRequest
	Style    string `json:"style,omitempty"` // answer or context
	MaxTurns *int   `json:"max_turns,omitempty"`
	Stream   bool   `json:"stream,omitempty"`
}

// Citation is an item that a response rests on.
type Citation struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ReflectReply answers a ReflectRequest.
type ReflectReply struct {
	Response  string     `json:"response"`
	Citations []Citation `json:"citations"` // [n] in the response is the nth of them
	FactsUsed []string   `json:"facts_used"`
	Turns     int        `json:"turns"` // of the language model
	Usage     Usage      `json:"usage"` // of every model call of the request, failed ones too
	Mode      string     `json:"mode"`  // answer or context
	Degraded  []string   `json:"degraded"`
	Fresh     bool       `json:"fresh"`
	Tokens    int        `json:"tokens"`
	Judged    *Judged    `json:"judged,omitempty"` // of the first search, as in a recall
}

// Delta is a piece of a streamed response; the whole reply comes last.
type Delta struct {
	Delta string `json:"delta"`
	// Reset says that the pieces so far are void: the response begins anew.
	Reset bool `json:"reset,omitempty"`
}
