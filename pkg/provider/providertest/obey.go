package providertest

import (
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

// example gives an item to model harmful ones on: the first one of the answer,
// else the least the schema allows.
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

// harm gives the items an instruction asks for, in every way they could do harm.
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

// offered gives the worst about every pair of statements that a call asks
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
