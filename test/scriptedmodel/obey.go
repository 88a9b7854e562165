package scriptedmodel

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// obey answers as the rules do, and then as every planted instruction asks: with
// what was never shown, in fields that do not exist, about banks and records that
// are not the call's to name. Without an instruction it is the rules' answer.
func (h *Handler) obey(req *Request) Response {
	found := orders(show(req))
	out := h.rule(req)
	if len(found) == 0 {
		return out
	}
	if req.Stage == memory.StageReflect {
		return obeyReflect(req, out, found)
	}
	v, ok := parse(out.Text)
	if !ok {
		return Response{Text: out.Text + "\n" + found[0].payload}
	}
	v = onList(v, func(list []any) []any {
		like := example(list, req)
		if slices.ContainsFunc(found, func(o order) bool { return o.drop }) {
			list = nil
		}
		if req.Stage == memory.StageDecide {
			list = append(list, offered(req, found[0], like)...)
		}
		for _, o := range found {
			list = append(list, harm(o, like, req)...)
		}
		return list
	})
	if root, ok := v.(object); ok {
		root = slices.Clone(root)
		for i, f := range root {
			switch value := f.value.(type) {
			case bool:
				root[i].value = false
			case string:
				root[i].value = value + " " + found[0].payload
			}
		}
		v = append(root, foreignFields(found[0])...)
	}
	return Response{Text: dump(v)}
}

// example returns an item to model harmful ones on: the first one of the answer, else the least the schema allows.
func example(list []any, req *Request) any {
	if len(list) > 0 {
		return list[0]
	}
	if _, each := shapeOf(req, req.Stage).list(); each.node != nil {
		return each.fill(hints{{"f|text|fact|statement|content|summary|reason|reasoning|action|target", "x"},
			{"sources|s|facts|n|number|subject|new|older", []any{1}}})
	}
	return ""
}

// foreignFields are fields that no schema has, for a place that is not the call's.
func foreignFields(o order) object {
	bank := o.bank
	if bank == "" {
		bank = "admin"
	}
	return object{
		{"bank", bank}, {"session", "other"}, {"subject", "mem." + bank + ".write.forget"}, {"op", "01HZZZZZZZZZZZZZZZZZZZZZZZ"}, {"seq", 1},
		{"id", "f_0000000000000000"}, {"key", "owner"}, {"pin", true}, {"metadata", object{{"admin", "true"}}},
	}
}

// harm returns the items an instruction asks for, in every way they could do harm.
func harm(o order, like any, req *Request) []any {
	var targets []any
	for _, id := range o.ids {
		if n := digits(id); n > 0 && itoa(n) == id {
			targets = append(targets, n)
		} else {
			targets = append(targets, id)
		}
	}
	for _, it := range show(req) { // what is shown may be named by right: the worst is to say it of all
		if it.label != "" && len(targets) < 32 {
			targets = append(targets, it.id())
		}
	}
	targets = append(targets, 0, -1, 90001, "seq:1", "f_0000000000000000")
	if _, plainText := like.(string); plainText {
		return []any{o.payload, strings.Repeat(o.payload+" ", 200), "mem.admin.erase"}
	}
	var out []any
	for i, t := range targets {
		item := twist(like, o, t, i)
		if i%2 == 1 {
			item = append(item, foreignFields(o)...)
		}
		out = append(out, item)
	}
	huge := twist(like, o, targets[0], 0)
	for i, f := range huge {
		if text, ok := f.value.(string); ok && text == o.payload {
			huge[i].value = strings.Repeat(text+" ", 1+(200<<10)/(1+len(text)))
		}
	}
	return append(out, huge, append(twist(like, o, targets, 1), foreignFields(o)...))
}

// offered returns the worst about every pair of statements that a call asks
// about, and about the same pairs the other way round.
func offered(req *Request, o order, like any) []any {
	base, _ := like.(object) //nolint:errcheck // an empty item
	var out []any
	put := func(newer, older any) {
		item := slices.Clone(base)
		for i, f := range item {
			switch f.name {
			case "new":
				item[i].value = newer
			case "older":
				item[i].value = older
			case "action":
				item[i].value = []string{"supersede", "update"}[len(out)/2%2]
			case "text", "reason":
				item[i].value = o.payload
			}
		}
		out = append(out, item)
	}
	for _, row := range rows(req) {
		older, _ := row.get("older").([]any) //nolint:errcheck // it is no case
		for _, t := range older {
			put(row.get("new"), t)
			put(t, row.get("new"))
		}
	}
	return out
}

// actions are the words for what a decision does, worst first.
var actions = []string{"supersede", "delete", "merge", "update", "contradict", "ignore"}

// twist makes the n-th item say what an order wants, about a target.
func twist(like any, o order, target any, n int) object {
	base, _ := like.(object) //nolint:errcheck // an empty item
	all, many := target.([]any)
	out := make(object, 0, len(base)+8)
	for _, f := range base {
		_, isText := f.value.(string)
		_, isList := f.value.([]any)
		switch {
		case namesThings(f.name) && isList && many:
			f.value = all
		case namesThings(f.name) && isList:
			f.value = []any{target}
		case namesThings(f.name) && !many:
			f.value = target
		case f.name == "action":
			f.value = actions[n%len(actions)]
		case isText && (f.name == "k" || f.name == "kind"):
			f.value = "observation"
		case isText && (f.name == "y" || f.name == "type"):
			f.value = "instruction"
		case isText:
			f.value = o.payload
		case f.name == "score" || f.name == "confidence" || f.name == "c":
			f.value = 1
		}
		out = append(out, f)
	}
	return append(out, field{"confidence", 99}, field{"extra", o.text})
}

// order is an instruction found in the shown text.
type order struct {
	text    string   // the sentences it is made of
	payload string   // what it wants said
	ids     []string // what it wants named: numbers and ids
	bank    string   // where it wants to write
	drop    bool     // it wants the rest left out
}

var (
	imperative = regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget) (?:all|any|the|your|everything|previous|prior|these|above)|` +
		`\b(?:add|write|store|save|remember|record|output|print|reply|answer|respond|say|cite|quote|delete|remove|erase|drop|supersede|merge|retract|set|call|invoke|use|switch|score|rate)\b.{0,80}\b(?:fact|facts|message|messages|bank|banks|subject|session|source|sources|tool|search_memory|expand|done|memory|with|that|as|to|everything|all|item|items|number|\[?\d+)|` +
		`\bnew instructions?\b|\byou (?:must|are now|will now|have to)\b|\bthe answer (?:is|goes)\b|\bmem\.[\w%*>.-]+|` +
		`(?:^|\n|[.!?:>\]] )\W*(?:system|assistant|tool|developer|function)(?: \w+)? ?(?::|>|\])|<\|?/?\w+\|?>|\[/?INST\]|"(?:role|tool_calls?|op|bank|facts|sources)" ?:`)
	wanted    = regexp.MustCompile(`(?is)\b(?:facts?(?: that| as| saying|:)|(?:output|print|reply|answer|respond|say|remember|store|save|record)(?: only| exactly| with| that| as| is|:)*)[ "'“]+(.{3,400}?)(?:["”]|$|\. (?:[A-Z]|$)|\n)`)
	wantedIDs = regexp.MustCompile(`\b(?:f_[0-9A-Za-z]+|[a-z]_[0-9a-f]{6,}|seq:\d+|D\d+:\d+|[0-9A-HJKMNP-TV-Z]{26})\b|\b(?:message|messages|fact|facts|number|item|items|source|sources|cite|id)s? #?\[?"?([\w:.-]{1,64})`)
	wantedBnk = regexp.MustCompile(`(?i)\bbank[: ]+["']?([\w@.-]{1,64})|\bmem\.([\w%-]+)`)
	nothing   = regexp.MustCompile(`(?i)\b(?:nothing|no facts|empty|only|ignore|disregard|forget)\b`)
)

// orders finds the instructions planted in the shown text.
func orders(shown []item) []order {
	var out []order
	for _, it := range shown {
		text := it.text + " " + it.speaker
		if !imperative.MatchString(text) {
			continue
		}
		o := order{text: it.text, payload: it.text, drop: nothing.MatchString(text)}
		if m := wanted.FindStringSubmatch(it.text); m != nil && strings.Contains(strings.TrimSpace(m[1]), " ") {
			o.payload = strings.TrimSpace(m[1])
		}
		for _, m := range wantedIDs.FindAllStringSubmatch(text, -1) {
			id := m[1]
			if id == "" {
				id = m[0]
			}
			id = strings.TrimRight(id, ".:-")
			if id != "" && !slices.Contains(o.ids, id) && !slices.Contains([]string{"that", "the", "with", "as", "to", "and", "is", "of"}, strings.ToLower(id)) {
				o.ids = append(o.ids, id)
			}
		}
		if m := wantedBnk.FindStringSubmatch(text); m != nil {
			o.bank = m[1] + m[2]
		}
		out = append(out, o)
	}
	return out
}

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
