package asyncapi

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// builder makes the parts of the document from Events and wire.Endpoints.
type builder struct {
	src     Source
	schemas *schemas
}

// parameters describes the placeholders of an address.
var parameters = map[string]string{
	"bank":    "Name of the bank, percent-encoded: every byte outside A-Z a-z 0-9 _ - is %XX in upper-case hex.",
	"session": "Name of the session, percent-encoded like a bank.",
	"what":    "What changed.",
	"kind":    "What the write does.",
	"stage":   "The stage that gave up.",
}

var whats = []string{memory.ChangeMessage, memory.ChangeFact, memory.ChangeComposite, memory.ChangeObservation,
	memory.ChangeEntity, memory.ChangeConflict, memory.ChangeBank, memory.ChangeUsage, memory.ChangeForget}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

func (b *builder) channel(address, summary string, messages ...string) *yaml.Node {
	n := object("address", address, "description", summary)
	if names := placeholder.FindAllStringSubmatch(address, -1); len(names) > 0 {
		ps := object()
		for _, m := range names {
			p := object("description", parameters[m[1]])
			switch m[1] {
			case "what":
				put(p, "enum", whats)
			case "kind":
				put(p, "enum", b.src.Enums["WriteKind"])
			}
			put(ps, m[1], p)
		}
		put(n, "parameters", ps)
	}
	put(n, "messages", b.messageRefs(messages))
	return n
}

func (b *builder) messageRefs(names []string) *yaml.Node {
	n := object()
	for _, name := range names {
		put(n, name, ref("components/messages/"+name))
	}
	return n
}

// id returns the endpoint's name in the document.
func id(e wire.Description) string {
	if e.Role == wire.Operator {
		return "admin" + strings.ToUpper(e.Name[:1]) + e.Name[1:]
	}
	return e.Name
}

// subject returns the address of the endpoint's channel.
func subject(e wire.Description) string { return e.Subject("mem") }

var delta = of[wire.Delta]("Delta")

// endpoints returns those of the table, and then those that a consolidator answers.
func endpoints() []wire.Description { return append(wire.Endpoints(), wire.ByConsolidators()...) }

func replies(e wire.Description) []string {
	names := []string{e.Reply.Name, "Fault"}
	if e.Name == wire.RebuildLive.Name {
		names = names[:1]
	}
	if e.Streams {
		names = append(names, delta.Name)
	}
	return names
}

func (b *builder) channels() *yaml.Node {
	out := object()
	for _, e := range Events() {
		put(out, e.Name, b.channel(e.Subject, e.Summary, e.Name))
	}
	ack := object("address", nil, "description", "The reply subject of a publish made as a request.", "messages", b.messageRefs([]string{"ack"}))
	put(out, "ack", ack)
	for _, e := range endpoints() {
		put(out, id(e), b.channel(subject(e), e.Summary, e.Request.Name))
		put(out, id(e)+"Reply", object("address", nil, "description", "The reply subject of a request.", "messages", b.messageRefs(replies(e))))
	}
	return out
}

func (b *builder) operations() *yaml.Node {
	out := object()
	for _, e := range Events() {
		if e.Receives {
			n := operation("receive", e.Name, e.Summary, e.Name)
			if e.Acked {
				put(n, "reply", object("channel", ref("channels/ack"), "messages", array(ref("channels/ack/messages/ack"))))
			}
			put(out, operationName("receive", e.Name), n)
		}
		if e.Sends {
			put(out, operationName("send", e.Name), operation("send", e.Name, e.Summary, e.Name))
		}
	}
	for _, e := range endpoints() {
		n := operation("receive", id(e), e.Summary, e.Request.Name)
		reply := id(e) + "Reply"
		refs := array()
		for _, m := range replies(e) {
			refs.Content = append(refs.Content, ref("channels/"+reply+"/messages/"+m))
		}
		put(n, "reply", object("channel", ref("channels/"+reply), "messages", refs))
		put(out, id(e), n)
	}
	return out
}

func operationName(action, name string) string {
	return action + strings.ToUpper(name[:1]) + name[1:]
}

func operation(action, channel, summary, message string) *yaml.Node {
	return object("action", action, "summary", summary, "channel", ref("channels/"+channel),
		"messages", array(ref("channels/"+channel+"/messages/"+message)))
}

func (b *builder) components() *yaml.Node {
	open, asked := map[string]bool{}, map[string]bool{}
	messages, named := object(), map[string]bool{}
	add := func(m wire.Body, summary string) {
		if !named[m.Name] {
			named[m.Name] = true
			put(messages, m.Name, object("name", m.Name, "summary", summary, "payload", b.schemas.refer(m.Type)))
		}
	}
	for _, e := range Events() {
		if e.Public {
			reach(e.Type, open)
		}
		add(e.Body, e.Summary)
	}
	answers := func(m wire.Body, summary string) {
		reach(m.Type, open)
		add(m, summary)
	}
	answers(of[wire.Ack]("ack"), "The broker's acknowledgement.")
	for _, e := range endpoints() {
		reach(e.Request.Type, asked)
		add(e.Request, "Asks "+subject(e)+".")
		answers(e.Reply, "Answers "+subject(e)+".")
		if e.Streams {
			answers(delta, "A piece of the answer of "+subject(e)+", before the whole.")
		}
	}
	answers(of[wire.Fault]("Fault"), "Any failure; the headers Nats-Service-Error and Nats-Service-Error-Code say the same.")
	for name := range asked {
		b.schemas.closed[name] = !open[name]
	}
	return object("messages", messages, "schemas", b.schemas.components())
}
