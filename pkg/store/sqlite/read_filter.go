package sqlite

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// narrowing is a memory.Filter as SQL conditions over facts f and messages m.
type narrowing struct {
	facts, messages       string // conditions without a leading AND, never empty
	factArgs, messageArgs []any
	observed              string // conditions on an observation o
	observedArgs          []any
	held                  string // whether a fact f holds: now, or at as_of
	heldArgs              []any
	plain                 bool // what is live now, and nothing beyond that
}

// conditions collects AND-ed conditions with their arguments.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(sql string, args ...any) {
	c.parts = append(c.parts, sql)
	c.args = append(c.args, args...)
}

func (c *conditions) sql() string {
	if len(c.parts) == 0 {
		return "1"
	}
	return strings.Join(c.parts, " AND ")
}

// narrow turns a filter into conditions. Without as_of they let through what
// is live now.
func (r *reader) narrow(f memory.Filter) (narrowing, error) {
	var facts []memory.Kind
	if len(f.Kinds) > 0 {
		facts = slices.DeleteFunc(slices.Clone(f.Kinds), func(k memory.Kind) bool { return k == memory.KindObservation })
	}
	n, err := r.narrowKinds(f, facts)
	if err != nil {
		return n, err
	}
	n.plain = n.plain && len(f.Kinds) == 0
	if len(f.Kinds) > 0 && len(facts) == len(f.Kinds) {
		n.observed = "0"
		return n, nil
	}
	return r.narrowObservations(f, n)
}

// narrowObservations adds the condition on observations: they are of the kind
// observation and of a type of their own, whatever their facts are of. Anything
// else all their facts must pass; one that was given without facts has only
// when it was said.
func (r *reader) narrowObservations(f memory.Filter, n narrowing) (narrowing, error) {
	var own conditions
	if len(f.Types) > 0 {
		own.add("o.type IN (SELECT value FROM json_each(?))", jsonList(f.Types))
	}
	f.Kinds, f.Types = nil, nil
	beneath, err := r.narrowKinds(f, nil)
	if err != nil {
		return n, err
	}
	if !beneath.plain {
		bare := conditions{parts: []string{"0"}}
		if f.Session == "" && len(f.Speakers)+len(f.Topics)+len(f.Tags)+len(f.Entities) == 0 {
			lo, hi := bounds(f.From, f.To)
			if f.AsOf != nil {
				hi = min(hi, micros(*f.AsOf))
			}
			bare = conditions{parts: []string{"o.said BETWEEN ? AND ?"}, args: []any{lo, hi}}
		}
		own.add(`CASE WHEN EXISTS (SELECT 1 FROM observation_facts k WHERE k.observation = o.no)
THEN NOT EXISTS (SELECT 1 FROM observation_facts k JOIN facts f ON f.id = k.fact WHERE k.observation = o.no AND NOT (`+beneath.facts+`))
ELSE `+bare.sql()+` END`, append(slices.Clone(beneath.factArgs), bare.args...)...)
	}
	n.observed, n.observedArgs = own.sql(), own.args
	return n, nil
}

// narrowKinds is narrow with the kinds of fact that pass; nil = all of them.
func (r *reader) narrowKinds(f memory.Filter, kinds []memory.Kind) (narrowing, error) {
	var facts, messages conditions
	if f.AsOf == nil {
		facts.add("f.live = 1")
		messages.add("m.replaced IS NULL")
	} else {
		t := micros(*f.AsOf)
		facts.add(heldAt, heldAtArgs(*f.AsOf)...)
		messages.add("m.time <= ? AND (m.replaced IS NULL OR m.replaced > ?)", t, t)
	}
	if kinds != nil {
		facts.add("f.kind IN (SELECT value FROM json_each(?))", jsonList(kinds))
		messages.add("0")
	}
	n, err := r.narrowMore(f, &facts, &messages)
	if err != nil {
		return narrowing{}, err
	}
	n.facts, n.factArgs = facts.sql(), facts.args
	n.messages, n.messageArgs = messages.sql(), messages.args
	n.plain = len(facts.parts) == 1 && f.AsOf == nil
	n.held = "f.live"
	if f.AsOf != nil {
		n.held, n.heldArgs = heldAt, heldAtArgs(*f.AsOf)
	}
	return n, nil
}

// heldAt compares the text of validity intervals: RFC 3339 in UTC without the
// final Z orders as the times do. No text holds from when it was said.
const heldAt = `CASE f.valid WHEN '' THEN f.said <= ? ELSE EXISTS (SELECT 1 FROM json_each(f.valid) v WHERE rtrim(v.value ->> '$.from', 'Z') <= ?
  AND (v.value ->> '$.to' IS NULL OR rtrim(v.value ->> '$.to', 'Z') > ?)) END`

func heldAtArgs(t time.Time) []any {
	text := strings.TrimSuffix(memory.At(t).Format(time.RFC3339Nano), "Z")
	return []any{micros(memory.At(t)), text, text}
}

const inSession = `(f.session = ? OR EXISTS (SELECT 1 FROM fact_sources s JOIN message_events e ON e.seq = s.seq
  WHERE s.fact = f.no AND e.session = ?))`

// saidOrHappened takes lo, hi, hi, lo; an open end of occurred reaches everything.
const saidOrHappened = `(f.said BETWEEN ? AND ? OR ((f.occurred_from IS NOT NULL OR f.occurred_to IS NOT NULL)
  AND (f.occurred_from IS NULL OR f.occurred_from <= ?) AND (f.occurred_to IS NULL OR f.occurred_to >= ?)))`

// narrowMore adds the conditions every list shares, as_of aside.
func (r *reader) narrowMore(f memory.Filter, facts, messages *conditions) (narrowing, error) {
	var n narrowing
	if f.Session != "" {
		facts.add(inSession, string(f.Session), string(f.Session))
		messages.add("m.session = ?", string(f.Session))
	}
	if len(f.Speakers) > 0 {
		spellings, err := r.spellings("speaker", f.Speakers)
		if err != nil {
			return n, err
		}
		list := jsonList(spellings)
		facts.add("f.speaker IN (SELECT value FROM json_each(?))", list)
		messages.add("m.speaker IN (SELECT value FROM json_each(?))", list)
	}
	if len(f.Topics) > 0 {
		spellings, err := r.spellings("topic", f.Topics)
		if err != nil {
			return n, err
		}
		list := jsonList(spellings)
		facts.add("f.topic IN (SELECT value FROM json_each(?))", list)
		messages.add("m.topic IN (SELECT value FROM json_each(?))", list)
	}
	if f.From != nil || f.To != nil {
		lo, hi := bounds(f.From, f.To)
		facts.add(saidOrHappened, lo, hi, hi, lo)
		messages.add("m.time BETWEEN ? AND ?", lo, hi)
	}
	return n, r.narrowFacts(f, facts, messages)
}

// narrowFacts adds what only facts have: a message never matches these.
func (r *reader) narrowFacts(f memory.Filter, facts, messages *conditions) error {
	if len(f.Types)+len(f.Tags)+len(f.Entities) > 0 {
		messages.add("0")
	}
	if len(f.Types) > 0 {
		facts.add("f.type IN (SELECT value FROM json_each(?))", jsonList(f.Types))
	}
	if len(f.Tags) > 0 {
		tags := make([]string, len(f.Tags))
		for i, t := range f.Tags {
			tags[i] = strings.ToLower(t)
		}
		facts.add(`EXISTS (SELECT 1 FROM json_each(f.tags) t WHERE t.value IN (SELECT value FROM json_each(?)))`, jsonList(tags))
	}
	if len(f.Entities) > 0 {
		ids, err := r.entitiesMeant(f.Entities)
		if err != nil {
			return err
		}
		facts.add(`EXISTS (SELECT 1 FROM fact_entities n WHERE n.bank = f.bank AND n.entity IN (SELECT value FROM json_each(?))
  AND n.live = f.live AND n.said = f.said AND n.fact = f.no)`, jsonList(ids))
	}
	return nil
}

// bounds gives a closed range in microseconds; an open end reaches everything.
func bounds(from, to *time.Time) (lo, hi int64) {
	lo, hi = -1<<62, 1<<62
	if from != nil {
		lo = micros(*from)
		if memory.At(*from).Before(from.UTC()) {
			lo++ // stored times are cut to the microsecond: nothing in between is at or after from
		}
	}
	if to != nil {
		hi = micros(*to)
	}
	return lo, hi
}

// distinct walks the index from one spelling to the next: its cost is the
// number of speakers or topics, not of rows.
const distinct = `WITH RECURSIVE s(v) AS (
  SELECT min(%[2]s) FROM %[1]s WHERE bank = ?1 AND %[2]s <> ''
  UNION ALL
  SELECT (SELECT min(%[2]s) FROM %[1]s WHERE bank = ?1 AND %[2]s <> '' AND %[2]s > s.v) FROM s WHERE s.v IS NOT NULL
) SELECT v FROM s WHERE v IS NOT NULL LIMIT ?2`

// Speakers gives up to limit spellings of who speaks in the bank, sorted.
func (r *reader) Speakers(limit int) ([]string, error) {
	return r.texts("list speakers", fmt.Sprintf(distinct, "messages", "speaker"), r.bank, limit)
}

// spellings gives every stored spelling of speakers or topics, case folded.
func (r *reader) spellings(column string, given []string) ([]string, error) {
	wanted := map[string]bool{}
	for _, s := range given {
		wanted[memory.NormalText(s)] = true
	}
	var out []string
	for _, table := range []string{"messages", "facts"} {
		all, err := r.texts("list "+column+"s", fmt.Sprintf(distinct, table, column), r.bank, -1)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if wanted[memory.NormalText(s)] {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// texts runs a query whose rows are one text each.
func (r *reader) texts(what, query string, args ...any) ([]string, error) {
	var out []string
	err := r.scanAll(what, query, args, func(rows *sql.Rows) error {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	})
	return out, err
}
