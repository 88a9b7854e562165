package llm

import (
	"encoding/json"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// entityNames resolves the names in a fact to entity ids. A name without a type is that of an entity of the fact, or of
// a speaker of the window, or of type other.
type entityNames struct {
	list []memory.EntityID
	ids  map[string]memory.EntityID // by name in lower case
}

// newEntityNames returns the names of a fact that rests on the given messages.
func newEntityNames(names []string, said []memory.Message) entityNames {
	n := entityNames{ids: map[string]memory.EntityID{}}
	for _, m := range said {
		if m.Role == memory.RoleUser || m.Speaker != string(m.Role) {
			n.ids[nameKey(m.Speaker)] = memory.NewEntityID(memory.EntityPerson, m.Speaker)
		}
	}
	var bare []string
	for _, s := range names {
		t, name := splitTypedName(s)
		if t == "" {
			bare = append(bare, s)
			continue
		}
		id := memory.NewEntityID(t, name)
		n.ids[nameKey(name)] = id
		n.list = append(n.list, id)
	}
	for _, s := range bare {
		n.list = append(n.list, n.id(s))
	}
	return n
}

// id returns the id of a name, with or without a type; "" for an empty one.
func (n entityNames) id(s string) memory.EntityID {
	if t, name := splitTypedName(s); t != "" {
		return memory.NewEntityID(t, name)
	}
	if id, ok := n.ids[nameKey(s)]; ok {
		return id
	}
	return memory.NewEntityID(memory.EntityOther, s)
}

// entities returns the ids in order; some may be "" or repeated.
func (n entityNames) entities() []memory.EntityID {
	return n.list[:min(len(n.list), memory.MaxEntities)]
}

// splitTypedName cuts "type:name". For any other text the type is "" and the name is the whole text.
func splitTypedName(s string) (memory.EntityType, string) {
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

// nameKey is equal for names that differ in case or white space only.
func nameKey(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// names returns a list of entities: strings, or objects with type and name.
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
