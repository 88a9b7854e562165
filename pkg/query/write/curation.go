package write

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
)

// takes is what a change takes: fields it needs, and fields it may have.
type takes struct{ needs, may []string }

// curations returns what each op takes, as the contract says.
func curations() map[string]takes {
	return map[string]takes{
		memory.CurateRemember:  {[]string{"text"}, []string{"key", "kind", "type", "entities", "tags", "speaker", "occurred", "said", "confidence", "sources", "vector", "metadata"}},
		memory.CurateEdit:      {[]string{"id"}, []string{"version", "text", "type", "tags", "pin"}},
		memory.CuratePin:       {[]string{"id", "pin"}, []string{"version"}},
		memory.CurateSupersede: {[]string{"id", "by"}, nil}, memory.CurateMerge: {[]string{"ids"}, []string{"into"}},
		memory.CurateSplit: {[]string{"id", "parts"}, []string{"version"}}, memory.CurateConflict: {[]string{"ids"}, []string{"reason"}},
		memory.CurateResolve: {[]string{"id", "winner"}, []string{"version"}}, memory.CurateDismiss: {[]string{"id"}, []string{"version"}},
		memory.CurateLink: {[]string{"from", "to", "relation"}, []string{"strength"}}, memory.CurateUnlink: {[]string{"from", "to", "relation"}, nil},
		memory.CurateTopic: {[]string{"ids", "topic"}, nil}, memory.CurateAlias: {[]string{"aliases"}, []string{"entity", "remove"}},
		memory.CurateEntities: {[]string{"ids"}, []string{"into"}},
	}
}

// reference is the form of the name of what a change makes.
var reference = regexp.MustCompile(`^\$[A-Za-z0-9_]{1,32}$`)

// checkCuration checks the form of a change, in the field at.
func checkCuration(at string, c memory.Curation) error {
	known := curations()
	want, ok := known[c.Op]
	switch {
	case c.Op == memory.CurateForget:
		return memory.Invalid(at+".op", "a forget erases for good and is not taken back with other changes; send it by itself, to forget")
	case !ok:
		return memory.Invalid(at+".op", "is not a change; expected one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	case c.As != "" && !reference.MatchString(c.As):
		return memory.Invalid(at+".as", "is not the form of a reference; expected $ and up to 32 of a-z, A-Z, 0-9 and _")
	}
	given, err := fieldsOf(c)
	if err != nil {
		return err
	}
	for _, f := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(want.needs, f) && !slices.Contains(want.may, f) {
			return memory.Invalid(at+"."+f, "does not belong to %s; it takes %s", c.Op, strings.Join(append(slices.Clone(want.needs), want.may...), ", "))
		}
	}
	for _, f := range want.needs {
		if !given[f] {
			return memory.Invalid(at+"."+f, "is required for %s", c.Op)
		}
	}
	return checkCurationValues(at, c)
}

// fieldsOf returns the names of the fields that a change has, besides op and as.
func fieldsOf(c memory.Curation) (map[string]bool, error) {
	c.Op, c.As = "", ""
	body, err := memory.Encode(c)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for name, value := range fields {
		out[name] = string(value) != `""`
	}
	delete(out, "op")
	maps.DeleteFunc(out, func(_ string, has bool) bool { return !has })
	if c.Topic != nil {
		out["topic"] = true // "" takes it away
	}
	return out, nil
}

// maxNamed is how many records one change names, or makes of one.
const maxNamed = 100

func checkCurationValues(at string, c memory.Curation) error {
	for _, f := range []struct{ name, value string }{{"id", c.ID}, {"by", c.By}, {"into", c.Into}, {"winner", c.Winner}, {"from", c.From}, {"to", c.To}} {
		if f.value != "" {
			if err := memory.CheckID(at+"."+f.name, f.value); err != nil {
				return err
			}
		}
	}
	if len(c.IDs) > maxNamed || len(c.Parts) > maxNamed {
		return memory.Invalid(at, "names more than %d records", maxNamed)
	}
	for i, id := range c.IDs {
		if err := memory.CheckID(request.Element(at+".ids", i), id); err != nil {
			return err
		}
	}
	switch {
	case c.Relation != "" && !slices.Contains(memory.RelationTypes, c.Relation):
		return memory.Invalid(at+".relation", "is not a relation; expected one of %v", memory.RelationTypes)
	case len(c.Reason) > memory.MaxName:
		return memory.Invalid(at+".reason", "is %d bytes long; at most %d are allowed", len(c.Reason), memory.MaxName)
	case c.Topic != nil && len(*c.Topic) > memory.MaxName:
		return memory.Invalid(at+".topic", "is %d bytes long; at most %d are allowed", len(*c.Topic), memory.MaxName)
	case c.Op == memory.CurateEdit && c.Text == "" && c.Type == "" && c.Tags == nil && c.Pin == nil:
		return memory.Invalid(at+".text", "must change something: give text, type, tags or pin")
	case c.Op == memory.CurateEdit && c.Type != "" && !c.Type.Valid():
		return memory.Invalid(at+".type", "is not the form of a type; expected 1 to 64 of a-z, 0-9 and _")
	case c.Op == memory.CurateSplit && len(c.Parts) < 2:
		return memory.Invalid(at+".parts", "holds %d facts; a split takes two or more", len(c.Parts))
	}
	if c.Op == memory.CurateEntities && len(c.IDs) < 2 {
		return memory.Invalid(at+".ids", "names %d entities; expected two or more", len(c.IDs))
	}
	if r, ok := c.AliasRequest(); ok && c.Op == memory.CurateAlias {
		if err := checkAlias(at+".", r); err != nil {
			return err
		}
	}
	if c.Op == memory.CurateEdit {
		if _, err := request.Tags(at+".tags", c.Tags); err != nil {
			return err
		}
	}
	return request.Share(at+".strength", c.Strength)
}
