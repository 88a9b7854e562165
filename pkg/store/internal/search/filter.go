package search

import (
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// filter is a memory.Filter as SQL conditions.
type filter struct {
	schema.Filter
	valid schema.Condition // whether a fact f is valid: now, or at the time of the filter

	// leads are queries by an index. Together they find all facts or messages that pass, and perhaps others; there are
	// none when no index leads to them.
	leads map[memory.Record][]lead
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

// never excludes every row.
func (c *conditions) never() {
	c.add("FALSE")
	c.leads = []lead{{query: "SELECT 0 WHERE FALSE"}}
}

// lead sets the queries that lead to the rows that pass, unless they are set already.
func (c *conditions) lead(leads ...lead) {
	if len(c.leads) == 0 {
		c.leads = leads
	}
}

func (c *conditions) all() schema.Condition {
	if len(c.parts) == 0 {
		return schema.Condition{SQL: "TRUE"}
	}
	return schema.Condition{SQL: strings.Join(c.parts, " AND "), Args: c.args}
}

// newFilter turns a filter into conditions. Without as_of, what is live now passes.
func (r *Reader) newFilter(f memory.Filter) (filter, error) {
	var facts []memory.Kind
	if len(f.Kinds) > 0 {
		facts = slices.DeleteFunc(slices.Clone(f.Kinds), func(k memory.Kind) bool { return k == memory.KindObservation })
	}
	n, err := r.filterKinds(f, facts)
	if err != nil {
		return n, err
	}
	n.Plain = n.Plain && len(f.Kinds) == 0
	if len(f.Kinds) > 0 && len(facts) == len(f.Kinds) {
		n.Observations = schema.Condition{SQL: "FALSE"}
		return n, nil
	}
	return r.filterObservations(f, n)
}

// filterObservations adds the condition on observations. Kind and type are an observation's own, whatever its facts
// are. Everything else in the filter all its facts must pass; an observation that was given without facts has only the
// time at which it was said.
func (r *Reader) filterObservations(f memory.Filter, n filter) (filter, error) {
	var own conditions
	if len(f.Types) > 0 {
		own.add("o.type IN (SELECT value FROM json_each(?))", engine.List(f.Types))
	}
	if x := f.Exclude; x != nil && len(x.IDs) > 0 {
		own.add("o.id NOT IN (SELECT value FROM json_each(?))", engine.List(x.IDs))
	}
	f.Kinds, f.Types = nil, nil
	beneath, err := r.filterKinds(f, nil)
	if err != nil {
		return n, err
	}
	if !beneath.Plain {
		bare := conditions{parts: []string{"FALSE"}}
		if f.Session == "" && len(f.Speakers)+len(f.Topics)+len(f.Tags)+len(f.Entities) == 0 {
			lo, hi := bounds(f.From, f.To)
			if f.AsOf != nil {
				hi = min(hi, engine.Micros(*f.AsOf))
			}
			bare = conditions{parts: []string{"o.said BETWEEN ? AND ?"}, args: []any{lo, hi}}
		}
		own.add(`CASE WHEN EXISTS (SELECT 1 FROM observation_facts k WHERE k.observation = o.no)
THEN NOT EXISTS (SELECT 1 FROM observation_facts k CROSS JOIN facts f ON f.id = k.fact WHERE k.observation = o.no AND NOT (`+beneath.Facts.SQL+`))
ELSE `+bare.all().SQL+` END`, append(slices.Clone(beneath.Facts.Args), bare.args...)...)
	}
	n.Observations = own.all()
	return n, nil
}

// narrowKinds is narrow with the kinds of fact that pass; nil = all of them.
func (r *Reader) filterKinds(f memory.Filter, kinds []memory.Kind) (filter, error) {
	var facts, messages conditions
	if f.AsOf == nil {
		facts.add("f.live = 1")
		messages.add("m.replaced IS NULL")
	} else {
		t := engine.Micros(*f.AsOf)
		facts.add(validAt, validAtArgs(*f.AsOf)...)
		messages.add("m.time <= ? AND (m.replaced IS NULL OR m.replaced > ?)", t, t)
	}
	if kinds != nil {
		facts.add("f.kind IN (SELECT value FROM json_each(?))", engine.List(kinds))
		messages.never()
	}
	if err := r.addCommon(f, &facts, &messages); err != nil {
		return filter{}, err
	}
	var composites conditions
	if f.Exclude != nil {
		if err := r.addExcluded(*f.Exclude, &facts, &messages, &composites); err != nil {
			return filter{}, err
		}
	}
	if f.AsOf != nil {
		args := append([]any{r.bank}, validAtArgs(*f.AsOf)...)
		facts.lead(lead{`SELECT no FROM facts WHERE bank = ? AND said <= ?`, args[:2:2]},
			lead{`SELECT no FROM facts INDEXED BY facts_held WHERE bank = ? AND valid <> ''
  AND (CASE WHEN json_valid(valid) THEN rtrim(json_extract(valid, '$[0].from'), 'Z') END) <= ?`, []any{r.bank, args[2]}})
		messages.lead(lead{`SELECT seq FROM messages WHERE bank = ? AND time <= ?`, args[:2:2]})
	}
	n := filter{
		Filter: schema.Filter{Facts: facts.all(), Messages: messages.all(), Composites: composites.all(), Plain: len(facts.parts) == 1 && f.AsOf == nil},
		valid:  schema.Condition{SQL: "(f.live = 1)"},
		leads:  map[memory.Record][]lead{memory.RecordFact: facts.leads, memory.RecordMessage: messages.leads},
	}
	if f.AsOf != nil {
		n.valid = schema.Condition{SQL: validAt, Args: validAtArgs(*f.AsOf)}
	}
	return n, nil
}

// validAt compares the text of validity intervals: RFC 3339 in UTC without the final Z sorts as the times do. A fact
// without a text is valid from when it was said.
const validAt = `CASE f.valid WHEN '' THEN f.said <= ? ELSE EXISTS (SELECT 1 FROM json_each(f.valid) v WHERE rtrim(v.value ->> '$.from', 'Z') <= ?
  AND (v.value ->> '$.to' IS NULL OR rtrim(v.value ->> '$.to', 'Z') > ?)) END`

func validAtArgs(t time.Time) []any {
	text := strings.TrimSuffix(memory.At(t).Format(time.RFC3339Nano), "Z")
	return []any{engine.Micros(memory.At(t)), text, text}
}

// inSession takes the session twice: that of the fact itself, and that of its sources.
const inSession = `(f.session = ? OR EXISTS (SELECT 1 FROM fact_sources s CROSS JOIN messages e ON e.seq = s.seq
  WHERE s.fact = f.no AND e.session = ?))`

// saidOrHappened takes lo, hi, hi, lo. An open end of the time at which something happened is unbounded.
const saidOrHappened = `(f.said BETWEEN ? AND ? OR ((f.occurred_from IS NOT NULL OR f.occurred_to IS NOT NULL)
  AND (f.occurred_from IS NULL OR f.occurred_from <= ?) AND (f.occurred_to IS NULL OR f.occurred_to >= ?)))`

// addCommon adds every condition but the time of the filter. The ones that usually pass the fewest rows come first,
// because the first that has an index leads.
func (r *Reader) addCommon(f memory.Filter, facts, messages *conditions) error {
	if f.Session != "" {
		s := string(f.Session)
		facts.add(inSession, s, s)
		facts.lead(lead{`SELECT no FROM facts WHERE bank = ? AND session = ?`, []any{r.bank, s}},
			lead{`SELECT DISTINCT s.fact FROM messages e CROSS JOIN fact_sources s ON s.seq = e.seq WHERE e.bank = ? AND e.session = ?`, []any{r.bank, s}})
		messages.add("m.session = ?", s)
		messages.lead(lead{`SELECT seq FROM messages WHERE bank = ? AND session = ?`, []any{r.bank, s}})
	}
	if err := r.addOfFacts(f, facts, messages); err != nil {
		return err
	}
	if f.From != nil || f.To != nil {
		lo, hi := bounds(f.From, f.To)
		facts.add(saidOrHappened, lo, hi, hi, lo)
		facts.lead(lead{`SELECT no FROM facts WHERE bank = ? AND said BETWEEN ? AND ?`, []any{r.bank, lo, hi}},
			lead{`SELECT no FROM facts INDEXED BY facts_occurred WHERE bank = ? AND occurred_from IS NOT NULL AND occurred_from <= ? AND (occurred_to IS NULL OR occurred_to >= ?)`, []any{r.bank, hi, lo}},
			lead{`SELECT no FROM facts INDEXED BY facts_occurred_to WHERE bank = ? AND occurred_from IS NULL AND occurred_to IS NOT NULL AND occurred_to >= ?`, []any{r.bank, lo}})
		messages.add("m.time BETWEEN ? AND ?", lo, hi)
		messages.lead(lead{`SELECT seq FROM messages WHERE bank = ? AND time BETWEEN ? AND ?`, []any{r.bank, lo, hi}})
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
			return err
		}
		list, among := engine.List(spellings), c.column+" IN (SELECT value FROM json_each(?))"
		facts.add("f."+among, list)
		messages.add("m."+among, list)
		among = c.column + " <> '' AND " + among // the condition of the index of topics
		facts.lead(lead{"SELECT no FROM facts WHERE bank = ? AND " + among, []any{r.bank, list}})
		messages.lead(lead{"SELECT seq FROM messages WHERE bank = ? AND " + among, []any{r.bank, list}})
	}
	return nil
}

// addOfFacts adds what only facts have; no message passes these.
func (r *Reader) addOfFacts(f memory.Filter, facts, messages *conditions) error {
	if len(f.Types)+len(f.Tags)+len(f.Entities) > 0 {
		messages.never()
	}
	if len(f.Types) > 0 {
		facts.add("f.type IN (SELECT value FROM json_each(?))", engine.List(f.Types))
	}
	if len(f.Tags) > 0 {
		tags := make([]string, len(f.Tags))
		for i, t := range f.Tags {
			tags[i] = strings.ToLower(t)
		}
		facts.add(`EXISTS (SELECT 1 FROM json_each(f.tags) t WHERE t.value IN (SELECT value FROM json_each(?)))`, engine.List(tags))
	}
	if len(f.Entities) > 0 {
		ids, err := r.resolveEntities(f.Entities)
		if err != nil {
			return err
		}
		facts.add(`EXISTS (SELECT 1 FROM fact_entities n WHERE n.bank = f.bank AND n.entity IN (SELECT value FROM json_each(?))
  AND n.live = f.live AND n.said = f.said AND n.fact = f.no)`, engine.List(ids))
		facts.lead(lead{`SELECT DISTINCT fact FROM fact_entities WHERE bank = ? AND entity IN (SELECT value FROM json_each(?))`, []any{r.bank, engine.List(ids)}})
	}
	return nil
}

// bounds returns a closed range in microseconds; an open end is unbounded.
func bounds(from, to *time.Time) (lo, hi int64) {
	lo, hi = -1<<62, 1<<62
	if from != nil {
		lo = engine.Micros(*from)
		if memory.At(*from).Before(from.UTC()) {
			lo++ // stored times are truncated to the microsecond: nothing between is at or after from
		}
	}
	if to != nil {
		hi = engine.Micros(*to)
	}
	return lo, hi
}

// Speakers returns up to limit spellings of who speaks in the bank, sorted.
func (r *Reader) Speakers(limit int) ([]string, error) {
	return engine.Column[string](r.tx, "list speakers", schema.Distinct("messages", "speaker"), r.bank, limit)
}

// spellings returns every stored spelling of speakers or topics, ignoring case.
func (r *Reader) spellings(column string, given []string) ([]string, error) {
	wanted := map[string]bool{}
	for _, s := range given {
		wanted[memory.NormalText(s)] = true
	}
	var out []string
	for _, table := range []string{"messages", "facts"} {
		all, err := engine.Column[string](r.tx, "list "+column+"s", schema.Distinct(table, column), r.bank, -1)
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
