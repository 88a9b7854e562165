package scriptedmodel

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	toolSearch = "search_memory"
	toolDone   = "done"
)

// reflect searches once, for the question and for its words, and then answers with what bears on it most.
func reflect(req *Request, shown []item) Response {
	asked := question(req)
	if req.offers(toolSearch) && req.ToolChoice != "none" && req.ToolChoice != toolDone && !searched(req) {
		out := Response{Calls: []memory.ToolCall{searchFor(req, asked)}}
		if words := strings.Join(contentWords(asked), " "); words != "" && words != asked && req.Parallel {
			out.Calls = append(out.Calls, searchFor(req, words))
		}
		return out
	}
	text, cited := answer(asked, shown)
	if req.ToolChoice == "none" || !req.offers(toolDone) {
		if len(cited) == 0 {
			text += " [none]"
		}
		return Response{Text: text}
	}
	return Response{Calls: []memory.ToolCall{{Name: toolDone, Arguments: dump(tool(req, toolDone).fill(hints{
		{"answer|response|text", text}, {"citations|cites|ids|sources", cited}, {"found", len(cited) > 0},
	}))}}}
}

// answer quotes the items that bear on a question.
func answer(asked string, shown []item) (string, []any) {
	cited := []any{}
	var text []string
	for _, it := range best(asked, shown, 3) {
		text = append(text, strings.TrimRight(strings.Join(strings.Fields(it.text), " "), ".")+" ["+it.label+"].")
		cited = append(cited, it.id())
	}
	if len(text) == 0 {
		return "Memory does not hold the answer.", cited
	}
	return strings.Join(text, " "), cited
}

func searched(req *Request) bool {
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			if c.Name == toolSearch {
				return true
			}
		}
	}
	return false
}

func searchFor(req *Request, query string) memory.ToolCall {
	s := tool(req, toolSearch)
	h := hints{{"queries", query}, {"query", query}}
	if properties, ok := s.node.get("properties").(object); ok && properties.get("queries") != nil {
		h = h[:1]
	}
	return memory.ToolCall{Name: toolSearch, Arguments: dump(s.fill(h))}
}

// tool returns the schema of a tool's arguments.
func tool(req *Request, name string) shape {
	for _, t := range req.Tools {
		if t.Name == name {
			s, _ := readShape(string(t.Schema))
			return s
		}
	}
	return shape{}
}
