package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// alias makes names lead to one entity, or with Remove no longer. Facts move with the names: those about an entity that
// is joined become facts about the other, and those that speak of a parted name alone become facts about it. The values of
// each attribute follow from all facts that the entity has then.
func (ws *workspace) alias(r memory.AliasRequest) {
	to := ws.aliased(r)
	if ws.err != nil || ws.out.Outcome.Code != 0 {
		return
	}
	var states []memory.State
	for i, alias := range r.Aliases {
		field := fmt.Sprintf("aliases.%d", i)
		typ, spelling := memory.GivenName(alias)
		if typ == "" {
			typ, _ = to.Split()
		}
		id := memory.NewEntityID(typ, spelling)
		moved, ok := []memory.State(nil), true
		switch {
		case id == "" || len(id) > memory.MaxID || id == to:
			ws.refuse(400, field, "must be another name than the entity's own")
			return
		case r.Remove:
			moved, ok = ws.partName(id, to)
		default:
			moved = ws.joinName(id, spelling, to)
		}
		if !ok {
			ws.refuse(404, field, "%.60q is no alias of %.60q", alias, string(to))
			return
		}
		states = append(states, moved...)
	}
	for _, s := range states {
		ws.retime(s)
	}
	ws.out.Outcome.Results = []memory.WriteResult{{ID: string(to), Outcome: memory.OutcomeUpdated}}
}

// aliased returns the entity that an alias is about: the one that bears its name or, to part a name, that the name leads to.
// One that is not stored is made, of the type of an entity that bears one of the other names, else as a person.
func (ws *workspace) aliased(r memory.AliasRequest) memory.EntityID {
	if r.Entity == "" && len(r.Aliases) > 0 {
		r.Entity = r.Aliases[0]
	}
	typ, name := memory.GivenName(r.Entity)
	switch found := ws.bearing(typ, name); {
	case len(found) == 1:
		return found[0].ID
	case len(found) > 1:
		ws.refuse(409, "entity", "%.60q may be %q or %q; give the id", name, string(found[0].ID), string(found[1].ID))
		return ""
	case r.Remove:
		ws.refuse(404, "entity", "no entity is called %.60q", name)
		return ""
	}
	for _, a := range r.Aliases {
		if found := ws.bearing(memory.GivenName(a)); typ == "" && len(found) > 0 {
			typ = found[0].Type
		}
	}
	if typ == "" {
		typ = memory.EntityPerson
	}
	id := memory.NewEntityID(typ, name)
	if id == "" || len(id) > memory.MaxID {
		ws.refuse(400, "entity", "must name an entity")
		return ""
	}
	return ws.resolve(id, name)
}

// bearing returns the entities of a type ("" = any) that bear a name, by id.
func (ws *workspace) bearing(typ memory.EntityType, name string) []memory.Entity {
	if typ == memory.EntityPerson {
		name = memory.PersonName(name)
	}
	return slices.DeleteFunc(ws.entitiesNamed(name), func(e memory.Entity) bool { return typ != "" && e.Type != typ })
}

// joinName makes a name, and every entity of the type that bears it, lead to an entity. It returns the states of the facts
// that moved.
func (ws *workspace) joinName(id memory.EntityID, spelling string, to memory.EntityID) []memory.State {
	typ, name := id.Split()
	var states []memory.State
	for _, e := range ws.entitiesNamed(name) {
		if e.ID == to || e.Type != typ && e.Type != memory.EntityOther && typ != memory.EntityOther {
			continue
		}
		from, into := ws.entity(e.ID), ws.entity(to)
		from.now.Redirect = to
		into.now.Aliases = unite(into.now.Aliases, append([]string{from.now.Name}, from.now.Aliases...))
		for _, a := range from.now.Aliases {
			if s := ws.entity(memory.NewEntityID(e.Type, a)); s != nil && s.now.Redirect == e.ID {
				s.now.Redirect = to
			}
		}
		states = append(states, ws.moveFacts(e.ID, to, func(memory.Fact) (bool, bool) { return true, false })...)
	}
	if s := ws.entity(id); s == nil {
		ws.entities[id] = &entityState{now: memory.Entity{ID: id, Type: typ, Name: spelling, Redirect: to}}
	}
	if into := ws.entity(to); !into.named(memory.NormalText(spelling)) {
		into.now.Aliases = unite(into.now.Aliases, []string{spelling})
	}
	return states
}

// partName makes an alias an entity of its own again. Facts that speak of it and not of the other by any other name are
// about it then, and those that speak of both about both. ok is false where id leads to no other entity.
func (ws *workspace) partName(id, from memory.EntityID) (states []memory.State, ok bool) {
	s, into := ws.entity(id), ws.entity(from)
	if s == nil || into == nil || s.now.Redirect != from {
		return nil, false
	}
	s.now.Redirect = ""
	_, name := id.Split()
	own := append([]string{name, s.now.Name}, s.now.Aliases...)
	into.now.Aliases = slices.DeleteFunc(into.now.Aliases, func(a string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return memory.NormalText(o) == memory.NormalText(a) })
	})
	others := append([]string{into.now.Name}, into.now.Aliases...)
	states = ws.moveFacts(from, id, func(f memory.Fact) (moves, stays bool) {
		return namesAny(f, own), namesAny(f, others)
	})
	ws.reviveAcross(from, id)
	ws.reviveAcross(id, from)
	ws.out.RemovedEntities = append(ws.out.RemovedEntities, id) // unless a fact names it
	return states, true
}

// reviveAcross lets the facts about one entity hold again that a fact about another one superseded and that name nothing
// of it themselves.
func (ws *workspace) reviveAcross(entity, other memory.EntityID) {
	if ws.err != nil {
		return
	}
	found, err := ws.view.FactsNaming(entity)
	if ws.fail(err) {
		return
	}
	for _, f := range factsOf(ws.overlay(found, 0, func(f *memory.Fact) bool {
		return f.Superseded != "" && slices.Contains(f.Entities, entity) && !slices.Contains(f.Entities, other)
	})) {
		by := ws.fact(f.Superseded)
		if by == nil || slices.Contains(by.Entities, entity) || !slices.Contains(by.Entities, other) {
			continue
		}
		f = cloneFact(f)
		reopen(&f)
		ws.put(f)
	}
}

// moveFacts makes facts about one entity facts about another, those that move says; stays says that they are about the
// first one too. It returns the states that changed.
func (ws *workspace) moveFacts(from, to memory.EntityID, move func(memory.Fact) (moves, stays bool)) []memory.State {
	if ws.err != nil {
		return nil
	}
	found, err := ws.view.FactsNaming(from)
	if ws.fail(err) {
		return nil
	}
	var states []memory.State
	for _, f := range factsOf(ws.overlay(found, 0, func(f *memory.Fact) bool { return slices.Contains(f.Entities, from) })) {
		moves, stays := move(f)
		if !moves {
			continue
		}
		f = cloneFact(f)
		if !stays {
			f.Entities = slices.DeleteFunc(f.Entities, func(e memory.EntityID) bool { return e == from })
		}
		f.Entities = unite(f.Entities, []memory.EntityID{to})
		if f.State != nil && f.State.Subject == from && !stays {
			states = append(states, *f.State)
			f.State.Subject = to
			states = append(states, *f.State)
		}
		ws.put(f)
	}
	return states
}

// namesAny reports whether a fact's text has one of the names as a word, or one of them said it.
func namesAny(f memory.Fact, names []string) bool {
	words, speaker := memory.NormalText(f.Text), memory.NormalText(f.Speaker)
	return slices.ContainsFunc(names, func(n string) bool {
		n = memory.NormalText(n)
		return n != "" && (n == speaker || hasName(words, n))
	})
}

// hasName reports whether a text has a name that is no part of a longer word; scripts without spaces have no such bounds.
func hasName(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !continuesWord(before) && !continuesWord(after) {
			return true
		}
		at = i + 1
	}
}

// continuesWord reports whether a letter beside a name makes it part of a longer word.
func continuesWord(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
