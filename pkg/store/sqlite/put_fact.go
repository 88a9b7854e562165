package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// factColumns reads a fact from "facts f", sources included; scanFact reads
// the row. The bank is the caller's and the vector stands in fact_vectors.
const factColumns = `f.no, f.id, f.key, f.text, f.kind, f.type, f.topic, f.speaker, f.role, f.session,
  f.occurred_from, f.occurred_to, f.said, f.said + f.recorded, f.valid, f.subject, f.attribute, f.value, f.superseded, f.merged,
  f.confidence, f.entities, f.tags, f.ops, f.outcome, f.metadata, f.version, f.pinned, f.extractor, f.model,
  (SELECT json_group_array(json_object('message', s.message, 'seq', s.seq, 'said', s.said, 'start', s.said + s.start) ORDER BY s.seq)
   FROM fact_sources s WHERE s.fact = f.no)`

// factSource is a source as factColumns gives it.
type factSource struct {
	Message memory.MessageID `json:"message"`
	Seq     uint64           `json:"seq"`
	Said    int64            `json:"said"`
	Start   int64            `json:"start"`
}

// scanFact reads a row of factColumns, and what is selected after them into
// more, and gives its row number. Lists that are empty are nil; Bank and Vector
// are not filled.
func scanFact(rows *sql.Rows, more ...any) (no int64, f memory.Fact, err error) {
	var key, subject, attribute, value, superseded, merged sql.NullString
	var from, to sql.NullInt64
	var said, recorded int64
	var valid, entities, tags, ops, outcome, metadata, sources []byte
	columns := []any{&no, &f.ID, &key, &f.Text, &f.Kind, &f.Type, &f.Topic, &f.Speaker, &f.Role, &f.Session,
		&from, &to, &said, &recorded, &valid, &subject, &attribute, &value, &superseded, &merged,
		&f.Confidence, &entities, &tags, &ops, &outcome, &metadata, &f.Version, &f.Pinned, &f.Extractor, &f.Model, &sources}
	if err = rows.Scan(append(columns, more...)...); err != nil {
		return 0, f, err
	}
	f.Key, f.Superseded, f.Merged = key.String, memory.FactID(superseded.String), memory.FactID(merged.String)
	f.Occurred, f.Said, f.Recorded = spanOf(from, to), fromMicros(said), fromMicros(recorded)
	if subject.Valid {
		f.State = &memory.State{Subject: memory.EntityID(subject.String), Attribute: attribute.String, Value: value.String}
	}
	var rests []factSource
	if f.Valid, err = validOf(valid, said); err != nil {
		return 0, f, err
	}
	err = allJSON(entities, &f.Entities, tags, &f.Tags, ops, &f.Ops, outcome, &f.Outcome, metadata, &f.Metadata, sources, &rests)
	for _, s := range rests {
		f.Sources = append(f.Sources, memory.Source{Message: s.Message, Seq: s.Seq, Said: fromMicros(s.Said), Start: fromMicros(s.Start)})
	}
	f.Entities, f.Tags, f.Ops = none(f.Entities), none(f.Tags), none(f.Ops)
	return no, f, err
}

// none is nil for an empty list.
func none[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// factBefore is what of a stored fact decides how its new state is stored.
type factBefore struct {
	no                    int64
	text, grams, entities string
	live                  bool
	said                  int64
}

// putFact stores the whole new state of a fact. A nil vector keeps the stored one.
func (a *applier) putFact(bank int64, f memory.Fact) error {
	const find = `SELECT no, text, grams, entities, live, said FROM facts WHERE id = ? AND bank = ?`
	var was factBefore
	err := a.tx.QueryRowContext(a.ctx, find, string(f.ID), bank).Scan(&was.no, &was.text, &was.grams, &was.entities, &was.live, &was.said)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("look up fact %s: %w", f.ID, err)
	}
	f.Text = text(f.Text)
	now := factBefore{no: was.no, text: f.Text, grams: was.grams, live: f.Live(), said: micros(f.Said)}
	if was.no == 0 || was.text != f.Text {
		now.grams = analysis.Grams(f.Text)
	}
	if now.entities, err = listJSON(f.Entities); err != nil {
		return fmt.Errorf("store fact %s: %w", f.ID, err)
	}
	if now.no, err = a.putFactRow(bank, f, now, was.no); err != nil {
		return fmt.Errorf("store fact %s: %w", f.ID, err)
	}
	a.memo.keepFact(bank, now.no, f, was.no != 0)
	steps := []func() error{
		func() error { return a.indexFact(bank, was, now) },
		func() error { return a.putTerms(bank, 0, now.no, was.indexed(), now.indexed()) },
		func() error { return a.putSources(now.no, f.Sources, was.no != 0) },
		func() error { return a.putFactEntities(bank, f.Entities, was, now) },
		func() error { return a.putFactVector(bank, now.no, was.no != 0, f.Vector) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("store fact %s: %w", f.ID, err)
		}
	}
	return nil
}

const insertFact = `INSERT INTO facts (key, text, grams, kind, type, topic, speaker, role, session, occurred_from, occurred_to,
  said, recorded, live, valid, subject, attribute, value, superseded, merged, confidence, entities, tags, ops, outcome, metadata,
  version, pinned, extractor, model, id, bank)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const updateFact = `UPDATE facts SET key = ?, text = ?, grams = ?, kind = ?, type = ?, topic = ?, speaker = ?, role = ?, session = ?,
  occurred_from = ?, occurred_to = ?, said = ?, recorded = ?, live = ?, valid = ?, subject = ?, attribute = ?, value = ?,
  superseded = ?, merged = ?, confidence = ?, entities = ?, tags = ?, ops = ?, outcome = ?, metadata = ?,
  version = ?, pinned = ?, extractor = ?, model = ? WHERE no = ?`

func (a *applier) putFactRow(bank int64, f memory.Fact, now factBefore, no int64) (int64, error) {
	valid, err1 := validText(f)
	tags, err2 := listJSON(f.Tags)
	ops, err3 := listJSON(f.Ops)
	outcome, err4 := jsonOrNull(f.Outcome == nil, f.Outcome)
	metadata, err5 := jsonOrNull(len(f.Metadata) == 0, f.Metadata)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return 0, err
	}
	var subject, attribute, value any
	if f.State != nil {
		subject, attribute, value = text(string(f.State.Subject)), text(f.State.Attribute), text(f.State.Value)
	}
	args := []any{orNull(f.Key), now.text, now.grams, string(f.Kind), string(f.Type), text(f.Topic), text(f.Speaker), string(f.Role), text(string(f.Session)),
		timeOrNull(f.Occurred.From), timeOrNull(f.Occurred.To), micros(f.Said), micros(f.Recorded) - micros(f.Said), now.live, valid, subject, attribute, value,
		orNull(string(f.Superseded)), orNull(string(f.Merged)), f.Confidence, now.entities, tags, ops, outcome, metadata,
		int64(f.Version), f.Pinned, f.Extractor, f.Model}
	if no != 0 {
		return no, a.exec("update", updateFact, append(args, no)...)
	}
	r, err := a.tx.ExecContext(a.ctx, insertFact, append(args, string(f.ID), bank)...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// validText writes the intervals in which a fact is valid: "" for the one that
// begins when it was said and does not end.
func validText(f memory.Fact) (string, error) {
	said := micros(f.Said)
	if len(f.Valid) == 1 && f.Valid[0].To == nil && said >= 0 && f.Valid[0].From.Equal(fromMicros(said)) {
		return "", nil
	}
	return listJSON(inUTC(f.Valid))
}

// validOf reads what validText wrote of a fact that was said then; nil for no interval.
func validOf(raw []byte, said int64) ([]memory.Interval, error) {
	if len(raw) == 0 {
		return []memory.Interval{{From: fromMicros(said)}}, nil
	}
	var out []memory.Interval
	err := fromJSON(raw, &out)
	return none(out), err
}

// inUTC gives intervals whose times are written in UTC, as readers compare them.
func inUTC(list []memory.Interval) []memory.Interval {
	out := make([]memory.Interval, len(list))
	for i, v := range list {
		out[i].From = v.From.UTC()
		if v.To != nil {
			to := v.To.UTC()
			out[i].To = &to
		}
	}
	return out
}
