package asyncapi

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// builder makes the parts of the document from Events and Endpoints.
type builder struct {
	src     Source
	schemas *schemas
}

// parameters says what may stand in an address.
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

// id is the endpoint's name in the document.
func (e Endpoint) id() string {
	if e.Admin {
		return "admin" + strings.ToUpper(e.Name[:1]) + e.Name[1:]
	}
	return e.Name
}

func (e Endpoint) replies() []string {
	names := []string{e.Reply.Name, "Fault"}
	if e.Pieces != nil {
		names = append(names, e.Pieces.Name)
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
	for _, e := range Endpoints() {
		put(out, e.id(), b.channel(e.Subject(), e.Summary, e.Request.Name))
		put(out, e.id()+"Reply", object("address", nil, "description", "The reply subject of a request.", "messages", b.messageRefs(e.replies())))
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
	for _, e := range Endpoints() {
		n := operation("receive", e.id(), e.Summary, e.Request.Name)
		reply := e.id() + "Reply"
		refs := array()
		for _, m := range e.replies() {
			refs.Content = append(refs.Content, ref("channels/"+reply+"/messages/"+m))
		}
		put(n, "reply", object("channel", ref("channels/"+reply), "messages", refs))
		put(out, e.id(), n)
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
	add := func(m Body, summary string) {
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
	answers := func(m Body, summary string) {
		reach(m.Type, open)
		add(m, summary)
	}
	answers(of[Ack]("ack"), "The broker's acknowledgement.")
	for _, e := range Endpoints() {
		reach(e.Request.Type, asked)
		add(e.Request, "Asks "+e.Subject()+".")
		answers(e.Reply, "Answers "+e.Subject()+".")
		if e.Pieces != nil {
			answers(*e.Pieces, "A piece of the answer of "+e.Subject()+", before the whole.")
		}
	}
	answers(of[memory.Fault]("Fault"), "Any failure; the headers Nats-Service-Error and Nats-Service-Error-Code say the same.")
	for name := range asked {
		b.schemas.closed[name] = !open[name]
	}
	return object("messages", messages, "schemas", b.schemas.components())
}
