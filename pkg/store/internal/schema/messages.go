package schema

import (
	"database/sql"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Messages describes messages, their events in the log, and the windows in which they were extracted. A row number is
// the sequence of the message in its stream.
func Messages() Kind {
	return Kind{
		Record: memory.RecordMessage, Table: "messages", Alias: "m", Number: "seq", Said: "time", Indexed: []string{"content", "caption"},
		GivenIDs: true, Vectors: VectorTable{"message_vectors", "message"},
		Passes: func(f Filter) Condition { return f.Messages },
		Hidden: func(number string) string {
			return ` AND NOT EXISTS (SELECT 1 FROM messages d INDEXED BY messages_replaced WHERE d.bank = ? AND d.seq = ` + number + ` AND d.replaced IS NOT NULL)`
		},
		AllHidden: `SELECT d.seq AS no FROM messages d INDEXED BY messages_replaced WHERE d.bank = ? AND d.replaced IS NOT NULL ORDER BY d.seq`,
		Items:     Items{Select: messageItem, Scan: scanMessageItem},
		Rules:     messageRules,
		Tables: []Table{
			{Name: "message_events", OfBank: true, Sequence: "seq", Dump: `SELECT e.seq, b.id, e.session, e.state, e.stored, e.id, e.speaker FROM message_events e JOIN banks b ON b.no = e.bank ORDER BY e.seq`},
			{Name: "messages", OfBank: true, Sequence: "seq", Dump: `SELECT m.seq, b.id, m.id, m.session, m.role, m.speaker, m.content, m.caption, m.indexed, m.grams, m.time, m.stored, m.topic,
  m.replaces, m.replaced, m.recalled, m.images, m.metadata, m.extra FROM messages m JOIN banks b ON b.no = m.bank ORDER BY m.seq`},
			{Name: "replacements", OfBank: true, Dump: `SELECT b.id, r.id, r.by, r.time FROM replacements r JOIN banks b ON b.no = r.bank ORDER BY b.id, r.id`},
			{Name: "windows", OfBank: true, Dump: `SELECT w.id, b.id, w.session, w.first, w.last, w.generation, w.outcome, w.reason, w.write FROM windows w JOIN banks b ON b.no = w.bank ORDER BY w.id`},
		},
	}
}

const messageItem = `SELECT m.seq, m.id, m.session, m.role, m.speaker, coalesce(m.indexed, m.content), m.caption, m.time, m.topic, m.metadata
FROM json_each(?) j CROSS JOIN messages m ON m.seq = j.value WHERE +m.bank = ?`

func scanMessageItem(rows *sql.Rows) (no int64, i memory.Item, err error) {
	i = memory.Item{Record: memory.RecordMessage}
	var said int64
	var caption string
	var metadata []byte
	err = rows.Scan(&no, &i.ID, &i.Session, &i.Role, &i.Speaker, &i.Text, &caption, &said, &i.Topic, &metadata)
	if err != nil {
		return no, i, err
	}
	i.Text = withCaption(i.Text, caption)
	i.Sources = []memory.MessageID{memory.MessageID(i.ID)}
	setTimes(&i, said, sql.NullInt64{}, sql.NullInt64{})
	return no, i, engine.FromJSON(metadata, &i.Metadata)
}

// withCaption puts what a message's images show beneath its text.
func withCaption(text, caption string) string {
	switch {
	case caption == "":
		return text
	case text == "":
		return fmt.Sprintf("[image: %s]", caption)
	}
	return fmt.Sprintf("%s\n[image: %s]", text, caption)
}

func setTimes(i *memory.Item, said int64, from, to sql.NullInt64) {
	t := engine.Time(said)
	i.Said = &t
	if span := engine.Span(from, to); !span.IsZero() {
		i.Occurred = &span
	}
}

// lateVectors describes the vectors of messages, and the notes on which writes of the log hold vectors that came after
// their record.
func lateVectors() Kind {
	return Kind{
		Rules: []Rule{{"late vectors are noted with a write", `SELECT write FROM vector_events WHERE write < 1 OR id = ''`}},
		Tables: []Table{
			{Name: "message_vectors", Dump: `SELECT b.id, k.message, k.vector FROM message_vectors k JOIN banks b ON b.no = k.bank ORDER BY k.message`},
			{Name: "vector_events", OfBank: true, Dump: `SELECT b.id, v.id, v.write FROM vector_events v JOIN banks b ON b.no = v.bank ORDER BY b.id, v.id, v.write`},
		},
	}
}
