package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Session is the state of a session between two events. It refers to messages by sequence and contains no text.
type Session struct {
	Bank    memory.BankID    `json:"bank"`
	Session memory.SessionID `json:"session"`
	Last    uint64           `json:"last"`    // last event that is included
	Message uint64           `json:"message"` // last message among them
	At      time.Time        `json:"at"`      // when that message was stored
	// Open are the messages that are not in a window yet, in stream order.
	Open   []memory.WindowMessage `json:"open,omitempty"`
	Tokens int                    `json:"tokens,omitempty"` // of the open messages that are extracted
	Topic  string                 `json:"topic,omitempty"`  // digest of the last topic named since the last cut
	// Recent are the last messages before the open ones, as context.
	Recent []uint64 `json:"recent,omitempty"`
	// Settings apply until the next flush; nil = chosen with the next message.
	Settings *Settings `json:"settings,omitempty"`
	// Chosen are settings that were chosen for events after Last, and that published windows may depend on: a replay
	// uses them and chooses no others.
	Chosen []Choice `json:"chosen,omitempty"`
}

// Choice records the settings that apply from an event on.
type Choice struct {
	Seq      uint64   `json:"seq"`
	Settings Settings `json:"settings"`
}

// Event is one event of a session as Cut needs it.
type Event struct {
	Seq       uint64
	Stored    time.Time
	Flush     bool
	Upto      uint64 // of a flush: void if a message after Upto precedes the flush; 0 = never void
	Role      memory.Role
	Tokens    int // of the text and captions, of a long text estimated
	Bytes     int // of text and captions
	Topic     string
	Recalled  bool
	Throttled bool
}

// Cut adds one event to a session and returns the new state and the windows that the event completes, in stream order:
// none, one, or two if the message cannot join the open ones. Cut is a pure function. An event at or before s.Last
// changes nothing, so events may be replayed. Every message is new in exactly one window; the remaining ones stay in
// Open until the next flush.
//
// A window is cut when TriggerEvery matching messages are open, when their text reaches WindowTokens, before a message
// that alone reaches WindowTokens (which is then a window of its own), before a new topic (with TopicTurn), at a flush
// that is not void, and at MaxOpen. Messages that are throttled, recalled or filtered are carried: they count only
// towards MaxOpen and are no context.
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

// carry returns the first reason why a message is not extracted, "" if it is.
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

// matching returns the number of open messages that are extracted.
func (s Session) matching() int {
	n := 0
	for _, m := range s.Open {
		if m.Carry == "" {
			n++
		}
	}
	return n
}

// window returns the open messages, with context before them up to WindowSize messages.
func (s Session) window(set Settings, why memory.Trigger) memory.Window {
	w := memory.Window{Bank: s.Bank, Session: s.Session, New: slices.Clone(s.Open), Trigger: why}
	w.ID = memory.NewWindowID(s.Bank, s.Session, w.First(), w.Last(), 0)
	if n := min(len(s.Recent), set.WindowSize-s.matching()); n > 0 {
		w.Context = slices.Clone(s.Recent[len(s.Recent)-n:])
	}
	return w
}

// close turns the open messages into context of the next window.
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

// topicDigest replaces a topic in the state of a session, which contains no text.
func topicDigest(topic string) string {
	sum := sha256.Sum256([]byte(memory.NormalText(topic)))
	return hex.EncodeToString(sum[:8])
}

// foreign reports whether an event was stored by a broker: an acknowledgement whose reply subject was one of the
// stream.
func foreign(e events.Event) bool { return memory.IsForeign(e.Data) }

// decode returns the event for Cut. The error says in what the stored event is malformed.
func decode(e events.Event, count func(string) int) (Event, error) {
	if e.Err != nil {
		return Event{}, e.Err
	}
	if e.Kind == events.KindFlush {
		f, err := memory.ParseFlush(e.Data)
		if err != nil {
			return Event{}, err
		}
		return Event{Seq: e.Seq, Stored: e.Stored, Flush: true, Upto: f.Upto}, nil
	}
	m, err := e.Message()
	if err != nil {
		return Event{}, err
	}
	in := Event{Seq: e.Seq, Stored: e.Stored, Role: m.Role, Topic: m.Topic, Recalled: m.Recalled, Bytes: len(m.Content) + len(m.Caption())}
	if !m.Recalled {
		in.Tokens = estimate(m.Content, count)
		if c := m.Caption(); c != "" {
			in.Tokens += estimate(c, count)
		}
	}
	return in, nil
}

// maxCounted is how many bytes of a text its tokens are counted in.
const maxCounted = 32 << 10

// estimate returns the tokens of a text, of a long one by those of its beginning: counting a megabyte takes up to a
// second, in which every other session of the partition would wait.
func estimate(text string, count func(string) int) int {
	head := memory.Truncate(text, maxCounted)
	n := count(head)
	if len(head) < len(text) {
		n = int(float64(n) / float64(len(head)) * float64(len(text)))
	}
	return n
}
