package memory

import (
	"slices"
	"time"
)

// Record names a kind of record: what recall returns and a list lists.
type Record string

// The four record kinds.
const (
	RecordFact        Record = "fact"
	RecordComposite   Record = "composite"
	RecordObservation Record = "observation"
	RecordMessage     Record = "message"
)

// Records lists the four record kinds.
var Records = []Record{RecordFact, RecordComposite, RecordObservation, RecordMessage}

// Exclude names what a filter leaves out. Sessions and Speakers leave out what a filter of that session, or of those
// speakers, lets through. IDs leave out the records of these ids, and nothing else that rests on the same messages. A
// composite or an observation that rests on a fact left out is left out too; the other leaves of the composite are not.
type Exclude struct {
	Sessions []SessionID `json:"sessions,omitempty"`
	Speakers []string    `json:"speakers,omitempty"`
	IDs      []string    `json:"ids,omitempty"`
}

// Filter narrows what recall and list return: within one field any value matches, across fields all must. From and To
// bound when it was said or happened, both inclusive. Exclude leaves out of that what any value of it names.
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
	Exclude  *Exclude   `json:"exclude,omitempty"`
}

// Finds reports whether records of a kind may pass: those that Records names, or every kind where it names none.
func (f Filter) Finds(r Record) bool { return len(f.Records) == 0 || slices.Contains(f.Records, r) }

// The strategies of recall.
const (
	StrategyKeyword  = "keyword"
	StrategySemantic = "semantic"
	StrategyEntity   = "entity"
	StrategyTemporal = "temporal"
	StrategyGraph    = "graph"
	StrategyRecency  = "recency"
)

// Strategies lists the strategies that a request may give a weight.
var Strategies = []string{StrategyKeyword, StrategySemantic, StrategyEntity, StrategyTemporal, StrategyGraph, StrategyRecency}

// Contribution is what one strategy or signal contributed to the score of an item.
type Contribution struct {
	Rank  int     `json:"rank,omitempty"` // 1 = best; 0 = the strategy does not rank
	Score float64 `json:"score"`
}

// Passage is a part of a message's text, in bytes.
type Passage struct {
	Start int `json:"start"` // of its first byte
	End   int `json:"end"`   // after its last byte
	Of    int `json:"of"`    // the length of the whole text
}

// Item is one record as it is recalled or listed.
type Item struct {
	ID         string                  `json:"id"`
	Record     Record                  `json:"record"`
	Kind       Kind                    `json:"kind,omitempty"`
	Type       string                  `json:"type,omitempty"`
	Text       string                  `json:"text"`
	Passage    *Passage                `json:"passage,omitempty"` // of a long message that recall found: Text is this part of it
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
	Cut        bool                    `json:"cut,omitempty"` // the text is cut: whole, the reply would be too large
}
