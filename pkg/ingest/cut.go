package ingest

import (
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Session is where a session stands between two events. It names messages by
// sequence and holds no text.
type Session struct {
	Bank    memory.BankID    `json:"bank"`
	Session memory.SessionID `json:"session"`
	Last    uint64           `json:"last"`    // last event it includes
	Message uint64           `json:"message"` // last message among them
	At      time.Time        `json:"at"`      // when that message was stored
	// Open are the messages that are new in no window yet, in stream order.
	Open   []memory.WindowMessage `json:"open,omitempty"`
	Tokens int                    `json:"tokens,omitempty"` // of the open ones that are extracted
	Topic  string                 `json:"topic,omitempty"`  // digest of the last topic named since a cut
	// Recent are the last messages before the open ones that can be context.
	Recent []uint64 `json:"recent,omitempty"`
	// Settings in force; nil = to be read for the next message.
	Settings *Settings `json:"settings,omitempty"`
	// Chosen are settings that were chosen for events past Last, which windows
	// may already rest on: a replay uses them and chooses none anew.
	Chosen []Choice `json:"chosen,omitempty"`
}

// Choice says which settings hold from an event on.
type Choice struct {
	Seq      uint64   `json:"seq"`
	Settings Settings `json:"settings"`
}

// Event is what Cut needs to know of one event of a session.
type Event struct {
	Seq       uint64
	Stored    time.Time
	Flush     bool
	Upto      uint64 // of a flush: void if a message after it stands before the flush; 0 = not void
	Role      memory.Role
	Tokens    int // of the text
	Bytes     int // of text and captions
	Topic     string
	Recalled  bool
	Throttled bool
}

// Cut takes one event into a session and gives the windows it completes, in
// stream order: none, one, or two where a message cannot join what waits. It is
// a function of its arguments. An event at or before s.Last changes nothing, so
// events may be replayed. Every message is new in exactly one window; what is
// left waits in Open for the next flush.
//
// A window is cut when TriggerEvery messages that match wait, when their text
// reaches WindowTokens, before a message that alone reaches WindowTokens (which
// is then its own window), before the topic turns (with TopicTurn), at a flush
// that is not void, and at MaxOpen. Messages that are throttled, recalled or
// filtered are carried: they count for nothing but MaxOpen and are no context.
func Cut(s Session, e Event, set Settings) (Session, []memory.Window) {
	if e.Seq <= s.Last {
		return s, nil
	}
	s.Open, s.Recent = slices.Clone(s.Open), slices.Clone(s.Recent)
	s.Last = e.Seq
	var out []memory.Window
	cut := func(why memory.Trigger) {
		out = append(out, s.window(set, why))
		s.close(set)
	}
	if e.Flush {
		if e.Upto != 0 && s.Message > e.Upto {
			return s, nil
		}
		if len(s.Open) > 0 {
			cut(memory.TriggerFlush)
		}
		s.Settings = nil
		return s, out
	}
	carry := set.carry(e)
	huge := set.WindowTokens > 0 && e.Tokens >= set.WindowTokens
	if carry == "" && s.matching() > 0 {
		switch {
		case huge:
			cut(memory.TriggerTokens)
		case set.TopicTurn && e.Topic != "" && s.Topic != "" && topicDigest(e.Topic) != s.Topic:
			cut(memory.TriggerTopic)
		}
	}
	s.Message, s.At = e.Seq, e.Stored
	s.Open = append(s.Open, memory.WindowMessage{Seq: e.Seq, Carry: carry})
	if carry == "" {
		s.Tokens += e.Tokens
		if e.Topic != "" {
			s.Topic = topicDigest(e.Topic)
		}
	}
	switch {
	case carry == "" && set.WindowTokens > 0 && s.Tokens >= set.WindowTokens:
		cut(memory.TriggerTokens)
	case carry == "" && set.TriggerEvery > 0 && s.matching() >= set.TriggerEvery, len(s.Open) >= MaxOpen:
		cut(memory.TriggerCount)
	}
	return s, out
}

// carry says why a message is not extracted; the first reason counts.
func (s Settings) carry(e Event) memory.Carry {
	switch {
	case e.Throttled:
		return memory.CarryThrottled
	case e.Recalled:
		return memory.CarryRecalled
	case !s.Matches(e.Role):
		return memory.CarryFiltered
	}
	return ""
}

// matching counts the open messages that are extracted.
func (s Session) matching() int {
	n := 0
	for _, m := range s.Open {
		if m.Carry == "" {
			n++
		}
	}
	return n
}

// window is what is open, with context before it up to WindowSize messages.
func (s Session) window(set Settings, why memory.Trigger) memory.Window {
	w := memory.Window{Bank: s.Bank, Session: s.Session, New: slices.Clone(s.Open), Trigger: why}
	w.ID = memory.NewWindowID(s.Bank, s.Session, w.First(), w.Last(), 0)
	if n := min(len(s.Recent), set.WindowSize-s.matching()); n > 0 {
		w.Context = slices.Clone(s.Recent[len(s.Recent)-n:])
	}
	return w
}

// close makes what is open the context of what comes.
func (s *Session) close(set Settings) {
	for _, m := range s.Open {
		if m.Carry == "" {
			s.Recent = append(s.Recent, m.Seq)
		}
	}
	if n := len(s.Recent) - set.WindowSize; n > 0 {
		s.Recent = slices.Clone(s.Recent[n:])
	}
	s.Open, s.Tokens, s.Topic = nil, 0, ""
}
