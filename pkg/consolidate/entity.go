package consolidate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entityState is an entity as the store has it and as the write leaves it.
type entityState struct {
	before *memory.Entity
	now    memory.Entity
}

// entity gives an entity as the write left it; nil if there is none.
func (ws *workspace) entity(id memory.EntityID) *entityState {
	if s, ok := ws.entities[id]; ok {
		return s
	}
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.Entities([]memory.EntityID{id})
	if ws.fail(err) || len(found) == 0 {
		ws.entities[id] = nil
		return nil
	}
	s := &entityState{before: &found[0], now: found[0]}
	s.now.Aliases = slices.Clone(s.now.Aliases)
	ws.entities[id] = s
	return s
}

// resolveAll gives the sorted set of entities that ids name, made where they
// are new. text is where their names may stand as they are written.
func (ws *workspace) resolveAll(ids []memory.EntityID, text string) []memory.EntityID {
	var out []memory.EntityID
	for _, id := range ids {
		if e := ws.resolve(id, text); e != "" {
			out = append(out, e)
		}
	}
	return unite(out, nil)
}

// namesIn gives the entities that a fact's text names: what a fact that was
// given without any is about. At most eight; a name that is known neither as a
// person's nor as a place's is of type other, and so of whatever type the bank
// has it under.
func namesIn(f memory.Fact) []memory.EntityID {
	var out []memory.EntityID
	for _, name := range analysis.Names(f.Text) {
		first, _, _ := strings.Cut(name, " ")
		typ := memory.EntityOther
		switch {
		case memory.NormalText(name) == memory.NormalText(f.Speaker), analysis.KnownPerson(first):
			typ = memory.EntityPerson
		case analysis.KnownPlace(name):
			typ = memory.EntityPlace
		}
		if id := memory.NewEntityID(typ, name); id != "" && len(id) <= memory.MaxID && len(out) < 8 {
			out = append(out, id)
		}
	}
	return out
}

// resolve gives the entity that an id names: itself, what it redirects to, the
// one of its type that has the name as an alias, or a close match of its type;
// else a new one. Type "other" means an unknown type and matches any. It is ""
// for an id without a name.
func (ws *workspace) resolve(id memory.EntityID, text string) memory.EntityID {
	typ, name := id.Split()
	if !typ.Known() {
		typ = memory.EntityOther
	}
	id = memory.NewEntityID(typ, name)
	if id == "" {
		return ""
	}
	if to, ok := ws.resolved[id]; ok {
		return to
	}
	to := ws.match(id, typ, name)
	if to == "" {
		ws.entities[id] = &entityState{now: memory.Entity{ID: id, Type: typ, Name: written(text, name)}}
		to = id
	}
	ws.resolved[id] = to
	return to
}

// match finds the entity that is there for an id; "" for none.
func (ws *workspace) match(id memory.EntityID, typ memory.EntityType, name string) memory.EntityID {
	for hops, at := 0, id; hops < 16; hops++ {
		s := ws.entity(at)
		switch {
		case s == nil && hops > 0:
			return ""
		case s != nil && s.now.Redirect == "":
			return at
		}
		if s == nil {
			break
		}
		at = s.now.Redirect
	}
	for _, e := range ws.named(name) {
		if e.Type == typ || e.Type == memory.EntityOther || typ == memory.EntityOther {
			ws.redirect(id, typ, name, e.ID)
			return e.ID
		}
	}
	if to := ws.closeMatch(typ, name); to != "" {
		ws.redirect(id, typ, name, to)
		return to
	}
	return ""
}

// named gives the entities with this name or alias that redirect nowhere, by id.
func (ws *workspace) named(name string) []memory.Entity {
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.EntitiesNamed(name)
	if ws.fail(err) {
		return nil
	}
	var out []memory.Entity
	for _, e := range found {
		if s := ws.entity(e.ID); s != nil && s.now.Redirect == "" {
			out = append(out, s.now)
		}
	}
	norm := memory.NormalText(name)
	for _, s := range ws.entities {
		if s == nil || s.now.Redirect != "" || slices.ContainsFunc(out, func(e memory.Entity) bool { return e.ID == s.now.ID }) {
			continue
		}
		if memory.NormalText(s.now.Name) == norm || slices.ContainsFunc(s.now.Aliases, func(a string) bool { return memory.NormalText(a) == norm }) {
			out = append(out, s.now)
		}
	}
	slices.SortFunc(out, func(a, b memory.Entity) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// closeMatch finds the one person whose single name begins with this short
// form ("Mel" is Melanie) or whose full name begins with this first name. A
// short form has at least three letters and leaves out at least two, so that
// "Al" is not Alice and "Dan" not Dana; with more than one such person it is
// nobody. Only those who take part in the write are looked at: who spoke its
// messages and whom its facts name.
func (ws *workspace) closeMatch(typ memory.EntityType, name string) memory.EntityID {
	if typ != memory.EntityPerson || utf8.RuneCountInString(name) < 3 || strings.Contains(name, " ") {
		return ""
	}
	candidates := slices.Clone(ws.present)
	for id, s := range ws.entities {
		if s != nil && s.now.Redirect == "" {
			candidates = append(candidates, id)
		}
	}
	var hits []memory.EntityID
	for _, id := range unite(candidates, nil) {
		t, long := id.Split()
		if t != typ || long == name {
			continue
		}
		first, _, full := strings.Cut(long, " ")
		if full && first == name ||
			!full && strings.HasPrefix(long, name) && utf8.RuneCountInString(long)-utf8.RuneCountInString(name) >= 2 {
			hits = append(hits, id)
		}
	}
	if len(hits) != 1 {
		return ""
	}
	return ws.resolve(hits[0], "")
}

// attend takes note of who spoke the messages of the write.
func (ws *workspace) attend(speakers ...string) {
	for _, s := range speakers {
		if id := memory.NewEntityID(memory.EntityPerson, s); id != "" && !memory.Role(s).Valid() {
			ws.present = unite(ws.present, []memory.EntityID{id})
		}
	}
}

// redirect keeps an id that names an entity known under another: the name
// becomes an alias, the id leads there.
func (ws *workspace) redirect(id memory.EntityID, typ memory.EntityType, name string, to memory.EntityID) {
	s := ws.entity(to)
	if s == nil || id == to {
		return
	}
	ws.entities[id] = &entityState{now: memory.Entity{ID: id, Type: typ, Name: written("", name), Redirect: to}}
	if old := ws.entities[id]; old.before == nil {
		norm := memory.NormalText(name)
		known := memory.NormalText(s.now.Name) == norm
		for _, a := range s.now.Aliases {
			known = known || memory.NormalText(a) == norm
		}
		if !known {
			s.now.Aliases = unite(s.now.Aliases, []string{written("", name)})
		}
	}
}

// written gives a name as the text writes it, else with capitals: an entity's
// id keeps it in lower case alone.
func written(text, name string) string {
	lower := strings.ToLower(text)
	if len(lower) == len(text) {
		for from := 0; ; {
			i := strings.Index(lower[from:], name)
			if i < 0 {
				break
			}
			i += from
			end := i + len(name)
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			after, _ := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(before) && !unicode.IsLetter(after) && strings.EqualFold(text[i:end], name) {
				return text[i:end]
			}
			from = i + 1
		}
	}
	words := strings.Fields(name)
	for i, w := range words {
		r, size := utf8.DecodeRuneInString(w)
		words[i] = string(unicode.ToUpper(r)) + w[size:]
	}
	return strings.Join(words, " ")
}
