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

	// Whatever passes is in one of these, which may also give what does not;
	// none where no index leads there.
	factLeads, messageLeads []lead
}

// conditions collects AND-ed conditions with their arguments.
type conditions struct {
	parts []string
	args  []any
	leads []lead
}

func (c *conditions) add(sql string, args ...any) {
	c.parts = append(c.parts, sql)
	c.args = append(c.args, args...)
}

// never lets nothing through.
func (c *conditions) never() {
	c.add("0")
	c.leads = []lead{{query: "SELECT 0 WHERE 0"}}
}

// led says what leads to the rows that pass, unless something does already.
func (c *conditions) led(leads ...lead) {
	if len(c.leads) == 0 {
		c.leads = leads
	}
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
THEN NOT EXISTS (SELECT 1 FROM observation_facts k CROSS JOIN facts f ON f.id = k.fact WHERE k.observation = o.no AND NOT (`+beneath.facts+`))
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
		messages.never()
	}
	n, err := r.narrowMore(f, &facts, &messages)
	if err != nil {
		return narrowing{}, err
	}
	n.facts, n.factArgs = facts.sql(), facts.args
	if f.AsOf != nil {
		args := append([]any{r.bank}, heldAtArgs(*f.AsOf)...)
		facts.led(lead{`SELECT no FROM facts WHERE bank = ? AND said <= ?`, args[:2:2]},
			lead{`SELECT no FROM facts INDEXED BY facts_held WHERE bank = ? AND valid <> ''
  AND (CASE WHEN json_valid(valid) THEN rtrim(json_extract(valid, '$[0].from'), 'Z') END) <= ?`, []any{r.bank, args[2]}})
		messages.led(lead{`SELECT seq FROM messages WHERE bank = ? AND time <= ?`, args[:2:2]})
	}
	n.messages, n.messageArgs = messages.sql(), messages.args
	n.factLeads, n.messageLeads = facts.leads, messages.leads
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

const inSession = `(f.session = ? OR EXISTS (SELECT 1 FROM fact_sources s CROSS JOIN messages e ON e.seq = s.seq
  WHERE s.fact = f.no AND e.session = ?))`

// saidOrHappened takes lo, hi, hi, lo; an open end of occurred reaches everything.
const saidOrHappened = `(f.said BETWEEN ? AND ? OR ((f.occurred_from IS NOT NULL OR f.occurred_to IS NOT NULL)
  AND (f.occurred_from IS NULL OR f.occurred_from <= ?) AND (f.occurred_to IS NULL OR f.occurred_to >= ?)))`

// narrowMore adds the conditions every list shares, as_of aside. What lets the
// fewest through, as a rule, leads.
func (r *reader) narrowMore(f memory.Filter, facts, messages *conditions) (narrowing, error) {
	var n narrowing
	if f.Session != "" {
		s := string(f.Session)
		facts.add(inSession, s, s)
		facts.led(lead{`SELECT no FROM facts WHERE bank = ? AND session = ?`, []any{r.bank, s}},
			lead{`SELECT DISTINCT s.fact FROM messages e CROSS JOIN fact_sources s ON s.seq = e.seq WHERE e.bank = ? AND e.session = ?`, []any{r.bank, s}})
		messages.add("m.session = ?", s)
		messages.led(lead{`SELECT seq FROM messages WHERE bank = ? AND session = ?`, []any{r.bank, s}})
	}
	if err := r.narrowFacts(f, facts, messages); err != nil {
		return n, err
	}
	if f.From != nil || f.To != nil {
		lo, hi := bounds(f.From, f.To)
		facts.add(saidOrHappened, lo, hi, hi, lo)
		facts.led(lead{`SELECT no FROM facts WHERE bank = ? AND said BETWEEN ? AND ?`, []any{r.bank, lo, hi}},
			lead{`SELECT no FROM facts INDEXED BY facts_occurred WHERE bank = ? AND occurred_from IS NOT NULL AND occurred_from <= ? AND (occurred_to IS NULL OR occurred_to >= ?)`, []any{r.bank, hi, lo}},
			lead{`SELECT no FROM facts INDEXED BY facts_occurred_to WHERE bank = ? AND occurred_from IS NULL AND occurred_to IS NOT NULL AND occurred_to >= ?`, []any{r.bank, lo}})
		messages.add("m.time BETWEEN ? AND ?", lo, hi)
		messages.led(lead{`SELECT seq FROM messages WHERE bank = ? AND time BETWEEN ? AND ?`, []any{r.bank, lo, hi}})
	}
	for _, c := range []struct {
		column string
		given  []string
	}{{"topic", f.Topics}, {"speaker", f.Speakers}} {
		if len(c.given) == 0 {
			continue
		}
		spellings, err := r.spellings(c.column, c.given)
		if err != nil {
			return n, err
		}
		list, among := jsonList(spellings), c.column+" IN (SELECT value FROM json_each(?))"
		facts.add("f."+among, list)
		messages.add("m."+among, list)
		among = c.column + " <> '' AND " + among // as the index of topics has it
		facts.led(lead{"SELECT no FROM facts WHERE bank = ? AND " + among, []any{r.bank, list}})
		messages.led(lead{"SELECT seq FROM messages WHERE bank = ? AND " + among, []any{r.bank, list}})
	}
	return n, nil
}

// narrowFacts adds what only facts have: a message never matches these.
func (r *reader) narrowFacts(f memory.Filter, facts, messages *conditions) error {
	if len(f.Types)+len(f.Tags)+len(f.Entities) > 0 {
		messages.never()
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
		facts.led(lead{`SELECT DISTINCT fact FROM fact_entities WHERE bank = ? AND entity IN (SELECT value FROM json_each(?))`, []any{r.bank, jsonList(ids)}})
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
