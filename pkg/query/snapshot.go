package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/write"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	defaultSnapshot = 4000 // tokens
	snapshotPage    = 50   // records of one scope
	healthLook      = 1000 // facts and entities that health looks at
	healthShown     = 10   // of each kind of finding
	staleAfter      = 365  // days
)

// Snapshot returns what a curator looks at, each scope a part, with whole texts of up to max_tokens altogether. All but
// a query are read from one state.
func (s *Service) Snapshot(ctx context.Context, bank memory.BankID, r wire.SnapshotRequest) (wire.Snapshot, error) {
	if len(r.Scopes) == 0 {
		r.Scopes = []string{wire.ScopePending, wire.ScopeConflicts, wire.ScopeRecent + "20", wire.ScopeStats, wire.ScopeHealth}
	}
	snap := &snapshot{now: s.now, left: defaultSnapshot}
	if r.MaxTokens != nil {
		snap.left = *r.MaxTokens
	}
	out := wire.Snapshot{Parts: []wire.SnapshotPart{}}
	if snap.left < 1 || snap.left > memory.MaxTokens {
		return out, memory.Invalid("max_tokens", "is %d; expected 1 to %d", snap.left, memory.MaxTokens)
	}
	if len(r.Scopes) > wire.MaxScopes {
		return out, memory.Invalid("scopes", "holds %d scopes; at most %d are allowed", len(r.Scopes), wire.MaxScopes)
	}
	shows := make([]func(Reader) (wire.SnapshotPart, error), len(r.Scopes))
	found := map[string][]memory.Item{}
	for i, scope := range r.Scopes {
		show, err := snap.scope(scope)
		if err != nil {
			return out, memory.Invalid(fmt.Sprintf("scopes.%d", i), "%s", err)
		}
		shows[i] = show
	}
	for _, scope := range r.Scopes {
		if _, asked := found[scope]; asked || !strings.HasPrefix(scope, wire.ScopeQuery) {
			continue
		}
		most := snapshotPage
		reply, err := s.Recall(ctx, bank, wire.RecallRequest{Query: strings.TrimPrefix(scope, wire.ScopeQuery), MaxFacts: &most})
		if err != nil {
			return out, err
		}
		found[scope] = reply.Items
	}
	most := snap.left
	err := s.store.Read(ctx, bank, func(rd Reader) error {
		for i, show := range shows {
			part, err := show(rd)
			if err != nil {
				return err
			}
			part.Scope, part.Items = r.Scopes[i], append(part.Items, snap.fit(found[r.Scopes[i]], &part.Cut)...)
			out.Parts = append(out.Parts, part)
		}
		return nil
	})
	out.Tokens = most - snap.left
	return out, err
}

// snapshot is a snapshot in the making.
type snapshot struct {
	now  func() time.Time
	left int // tokens
}

// scope returns what reads a scope, or why it is none.
func (s *snapshot) scope(scope string) (func(Reader) (wire.SnapshotPart, error), error) {
	name, of, named := strings.Cut(scope, ":")
	if named && strings.TrimSpace(of) == "" {
		return nil, fmt.Errorf("must name something after %q", name+":")
	}
	if len(of) > memory.MaxName && name+":" != wire.ScopeQuery {
		return nil, fmt.Errorf("is %d bytes long; at most %d are allowed", len(of), memory.MaxName)
	}
	switch {
	case scope == wire.ScopePending:
		return s.pending, nil
	case scope == wire.ScopeConflicts:
		return s.conflicts, nil
	case scope == wire.ScopeStats:
		return s.stats, nil
	case scope == wire.ScopeHealth:
		return s.health, nil
	case named && name+":" == wire.ScopeEntity:
		return func(rd Reader) (wire.SnapshotPart, error) { return s.entity(rd, of) }, nil
	case named && name+":" == wire.ScopeTopic:
		return func(rd Reader) (wire.SnapshotPart, error) {
			return s.facts(rd, memory.Filter{Topics: []string{of}}, snapshotPage)
		}, nil
	case named && name+":" == wire.ScopeRecent:
		n, err := strconv.Atoi(of)
		if err != nil || n < 1 || n > memory.MaxLimit {
			return nil, fmt.Errorf("is not recent: and a number from 1 to %d", memory.MaxLimit)
		}
		return func(rd Reader) (wire.SnapshotPart, error) { return s.facts(rd, memory.Filter{}, n) }, nil
	case named && name+":" == wire.ScopeQuery:
		return func(Reader) (wire.SnapshotPart, error) { return wire.SnapshotPart{}, nil }, nil
	}
	return nil, fmt.Errorf("is not a scope; expected pending, conflicts, stats, health, entity:NAME, topic:NAME, recent:N or query:TEXT")
}

// fit returns the items whose texts fit into what is left, in order, and says whether some did not.
func (s *snapshot) fit(items []memory.Item, cut *bool) []memory.Item {
	return slices.DeleteFunc(slices.Clone(items), func(i memory.Item) bool {
		n := text.CountTokens(i.Text)
		if n > s.left {
			*cut = true
			return true
		}
		s.left -= n
		return false
	})
}

// facts shows the facts that pass a filter, the one said last first.
func (s *snapshot) facts(rd Reader, f memory.Filter, most int) (part wire.SnapshotPart, err error) {
	items, next, err := rd.List(memory.RecordFact, f, false, Position{}, most)
	part.Cut = !next.IsZero() && f.Topics != nil
	part.Items = s.fit(items, &part.Cut)
	return part, err
}

func (s *snapshot) entity(rd Reader, name string) (part wire.SnapshotPart, err error) {
	typ, spelling := memory.GivenName(name)
	found, _, err := rd.Entities(typ, spelling, Position{}, snapshotPage)
	if err != nil {
		return part, err
	}
	normal := memory.NormalText(spelling)
	part.Entities = slices.DeleteFunc(found, func(e memory.Entity) bool {
		return !slices.ContainsFunc(append([]string{e.Name}, e.Aliases...), func(n string) bool { return memory.NormalText(n) == normal })
	})
	if len(part.Entities) == 0 {
		return part, nil
	}
	var ids []string
	for _, e := range part.Entities {
		ids = append(ids, string(e.ID))
	}
	items, next, err := rd.List(memory.RecordFact, memory.Filter{Entities: ids}, false, Position{}, snapshotPage)
	part.Cut = !next.IsZero()
	part.Items = s.fit(items, &part.Cut)
	return part, err
}

func (s *snapshot) pending(rd Reader) (part wire.SnapshotPart, err error) {
	part.Counts = map[string]int{}
	if part.Counts["decisions"], err = rd.PendingQuestions(memory.PendingDecide); err != nil {
		return part, err
	}
	sessions, err := rd.Pending(snapshotPage)
	part.Cut = len(sessions) == snapshotPage
	for _, p := range sessions {
		part.Counts["messages"] += p.Messages
		part.Sessions = append(part.Sessions, wire.SessionPending{Session: p.Session, Messages: p.Messages})
	}
	return part, err
}

func (s *snapshot) conflicts(rd Reader) (part wire.SnapshotPart, err error) {
	open, next, err := rd.Conflicts(memory.ConflictOpen, Position{}, snapshotPage)
	if err != nil {
		return part, err
	}
	part.Cut = !next.IsZero()
	for _, c := range open {
		facts, err := rd.FactItems([]memory.FactID{c.A, c.B})
		if err != nil {
			return part, err
		}
		if n := len(facts); len(s.fit(facts, &part.Cut)) == n {
			part.Conflicts = append(part.Conflicts, wire.ConflictItem{Conflict: c, Facts: facts})
			part.Settle = append(part.Settle, write.Settling(string(c.A), memory.Collision{ID: c.B, Conflict: c.ID}))
		}
	}
	return part, nil
}

func (s *snapshot) stats(rd Reader) (part wire.SnapshotPart, err error) {
	t, err1 := rd.Tally()
	c, err2 := rd.Conservation()
	part.Counts = map[string]int{"facts": t.Facts, "composites": t.Composites, "observations": t.Observations, "entities": t.Entities, "conflicts": t.Conflicts,
		"messages": c.Published, "pending": c.Pending, "dead": c.Dead}
	if err = err1; err == nil {
		err = err2
	}
	return part, err
}

// health shows what a curator may want to mend: among the facts said last, those that rest on no message; facts that
// were said last a year ago or earlier; entities that look alike; and how many conflicts are open and composites wait for
// a model's wording.
func (s *snapshot) health(rd Reader) (part wire.SnapshotPart, err error) {
	t, err := rd.Tally()
	if err != nil {
		return part, err
	}
	unworded, err := rd.PendingQuestions(memory.PendingSummarise)
	if err != nil {
		return part, err
	}
	part.Counts = map[string]int{"conflicts": t.Conflicts, "without_wording": unworded}
	newest, _, err := rd.List(memory.RecordFact, memory.Filter{}, false, Position{}, healthLook)
	if err != nil {
		return part, err
	}
	bare := slices.DeleteFunc(newest, func(i memory.Item) bool { return len(i.Sources) > 0 })
	before := s.now().AddDate(0, 0, -staleAfter)
	stale, _, err := rd.List(memory.RecordFact, memory.Filter{To: &before}, true, Position{}, healthLook)
	if err != nil {
		return part, err
	}
	stale = slices.DeleteFunc(stale, func(i memory.Item) bool { return i.Said == nil || i.Said.After(before) })
	entities, _, err := rd.Entities("", "", Position{}, healthLook)
	if err != nil {
		return part, err
	}
	part.Alike = alike(entities)
	part.Counts["without_sources"], part.Counts["stale"], part.Counts["alike"] = len(bare), len(stale), len(part.Alike)
	part.Alike = part.Alike[:min(len(part.Alike), healthShown)]
	shown := slices.Concat(bare[:min(len(bare), healthShown)], stale[:min(len(stale), healthShown)])
	slices.SortFunc(shown, func(a, b memory.Item) int { return strings.Compare(a.ID, b.ID) })
	shown = slices.CompactFunc(shown, func(a, b memory.Item) bool { return a.ID == b.ID })
	part.Cut = len(bare) > healthShown || len(stale) > healthShown
	part.Items = s.fit(shown, &part.Cut)
	return part, nil
}

// minAlike is the least length of names that may be one though a letter differs.
const minAlike = 5

// alike returns pairs of entities that may be one: their names differ in spaces, signs and type alone or, within a type,
// by one letter of five or more.
func alike(entities []memory.Entity) (out [][]memory.EntityID) {
	names := make([][]rune, len(entities))
	for i, e := range entities {
		names[i] = []rune(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, memory.NormalText(e.Name)))
	}
	for i, a := range names {
		for k, b := range names[:i] {
			same := len(a) > 0 && slices.Equal(a, b)
			near := entities[i].Type == entities[k].Type && min(len(a), len(b)) >= minAlike && oneEdit(a, b)
			if same || near {
				out = append(out, []memory.EntityID{entities[k].ID, entities[i].ID})
			}
		}
	}
	return out
}

// oneEdit reports whether one letter that is added, left out or replaced makes one name of the other. A digit is no such
// letter: "Room 12" is not "Room 13".
func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	from := 0
	for from < len(a) && a[from] == b[from] {
		from++
	}
	if from < len(b) && unicode.IsDigit(b[from]) || from < len(a) && unicode.IsDigit(a[from]) {
		return false
	}
	return slices.Equal(a[min(from+len(a)+1-len(b), len(a)):], b[min(from+1, len(b)):])
}
