package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// mayStay lists the fields whose words a forget may leave, by the beginning of their path, each with its reason. A whole
// bank leaves none of them but the first group.
var mayStay = []struct {
	path   string
	reason string
	bank   bool // also after an erasure of the bank
}{
	{"message.id", "a forgotten id stays used, so that a publisher's retry does not bring the message back", true},
	{"malformed.id", "the same", true},
	{"erase.", "it names the bank, which is the subject of its events", true},
	{"dead.", "it is a read", true}, {"reextract.", "it names the bank and its session", true},
	{"retain.op", "an op is the id of a write", false},
	{"text.op", "the id of the message that the text became", true},
	{"text.session", "ingest notes by its name how far a session is cut", true},
	{"observe.op", "an op is the id of a write", false}, {"edit.op", "the same", false}, {"conflicts.op", "the same", false},
	{"feedback.op", "the same", false}, {"bank.op", "the same", false}, {"consolidate.op", "the same", false},
	{"forget.op", "the receipt is found by it", false},
	{"forget.id", "the id that was asked for, of no record", false},
	{"alias.op", "the same", false},
	{"alias.entity", "a name that no fact bears is kept until the alias is forgotten", false}, {"alias.aliases", "the same", false},
	{"feedback.recall", "the id of a recall, which change events name", true},
	{"refused ", "nothing of a refused request is stored, so it names nothing that a forget could; it goes with its bank", false},
	{"bank.", "the profile is the operator's, and goes with the bank", false},
}

func stays(path string, bank bool) bool {
	for _, s := range mayStay {
		if strings.HasPrefix(path, s.path) && (s.bank || !bank) {
			return true
		}
	}
	return false
}

// closed are the values of types that are one of a list.
var closed = map[reflect.Type]any{
	reflect.TypeFor[memory.Kind](): "world", reflect.TypeFor[memory.Type](): "event", reflect.TypeFor[memory.ObservationType](): "risk",
	reflect.TypeFor[memory.Record](): "fact", reflect.TypeFor[memory.Role](): "user", reflect.TypeFor[memory.ConflictState](): "",
	reflect.TypeFor[memory.EntityType](): "person",
}

// planter gives every field that can hold text a word of its own.
type planter struct {
	prefix string
	fields map[string]string // by word
}

func (p *planter) word(path string) string {
	w := fmt.Sprintf("qz%s%dzq", p.prefix, len(p.fields))
	p.fields[w] = path
	return w
}

// fill returns a value of a type whose texts are planted words, but for the fixed ones, by path; nil leaves a field out.
func (p *planter) fill(t reflect.Type, path string, fixed map[string]any) any {
	if v, ok := fixed[path]; ok {
		if s, ok := v.(string); ok && strings.Contains(s, "%s") {
			return fmt.Sprintf(s, p.word(path))
		}
		return v
	}
	if v, ok := closed[t]; ok {
		return v
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.fill(t.Elem(), path, fixed)
	case reflect.String:
		return p.word(path)
	case reflect.Slice:
		if v := p.fill(t.Elem(), path, fixed); v != nil && t.Elem().Kind() != reflect.Uint8 {
			return []any{v}
		}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return map[string]any{p.word(path): []any{p.word(path), map[string]any{"in": p.word(path)}}}
		}
	case reflect.Struct:
		out := map[string]any{}
		p.members(t, path, fixed, out)
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func (p *planter) members(t reflect.Type, path string, fixed, out map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			p.members(f.Type, path, fixed, out)
		case name == "-" || !f.IsExported():
		default:
			if v := p.fill(f.Type, path+"."+name, fixed); v != nil {
				out[name] = v
			}
		}
	}
}

// body is fill as JSON.
func (p *planter) body(t reflect.Type, path string, fixed map[string]any) string {
	raw, err := json.Marshal(p.fill(t, path, fixed))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// forms returns a word as it stands in a file, plain and in base64 wherever it begins.
func forms(word string) [][]byte {
	out := [][]byte{[]byte(word)}
	for k := range 3 {
		enc := base64.RawStdEncoding.EncodeToString([]byte("   "[:k] + word))
		out = append(out, []byte(enc[(k*8+5)/6:(k+len(word))*8/6]))
	}
	return out
}

// filesByWord returns, for each word that stands in a file below a directory, in plain or in base64, one of these files.
func filesByWord(t *testing.T, dir string, words map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for w := range words {
			if slices.ContainsFunc(forms(w), func(f []byte) bool { return bytes.Contains(raw, f) }) {
				out[w] = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryPlantedWordIsForgotten plants a word of its own in every field of every event and request that the wire table
// has, forgets, and searches every file of the broker and the store for them. A field that is added is planted by itself.
func TestEveryPlantedWordIsForgotten(t *testing.T) {
	t.Parallel()
	for kind, forgets := range map[string][]string{
		"id":      {`{"id":"%[1]s"}`, `{"id":"%[4]s"}`},
		"session": {`{"session":"%[2]s"}`},
		"speaker": {`{"speaker":"%[3]s"}`},
		"bank":    nil,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := apptest.Settings(t, nil)
			l := apptest.Start(t, c)
			q := dial(t, l.URL)
			p := &planter{prefix: kind, fields: map[string]string{}}
			names := plantEverywhere(t, q, p, kind)
			if len(p.fields) < 60 {
				t.Fatalf("only %d words are planted", len(p.fields))
			}
			for _, f := range forgets {
				q.mustAsk("mem."+kind+".forget", fmt.Sprintf(f+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s", names[0], names[1], names[2], names[3]))
			}
			if kind == "bank" {
				q.mustAsk("mem.admin.erase", `{"bank":"bank"}`)
			}
			var held map[string]string
			left := func() (out []string) {
				held = filesByWord(t, c.Data, p.fields)
				for w, file := range held {
					if !stays(p.fields[w], kind == "bank") {
						out = append(out, fmt.Sprintf("%s in %s", p.fields[w], strings.TrimPrefix(file, c.Data)))
					}
				}
				slices.Sort(out)
				return out
			}
			for deadline := time.Now().Add(30 * time.Second); len(left()) > 0 && time.Now().Before(deadline); {
				q.mustAsk("mem.admin.banks", `{}`)
			}
			if out := left(); len(out) > 0 {
				t.Errorf("%d of %d words are left:\n%s", len(out), len(p.fields), strings.Join(out, "\n"))
			}
		})
	}
}

// plantEverywhere publishes every event and sends every request to a bank, all about one message of one speaker, and
// returns the message's id, session and speaker and the id of the message that a retained text became.
func plantEverywhere(t *testing.T, q plain, p *planter, bank string) []string {
	t.Helper()
	id, session, speaker := "m1", "s1", p.word("message.speaker")
	subject := "mem." + bank + ".message." + session
	message := map[string]any{"message.speaker": speaker, "message.content": "I own a %s lathe and a quiet heron.", "message.id": id}
	body := p.body(reflect.TypeFor[memory.Message](), "message", message)
	q.publish(subject, strings.TrimSuffix(body, "}")+fmt.Sprintf(`,%q:%q}`, p.word("message.extra"), p.word("message.extra")))
	malformed := map[string]any{"malformed.speaker": speaker, "malformed.id": id, "malformed.role": p.word("malformed.role"), "malformed.content": "A %s cello."}
	q.publish(subject, p.body(reflect.TypeFor[memory.Message](), "malformed", malformed))
	q.publish(subject, fmt.Sprintf(`{"id":%q,"speaker":%q,"content":"A %s drum`, id, speaker, p.word("truncated.content")))
	header := &nats.Msg{Subject: subject, Header: nats.Header{"X-Note": {p.word("header")}},
		Data: fmt.Appendf(nil, `{"id":%q,"speaker":%q,"content":"I own a %s lathe again."}`, id, speaker, p.word("repeat.content"))}
	if _, err := q.nc.RequestMsg(header, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if bank == "session" || bank == "bank" { // what is no message has a session alone
		q.publish("mem."+bank+".flush."+session, fmt.Sprintf(`{"upto":1,"note":%q}`, p.word("flush.extra")))
		q.publish(subject, fmt.Sprintf(`{"stream":%q,"seq":1}`, p.word("foreign.stream")))
	}
	q.publish("mem."+bank+".flush."+session, "")
	q.settle(bank)

	request := func(name string) wire.Description {
		all := wire.Endpoints()
		return all[slices.IndexFunc(all, func(d wire.Description) bool { return d.Name == name })]
	}
	send := func(as, name string, fixed map[string]any) object {
		d := request(name)
		out, code := q.ask(strings.ReplaceAll(d.Subject("mem"), "{bank}", bank), p.body(d.Request.Type, as, fixed))
		if code != "" {
			t.Fatalf("%s: %s %v", as, code, out)
		}
		return out
	}
	r := send("retain", "retain", map[string]any{"retain.text": nil, "retain.session": nil, "retain.time": nil, "retain.speaker": nil, "retain.facts.text": "The lathe is a %s.",
		"retain.facts.sources": []string{id}, "retain.facts.entities": []string{"person:" + p.word("retain.facts.entities")}, "retain.facts.speaker": speaker})
	fact, _ := outcome(r, 0)["id"].(string)
	if fact == "" {
		t.Fatalf("not retained: %v", r)
	}
	textSession := p.word("text.session")
	if bank == "session" {
		textSession = session
	}
	said := send("text", "retain", map[string]any{"retain.facts": nil, "text.facts": nil, "text.text": "I own a %s boat.", "text.session": textSession,
		"text.speaker": speaker})
	send("observe", "observe", map[string]any{"observe.observations.facts": []string{fact}})
	send("derive", "observe", map[string]any{"derive.observations": nil, "derive.types": nil, "derive.op": nil, "derive.query": "heron %s"})
	send("edit", "edit", map[string]any{"edit.id": fact, "edit.text": nil})
	edited := send("edit", "edit", map[string]any{"edit.id": fact, "edit.type": nil, "edit.tags": nil, "edit.text": "The lathe is a %s one."})
	part := func(words string) object { // a change whose texts are planted words
		return object{"op": "remember", "text": fmt.Sprintf("The lathe has a %s bench.", p.word("curate."+words)), "speaker": speaker, "sources": []string{id},
			"entities": []string{"person:" + p.word("curate.entities")}, "tags": []string{p.word("curate.tags")}, "metadata": object{"k": p.word("curate.metadata")}}
	}
	named := p.word("curate.entity")
	one, two := part("text"), part("text")
	one["as"], two["as"] = "$a", "$b"
	one["entities"] = []string{"person:" + named}
	curate, err := json.Marshal(object{"changes": []any{one, two, object{"op": "alias", "entity": named, "aliases": []string{p.word("curate.aliases")}},
		object{"op": "conflict", "ids": []string{"$a", "$b"}, "reason": p.word("curate.reason")}, object{"op": "topic", "ids": []string{"$a"}, "topic": p.word("curate.topic")},
		object{"op": "split", "id": "$b", "parts": []any{object{"text": "A bench stands there. " + p.word("curate.parts")}, object{"text": "It is old. " + p.word("curate.parts")}}}}})
	if err != nil {
		t.Fatal(err)
	}
	q.mustAsk("mem."+bank+".apply", string(curate))
	send("feedback", "feedback", map[string]any{"feedback.retrieved": []any{fact}, "feedback.used": []any{edited["id"]}, "feedback.outcome": "success"})
	send("bank", "bank", map[string]any{"bank.zone": "Europe/Lisbon"})
	for _, d := range wire.Endpoints() { // in every other form, most of which are refused
		if d.Role == wire.Operator || d.Name == "retain" {
			continue
		}
		before := maps.Clone(p.fields)
		reply, code := q.ask(strings.ReplaceAll(d.Subject("mem"), "{bank}", bank), p.body(d.Request.Type, d.Name, nil))
		for w, path := range p.fields {
			if before[w] == "" && (code != "" || d.Name == "observe" && len(list(reply["observations"])) == 0) {
				p.fields[w] = "refused " + path
			}
		}
	}
	natstest.Eventually(t, "the writes are applied", func() bool { return q.settle(bank)["settled"] == true })
	return []string{id, session, speaker, fmt.Sprint(said["op"])}
}
