package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// entityState is an entity as the store has it and as the write leaves it.
type entityState struct {
	before *memory.Entity // nil = not stored
	now    memory.Entity
}

// named reports whether a name, in normal form, is the entity's or one of its aliases.
func (s *entityState) named(normal string) bool {
	return memory.NormalText(s.now.Name) == normal ||
		slices.ContainsFunc(s.now.Aliases, func(a string) bool { return memory.NormalText(a) == normal })
}

// maxRedirects bounds how many redirects from one entity to another are followed.
const maxRedirects = 16

// entity returns an entity as the write left it; nil if there is none.
func (ws *workspace) entity(id memory.EntityID) *entityState {
	if s, ok := ws.entities[id]; ok {
		return s
	}
	ws.readEntities([]memory.EntityID{id})
	found := ws.storedEntities[id]
	if found == nil {
		ws.entities[id] = nil
		return nil
	}
	s := &entityState{before: found, now: *found}
	s.now.Aliases = slices.Clone(s.now.Aliases)
	ws.entities[id] = s
	return s
}

// normalEntity returns the id, type and name that an id of an event stands for: type "other" for one that is not known.
// The id is "" where there is no name.
func normalEntity(id memory.EntityID) (memory.EntityID, memory.EntityType, string) {
	typ, name := id.Split()
	if !typ.Known() {
		typ = memory.EntityOther
	}
	return memory.NewEntityID(typ, name), typ, name
}

// resolveAll returns the sorted set of entities that ids name, made where they are new. The text may hold their names
// as they are written.
func (ws *workspace) resolveAll(ids []memory.EntityID, text string) []memory.EntityID {
	var out []memory.EntityID
	for _, id := range ids {
		if e := ws.resolve(id, text); e != "" {
			out = append(out, e)
		}
	}
	return unite(out, nil)
}

// maxNames is how many entities are taken from the text of a fact that was given without any.
const maxNames = 8

// namesIn returns the entities that a fact's text names, eight at most. A name that is known neither as a person's nor
// as a place's is of type other, and so of whatever type the bank has it under.
func namesIn(f memory.Fact) []memory.EntityID {
	var out []memory.EntityID
	for _, name := range text.Names(f.Text) {
		first, _, _ := strings.Cut(name, " ")
		typ := memory.EntityOther
		switch {
		case memory.NormalText(name) == memory.NormalText(f.Speaker), text.KnownPerson(first):
			typ = memory.EntityPerson
		case text.KnownPlace(name):
			typ = memory.EntityPlace
		}
		if id := memory.NewEntityID(typ, name); id != "" && len(id) <= memory.MaxID && len(out) < maxNames {
			out = append(out, id)
		}
	}
	return out
}

// resolve returns the entity that an id names: itself, what it redirects to, the one of its type that has the name as
// an alias, or a short form's person; else a new one. Type "other" means an unknown type and matches any. It is "" for
// an id without a name.
func (ws *workspace) resolve(id memory.EntityID, text string) memory.EntityID {
	id, typ, name := normalEntity(id)
	if id == "" {
		return ""
	}
	if to, ok := ws.resolved[id]; ok {
		return to
	}
	to := ws.match(id, typ, name)
	if to == "" {
		ws.entities[id] = &entityState{now: memory.Entity{ID: id, Type: typ, Name: writtenName(text, name)}}
		to = id
	}
	ws.resolved[id] = to
	return to
}

// match returns the stored entity for an id; "" for none.
func (ws *workspace) match(id memory.EntityID, typ memory.EntityType, name string) memory.EntityID {
	at := id
	for range maxRedirects {
		s := ws.entity(at)
		if s == nil && at != id {
			return ""
		}
		if s == nil {
			break
		}
		if s.now.Redirect == "" {
			return at
		}
		at = s.now.Redirect
	}
	for _, e := range ws.entitiesNamed(name) {
		if e.Type == typ || e.Type == memory.EntityOther || typ == memory.EntityOther {
			ws.redirect(id, typ, name, e.ID)
			return e.ID
		}
	}
	to := ws.fullNameOf(typ, name)
	if to != "" {
		ws.redirect(id, typ, name, to)
	}
	return to
}

// entitiesNamed returns the entities with this name or alias that redirect nowhere, by id.
func (ws *workspace) entitiesNamed(name string) []memory.Entity {
	if ws.err != nil {
		return nil
	}
	found, err := ws.storedNames(name)
	if ws.fail(err) {
		return nil
	}
	matches := map[memory.EntityID]bool{}
	for _, e := range found {
		if _, ok := ws.storedEntities[e.ID]; !ok {
			ws.storedEntities[e.ID] = &e
		}
		matches[e.ID] = ws.entity(e.ID) != nil
	}
	normal := memory.NormalText(name)
	for id, s := range ws.entities {
		if s != nil && s.named(normal) {
			matches[id] = true
		}
	}
	var out []memory.Entity
	for _, id := range slices.Sorted(maps.Keys(matches)) {
		if s := ws.entities[id]; matches[id] && s.now.Redirect == "" {
			out = append(out, s.now)
		}
	}
	return out
}

// fullNameOf returns the one person whose single name begins with this short form ("Mel" is Melanie) or whose full name
// begins with this first name. A short form has at least three letters and leaves out at least two, so that "Al" is not
// Alice and "Dan" not Dana; with more than one such person it is nobody's. Only the participants of the write are
// considered: who spoke its messages and whom its facts name.
func (ws *workspace) fullNameOf(typ memory.EntityType, name string) memory.EntityID {
	if typ != memory.EntityPerson || utf8.RuneCountInString(name) < 3 || strings.Contains(name, " ") {
		return ""
	}
	candidates := slices.Clone(ws.participants)
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

// addParticipant records who spoke a message of the write.
func (ws *workspace) addParticipant(speaker string) {
	if id := memory.NewEntityID(memory.EntityPerson, speaker); id != "" && !memory.Role(speaker).Valid() {
		ws.participants = unite(ws.participants, []memory.EntityID{id})
	}
}

// redirect makes an id lead to an entity that is known under another name; the name becomes an alias.
func (ws *workspace) redirect(id memory.EntityID, typ memory.EntityType, name string, to memory.EntityID) {
	s := ws.entity(to)
	if s == nil || id == to {
		return
	}
	alias := writtenName("", name)
	ws.entities[id] = &entityState{now: memory.Entity{ID: id, Type: typ, Name: alias, Redirect: to}}
	if !s.named(memory.NormalText(name)) {
		s.now.Aliases = unite(s.now.Aliases, []string{alias})
	}
}

// writtenName returns a name as the text writes it, else with capitals: an entity's id has it in lower case alone.
func writtenName(text, name string) string {
	if lower := strings.ToLower(text); len(lower) == len(text) {
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

// collectEntities adds the entities that the write changed to the plan, and those that may have lost their last fact.
func (ws *workspace) collectEntities(facts []*factState) {
	naming := map[memory.EntityID][]string{}
	var lost []memory.EntityID
	for _, s := range facts {
		if !s.gone {
			for _, e := range s.now.Entities {
				naming[e] = append(naming[e], string(s.id()))
			}
		} else if s.before != nil {
			lost = append(lost, s.before.Entities...)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ws.entities)) {
		s := ws.entities[id]
		if s == nil || s.before != nil && slices.Equal(s.before.Aliases, s.now.Aliases) && s.before.Redirect == s.now.Redirect {
			continue
		}
		ws.out.Entities = append(ws.out.Entities, s.now)
		ws.announce(memory.ChangeEntity, addedOrUpdated(s.before == nil), ws.entityRecord(id), naming[id]...)
	}
	for _, id := range unite(lost, nil) {
		if len(naming[id]) == 0 {
			ws.out.RemovedEntities = append(ws.out.RemovedEntities, id)
		}
	}
}

// entityRecord names an entity in a change event: by a hash of its id, because the id is a name that somebody said, and
// the log of changes outlives a forget.
func (ws *workspace) entityRecord(id memory.EntityID) string {
	sum := sha256.Sum256([]byte(string(ws.write.Bank) + "\x00" + string(id)))
	return "n_" + hex.EncodeToString(sum[:16])
}
