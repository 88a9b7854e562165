package scriptedmodel_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

func TestScript(t *testing.T) {
	t.Parallel()
	say := func(t *testing.T, s *scriptedmodel.Server, stage string) string {
		t.Helper()
		return chat(t, s, body{"messages": messages("system", "Task: "+stage, "user", "What about Lisbon?")}).text()
	}
	t.Run("a stage's queue comes before that of any stage, then lines, then functions, then rules", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Answer("", "any").Answer("one", "first").Answer("one", "").Func("one", func(r scriptedmodel.Request) scriptedmodel.Response {
			return scriptedmodel.Response{Text: r.Stage + " of " + r.User}
		})
		if err := script.Load(strings.NewReader("# a script\n\n" + `{"stage":"one","contains":"Lisbon","answer":{"a":1},"times":1}` + "\n" + `{"stage":"two","answer":"plain"}`)); err != nil {
			t.Fatal(err)
		}
		s := scriptedmodel.Start(t, script)
		for i, want := range []string{"first", "", "any", `{"a":1}`, "one of What about Lisbon?"} {
			if got := say(t, s, "one"); got != want {
				t.Errorf("call %d: got %q", i, got)
			}
		}
		for stage, want := range map[string]string{"two": "plain", "three": "You said: What about Lisbon?"} {
			if got := say(t, s, stage); got != want {
				t.Errorf("%s: got %q", stage, got)
			}
		}
	})
	t.Run("the stage is the schema's name, else the task's, else what the tools are for", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		empty := `{"type":"object"}`
		for _, tc := range []struct {
			want, system, name string
			tools              bool
		}{
			{"extract", "Task: decide", "extract", false}, {"judge", "Task: judge", "judgements", false}, {"observe", "", "observe_v2", true}, {"reflect", "", "other", true},
			{"other", "", "other", false}, {"decide", "Be brief.\n  Task: Decide.\nNow.", "", true}, {"chat", "Taskless.", "", false},
		} {
			b := body{"messages": messages("system", tc.system, "user", "x")}
			if tc.name != "" {
				b["response_format"] = schema(tc.name, empty)
			}
			if tc.tools {
				b["tools"] = tools()
			}
			chat(t, s, b)
			if calls := s.Calls(""); calls[len(calls)-1].Stage != tc.want {
				t.Errorf("%+v is taken for %s", tc, calls[len(calls)-1].Stage)
			}
		}
	})
	t.Run("calls can be queued and scripted", func(t *testing.T) {
		t.Parallel()
		script := (&scriptedmodel.Script{}).Call("reflect", "done", `{"answer":"a"}`).
			Respond("reflect", scriptedmodel.Response{Text: "and", Calls: []memory.ToolCall{{ID: "mine", Name: "x", Arguments: "{"}}, Truncated: true})
		if err := script.Load(strings.NewReader(`{"calls":[{"name":"done","arguments":{"answer":"b"}}]}`)); err != nil {
			t.Fatal(err)
		}
		s := scriptedmodel.Start(t, script)
		var got []string
		for range 3 {
			c := chat(t, s, body{"messages": messages("system", "Task: reflect", "user", "x")}).Choices[0]
			got = append(got, c.Message.Calls[0].Function.Arguments+" "+c.Finish)
		}
		if want := []string{`{"answer":"a"} tool_calls`, "{ length", `{"answer":"b"} tool_calls`}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a fault rule respects every, after and times, and applies to its stage only", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		f, err := scriptedmodel.ParseFault("500:stage=one:every=2:after=1:times=2")
		if err != nil {
			t.Fatal(err)
		}
		s := scriptedmodel.Start(t, script.Inject(f))
		var failed []int
		for i := range 9 {
			status, _, _, err := post(t, s, "/chat/completions", body{"messages": messages("system", "Task: one", "user", "x")})
			if err != nil {
				t.Fatal(err)
			}
			if status == http.StatusInternalServerError {
				failed = append(failed, i)
			}
			say(t, s, "two")
		}
		if !slices.Equal(failed, []int{2, 4}) {
			t.Errorf("calls %v failed", failed)
		}
	})
	t.Run("a line's fault keeps its answer", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		if err := script.Load(strings.NewReader(`{"answer":"x","fault":"fences"}`)); err != nil {
			t.Fatal(err)
		}
		if got := say(t, scriptedmodel.Start(t, script), "one"); got != "```json\nx\n```" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a line that cannot be read is named, and none is added", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{`{"answer":`, `{"stage":"x"}`, `{"answer":"x","colour":1}`, `{"fault":"501"}`} {
			script := &scriptedmodel.Script{}
			if err := script.Load(strings.NewReader("{\"answer\":\"ok\"}\n" + line)); err == nil || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("%s: got %v", line, err)
			}
			if got := say(t, scriptedmodel.Start(t, script), "one"); got == "ok" {
				t.Error("a line of a refused script is used")
			}
		}
	})
	t.Run("faults are parsed with their options, and invalid ones named", func(t *testing.T) {
		t.Parallel()
		for _, k := range scriptedmodel.Kinds() {
			if f, err := scriptedmodel.ParseFault(string(k) + ":wait=2s"); err != nil || f.Kind != k || f.Wait != 2*time.Second {
				t.Errorf("%s: %+v, %v", k, f, err)
			}
		}
		for text, says := range map[string]string{"418": "418", "500:every=0": "every", "500:often": "often", "hang:wait=-1s": "wait", "500:times=x": "times"} {
			if _, err := scriptedmodel.ParseFault(text); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v", text, err)
			}
		}
	})
	t.Run("concurrent calls are recorded in order of arrival", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() { chat(t, s, extraction(window)) })
		}
		group.Wait()
		calls := s.Calls("extract")
		for i, c := range calls {
			if c.N != i+1 || c.SchemaName != "extract" || c.Format != "json_schema" || c.Status != 200 || c.Answer == "" || !strings.Contains(c.User, "Porto") || c.Header.Get("Content-Length") == "" && c.Header == nil {
				t.Errorf("got %+v", c)
			}
		}
		if got := s.Stats().Stages["extract"]; len(calls) != 16 || got.Calls != 16 || got.Failed != 0 || got.CompletionTokens == 0 {
			t.Errorf("%d calls, %+v", len(calls), got)
		}
		if s.Calls("judge") != nil {
			t.Error("a stage nobody called has calls")
		}
	})
}

func FuzzAnswers(f *testing.F) {
	for _, user := range append(planted, window, "<data>\n{\"n\":[1],\"texts\":7}\n{\"new\":{},\"older\":[[],null]}\n{\"subject\":1}\n</data>", answer1) {
		f.Add("extract", extractSchema, user)
	}
	for _, stage := range []string{"decide", "summarise", "observe", "judge", "adequacy", "reflect", "odd"} {
		f.Add(stage, `{"type":"object","properties":{"a":{"$ref":"#/a"}},"required":["a"]}`, planted[0])
	}
	f.Add("odd", `{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],"$defs":{"n":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"]}}}`, "x")
	plain, obeying := scriptedmodel.Start(f, nil), scriptedmodel.Start(f, &scriptedmodel.Script{Obey: true})
	f.Fuzz(func(t *testing.T, stage, schemaText, user string) {
		for _, s := range []*scriptedmodel.Server{plain, obeying} {
			b := body{"messages": messages("system", "Task: "+stage+"\n"+schemaText, "user", user)}
			status, _, raw, err := post(t, s, "/chat/completions", b)
			if err != nil || status != http.StatusOK || len(decode[completion](t, raw).Choices) != 1 {
				t.Errorf("%d %v %s", status, err, raw)
			}
		}
	})
}

const answer1 = "<memory>\n[1] \"x\" (fact)\n[2] broken\n  [3] \"y\nq\n</memory>"
