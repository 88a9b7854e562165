package ingest

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// topicDigest stands for a topic in a session's state, which holds no text.
func topicDigest(topic string) string {
	sum := sha256.Sum256([]byte(memory.NormalText(topic)))
	return hex.EncodeToString(sum[:8])
}

// foreign reports an event that a broker put there: an acknowledgement led into
// the stream by a reply subject.
func foreign(e events.Event) bool { return memory.IsForeign(e.Data) }

// read makes Cut's event of a stored one. The error says why it is malformed.
func read(e events.Event, count func(string) int) (Event, error) {
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
		in.Tokens = count(m.Content)
		if c := m.Caption(); c != "" {
			in.Tokens += count(c)
		}
	}
	return in, nil
}
