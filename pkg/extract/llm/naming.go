package llm

import (
	"encoding/json"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// named gives things that a fact speaks of their ids. A name without a type is
// that of an entity of the fact, or of who speaks in the window, or of type other.
type named struct {
	list []memory.EntityID
	ids  map[string]memory.EntityID // by name in lower case
}

func naming(names []string, said []memory.Message) named {
	n := named{ids: map[string]memory.EntityID{}}
	for _, m := range said {
		if m.Role == memory.RoleUser || m.Speaker != string(m.Role) {
			n.ids[key(m.Speaker)] = memory.NewEntityID(memory.EntityPerson, m.Speaker)
		}
	}
	var bare []string
	for _, s := range names {
		t, name := known(s)
		if t == "" {
			bare = append(bare, s)
			continue
		}
		id := memory.NewEntityID(t, name)
		n.ids[key(name)] = id
		n.list = append(n.list, id)
	}
	for _, s := range bare {
		n.list = append(n.list, n.id(s))
	}
	return n
}

// id gives the id of a name, with or without a type; "" for none.
func (n named) id(s string) memory.EntityID {
	if t, name := known(s); t != "" {
		return memory.NewEntityID(t, name)
	}
	if id, ok := n.ids[key(s)]; ok {
		return id
	}
	return memory.NewEntityID(memory.EntityOther, s)
}

// entities gives the ids in order; some may be "" or repeated.
func (n named) entities() []memory.EntityID {
	return n.list[:min(len(n.list), memory.MaxEntities)]
}

// known cuts "type:name"; the type is "" and the name whole where it is none.
func known(s string) (memory.EntityType, string) {
	t, name, cut := strings.Cut(s, ":")
	typ := memory.EntityType(label(t))
	switch typ {
	case "org", "company":
		typ = memory.EntityOrganization
	case "location", "city", "country":
		typ = memory.EntityPlace
	}
	if !cut || !typ.Known() || strings.TrimSpace(name) == "" {
		return "", strings.TrimSpace(s)
	}
	return typ, strings.TrimSpace(name)
}

func key(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// names gives a list of entities: strings, or objects with type and name.
func (f fields) names(of ...string) []string {
	var items []json.RawMessage
	if json.Unmarshal(f.raw(of...), &items) != nil {
		return f.list(of...)
	}
	var out []string
	for _, i := range items {
		if s := strings.TrimSpace(scalar(i)); s != "" {
			out = append(out, s)
			continue
		}
		if p := parts(i, "type", "name"); len(p) == 2 && p[1] != "" {
			out = append(out, p[0]+":"+p[1])
		}
	}
	return out
}
