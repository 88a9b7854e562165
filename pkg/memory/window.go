package memory

// Trigger says why a window was cut.
type Trigger string

// The reasons a window is cut.
const (
	TriggerCount  Trigger = "count"
	TriggerTokens Trigger = "tokens"
	TriggerFlush  Trigger = "flush"
	TriggerTopic  Trigger = "topic"
)

// Carry says how a window carries a message that is not extracted.
type Carry string

// The reasons for which a message is carried without being extracted.
const (
	CarryFiltered  Carry = "filtered"  // its role is outside the role filter
	CarryRecalled  Carry = "recalled"  // it came out of memory
	CarryThrottled Carry = "throttled" // the bank was over its quota
)

// WindowMessage names a new message of a window by its stream sequence.
type WindowMessage struct {
	Seq   uint64 `json:"seq"`
	Carry Carry  `json:"carry,omitempty"` // "" = to be extracted
}

// Window is a run of messages of one session that is extracted together. It names messages by sequence and carries no
// text. Every message is new in exactly one window.
type Window struct {
	ID         WindowID        `json:"id"`
	Bank       BankID          `json:"-"`
	Session    SessionID       `json:"-"`
	Generation int             `json:"generation"`
	New        []WindowMessage `json:"new"`               // in stream order, never empty
	Context    []uint64        `json:"context,omitempty"` // before the new ones, in stream order
	Trigger    Trigger         `json:"trigger"`
}

// First is the sequence of the first new message.
func (w Window) First() uint64 { return w.New[0].Seq }

// Last is the sequence of the last new message.
func (w Window) Last() uint64 { return w.New[len(w.New)-1].Seq }
