package asyncapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// channels returns every channel with an address, as a pattern that its subjects match.
func channels(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	out := map[string]*regexp.Regexp{}
	for name, v := range parsed(t)["channels"].(map[string]any) {
		address, ok := v.(map[string]any)["address"].(string)
		if !ok {
			continue
		}
		p := regexp.QuoteMeta(address)
		p = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(p, `[A-Za-z0-9_%-]+`)
		out[name] = regexp.MustCompile("^" + p + "$")
	}
	return out
}

// TestEverySubjectBuilderHasAChannel calls each method of Naming that builds a subject, by reflection, so that new
// methods are covered.
func TestEverySubjectBuilderHasAChannel(t *testing.T) {
	t.Parallel()
	known := channels(t)
	naming := events.Naming{Prefix: "mem"}
	last := map[string][]string{
		"DeadSubject": {"ingest", "extract", "consolidate"}, "ChangeSubject": {"message", "fact", "forget"}, "WriteSubject": {"window", "retain"},
	}
	for _, e := range append(wire.Endpoints(), wire.ByConsolidators()...) {
		if e.Role == wire.Operator {
			last["AdminSubject"] = append(last["AdminSubject"], e.Name)
		} else {
			last["RequestSubject"] = append(last["RequestSubject"], e.Name)
		}
	}
	v := reflect.ValueOf(naming)
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if name == "Subject" || !strings.HasSuffix(name, "Subject") {
			continue
		}
		ends := last[name]
		if ends == nil {
			ends = []string{"a session"}
		}
		for _, end := range ends {
			m := v.Method(i)
			args := make([]reflect.Value, m.Type().NumIn())
			for a := range args {
				text := "bank"
				if a == len(args)-1 {
					text = end
				}
				args[a] = reflect.ValueOf(text).Convert(m.Type().In(a))
			}
			subject := m.Call(args)[0].String()
			if !matches(known, subject) {
				t.Errorf("%s builds %s, which no channel of docs/asyncapi.yaml has", name, subject)
			}
		}
	}
}

func matches(known map[string]*regexp.Regexp, subject string) bool {
	for _, p := range known {
		if p.MatchString(subject) {
			return true
		}
	}
	return false
}

func TestSchemasAcceptWhatTheCodeWrites(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)
	for _, v := range []any{
		memory.Message{Content: "I moved to Lisbon.", Time: now, Metadata: map[string]any{"channel": "general"}},
		memory.Flush{Upto: 3},
		wire.RecallRequest{Query: "where", Filter: memory.Filter{Records: memory.Records, From: &now}, Vector: memory.Vector{1, 0}},
		wire.RecallReply{Items: []memory.Item{{ID: "f_1", Record: memory.RecordFact, Entities: []memory.EntityID{}, Children: []string{}, Valid: []memory.Interval{{From: now}}}}, Degraded: []string{}},
		wire.ReflectRequest{RecallRequest: wire.RecallRequest{Query: "where", Judge: &wire.Judge{Threshold: new(float64)}, Adequacy: 2}},
		wire.ReflectReply{Citations: []wire.Citation{}, FactsUsed: []string{}, Degraded: []string{}, Judged: &wire.Judged{Kept: 1}},
		wire.Delta{Reset: true},
		wire.Status{Waiting: []wire.Waiting{}},
		memory.Bank{ID: "alice", Disposition: memory.DefaultDisposition(), Created: now},
		memory.Change{ID: "e_1", Op: memory.OutcomeAdded, Record: "f_1", Time: now},
		memory.Write{Op: "1", Window: &memory.WindowEnd{Window: memory.Window{ID: "w_1", New: []memory.WindowMessage{{Seq: 1}}, Trigger: memory.TriggerCount}, SessionID: "s", Outcome: memory.WindowEmpty}},
		wire.FaultOf(memory.Invalid("query", "is required")),
	} {
		name := reflect.TypeOf(v).Name()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			validate(t, name, b)
		})
	}
}

func TestTheExamplesOfTheEndpointsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	for _, e := range append(wire.Endpoints(), wire.ByConsolidators()...) {
		for _, b := range []wire.Body{e.Request, e.Reply} {
			body, err := json.Marshal(b.Example)
			if err != nil {
				t.Fatal(err)
			}
			name := b.Type.Name()
			if outer, inner, generic := strings.Cut(name, "["); generic {
				name = strings.TrimSuffix(inner[strings.LastIndex(inner, ".")+1:], "]") + outer
			}
			validate(t, name, body)
		}
	}
}

func validate(t *testing.T, name string, body []byte) {
	t.Helper()
	if err := violation(t, name, body); err != nil {
		t.Errorf("%s refuses %s: %v", name, body, err)
	}
}

func violation(t *testing.T, name string, body []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema(t, name).Validate(v)
}

func TestARequestWithATypoIsRefusedByItsSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"RecallRequest", "RetainRequest", "ObserveRequest", "BankUpdate", "ForgetRequest", "GetRequest"} {
		if violation(t, name, []byte(`{"query":"q","id":"x","qurey":"q"}`)) == nil {
			t.Errorf("%s takes an unknown field", name)
		}
	}
}

func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no schemas")
	}
}

// TestTheContractsExamplesAreTrue validates the JSON blocks of the contract; the heading above each block names its
// schema.
func TestTheContractsExamplesAreTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]string{
		"message": {"Message"}, "recall": {"RecallRequest", "RecallReply"}, "reflect": {"ReflectReply", "ReflectReply"},
		"Change events": {"Change"}, "status and conservation": {"Status"},
	}
	heading, seen := "", map[string]int{}
	for _, section := range strings.Split(string(text), "\n## ") {
		heading, _, _ = strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(section, -1) {
			want := kinds[heading]
			if seen[heading] >= len(want) {
				t.Errorf("%s has an example of unknown kind", heading)
				continue
			}
			validate(t, want[seen[heading]], []byte(block[1]))
			seen[heading]++
		}
	}
	for h, want := range kinds {
		if seen[h] != len(want) {
			t.Errorf("%s has %d examples, want %d", h, seen[h], len(want))
		}
	}
}

func TestTheContractsLimitsAreTheCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, limits, _ := strings.Cut(string(text), "\n## Limits\n")
	for row, want := range map[string]int{
		"a bank, session or id": memory.MaxID, "a speaker, topic, tag or entity name": memory.MaxName,
		"the text of one fact": memory.MaxFactText, "a query": memory.MaxQuery, "images of a message": memory.MaxImages,
		"facts of one `retain`": memory.MaxFacts, "entities of a fact or filter": memory.MaxEntities, "tags of a fact or filter": memory.MaxTags,
		"dimensions of a vector": memory.MaxDimension, "items of a list or recall": memory.MaxLimit, "`max_tokens`": memory.MaxTokens,
	} {
		m := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` \| ([\d,]+)`).FindStringSubmatch(limits)
		if m == nil {
			t.Errorf("no limit on %s", row)
		} else if got := strings.ReplaceAll(m[1], ",", ""); got != fmt.Sprint(want) {
			t.Errorf("%s: the contract says %s, the code %d", row, m[1], want)
		}
	}
}

func TestTheContractNamesEveryCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	for code := 400; code < 600; code++ {
		named := strings.Contains(string(text), fmt.Sprintf("\n| %d |", code))
		if known := memory.FromCode(code) != nil || code == 500; named != known {
			t.Errorf("code %d: in the contract %v, in the code %v", code, named, known)
		}
	}
}

func TestTheContractNamesEveryEndpoint(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(wire.Endpoints(), wire.ByConsolidators()...) {
		if !strings.Contains(string(text), "`"+e.Name+"`") && !strings.Contains(string(text), "."+e.Name+"`") {
			t.Errorf("the contract does not name %s", e.Subject("mem"))
		}
	}
}

func TestTheContractsDefaultsAreTheCodes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONTRACT.md")
	if err != nil {
		t.Fatal(err)
	}
	c := query.DefaultConfig()
	for _, name := range memory.Strategies {
		if want := fmt.Sprintf("`%s` %v", name, c.Recall.Weights[name]); !strings.Contains(string(text), want) {
			t.Errorf("the contract does not say: %s", want)
		}
	}
	for field, want := range map[string]string{"wait": c.Recall.Waits.Default.String()} {
		if !strings.Contains(string(text), fmt.Sprintf("| `%s` | `%q` |", field, want)) {
			t.Errorf("the contract does not say that %s is %s", field, want)
		}
	}
}
