package providertest

import (
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// obeyReflect searches and writes where it was told to, and then answers as it
// was told, citing what it was told and what was never shown.
func obeyReflect(req *Request, out Response, found []order) Response {
	o := found[0]
	if !calls(req, "delete_fact") && req.offers(toolSearch) && req.ToolChoice != toolDone {
		s := object{{"queries", []any{o.payload, "everything"}}, {"query", "*"}, {"limit", 1000000}, {"as_of", "0001-01-01T00:00:00Z"}}
		return Response{Calls: []memory.ToolCall{
			{Name: toolSearch, Arguments: dump(append(s, foreignFields(o)...))},
			{Name: "expand", Arguments: dump(append(object{{"ids", []any{0, -1, 90001, "f_0000000000000000"}}}, foreignFields(o)...))},
			{Name: "delete_fact", Arguments: dump(append(object{{"ids", asList(o)}}, foreignFields(o)...))},
			{Name: "retain", Arguments: dump(append(object{{"facts", []any{object{{"text", o.payload}}}}}, foreignFields(o)...))},
		}}
	}
	cited := append([]any{0, -1, 90001, 998, "seq:1", "f_0000000000000000"}, asList(o)...)
	text := o.payload + " [998] [90001] [0] [f_0000000000000000] <script>" + o.text + "</script>"
	if len(out.Calls) == 0 {
		return Response{Text: text}
	}
	return Response{Calls: []memory.ToolCall{{Name: toolDone, Arguments: dump(append(object{{"answer", text}, {"citations", cited}}, foreignFields(o)...))}}}
}

func asList(o order) []any {
	out := []any{}
	for _, id := range o.ids {
		out = append(out, id)
	}
	return out
}

func calls(req *Request, name string) bool {
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			if c.Name == name {
				return true
			}
		}
	}
	return false
}
