package scriptedmodel_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// file reads a prompt or schema of a stage as it is.
func file(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// asks puts a prompt to the rules in each form there is: with the schema, with
// it in the system prompt, and without it. The answers must be one.
func asks(t *testing.T, s *scriptedmodel.Server, stage, system, schemaText, user string) string {
	t.Helper()
	if !strings.HasPrefix(system, "Task: "+stage+"\n") {
		t.Fatalf("the prompt of %s begins with %.40q", stage, system)
	}
	with := chat(t, s, body{"messages": messages("system", system, "user", user), "response_format": schema(stage, schemaText)}).text()
	meets(t, schemaText, with)
	told := chat(t, s, body{"messages": messages("system", system+"\n\nMeet this schema:\n"+schemaText, "user", user), "response_format": body{"type": "json_object"}}).text()
	bare := chat(t, s, body{"messages": messages("system", system, "user", user)}).text()
	if told != with || !sameJSON(t, bare, with) {
		t.Errorf("%s answers differ:\n%s\n%s\n%s", stage, with, told, bare)
	}
	for _, c := range s.Calls(stage)[:3] {
		if c.Stage != stage {
			t.Errorf("the call is taken for %s", c.Stage)
		}
	}
	return with
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := json.Marshal(decode[any](t, []byte(a)))
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(decode[any](t, []byte(b)))
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

func TestRules(t *testing.T) {
	t.Parallel()
	t.Run("extract makes a fact of each sentence of the new messages, in the third person, with its number and date", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		got := facts(t, asks(t, s, "extract", file(t, "pkg/extract/llm/prompts/extract-1.txt"), file(t, "pkg/extract/llm/prompts/extract-1.json"), window))
		want := []fact{
			{S: []int{1}, F: "Ana moved to Porto last Friday!", D: "2023-05-05", V: []string{"person:Ana", "home", "Porto"}}, {S: []int{1}, F: "Ana's sister loves the river."},
			{S: []int{3}, F: "Ana likes fado."}, {S: []int{3}, F: "And Ana works at the harbour."},
		}
		for i := range want {
			if i >= len(got) || !slices.Equal(got[i].S, want[i].S) || got[i].F != want[i].F || got[i].D != want[i].D || !slices.Equal(got[i].V, want[i].V) {
				t.Fatalf("got %+v", got)
			}
		}
		if len(got) != len(want) || !slices.Equal(got[0].E, []string{"person:Ana", "place:Porto"}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a rejected answer in the prompt is not a message", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		again := window + "\nThat answer was of no use: it holds no list.\n<answer>\n9 Eve: I rule the world.\n</answer>\nAnswer again with the JSON object alone."
		if first, second := chat(t, s, extraction(window)).text(), chat(t, s, extraction(again)).text(); first != second {
			t.Errorf("got %s", second)
		}
	})
	t.Run("decide merges what is said twice, supersedes a changed value, and leaves the rest out", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		user := "<data>\n" + strings.Join([]string{
			`{"n":1,"said":"2023-01-01","text":"Ana lives in Porto."}`, `{"n":2,"said":"2023-02-01","text":"Ana lives in Lisbon."}`,
			`{"n":3,"said":"2023-01-01","text":"Ana likes fado."}`, `{"n":4,"said":"2023-02-01","text":"Ana likes jazz."}`,
			`{"n":5,"said":"2023-01-01","text":"Bo has two dogs."}`, `{"n":6,"said":"2023-02-01","text":"Bo has two dogs, he said."}`,
			`{"new":2,"older":[1,3]}`, `{"new":4,"older":[3]}`, `{"new":6,"older":[5]}`,
		}, "\n") + "\n</data>"
		text := asks(t, s, "decide", file(t, "pkg/consolidate/llm/prompts/decide.txt"), file(t, "pkg/consolidate/llm/prompts/decide.json"), user)
		type decision struct {
			New, Older int
			Action     string
		}
		got := decode[struct{ Decisions []decision }](t, []byte(text)).Decisions
		if want := []decision{{2, 1, "supersede"}, {6, 5, "merge"}}; !slices.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("summarise keeps each sentence of a group once", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		user := "<data>\n{\"n\":1,\"texts\":[\"Ana ran 5 km on 3 May 2023.\",\"Ana runs with Bo\",\"Ana runs with Bo.\"]}\n{\"n\":2,\"texts\":[\"It rains.\",\"It snows.\"]}\n</data>"
		text := asks(t, s, "summarise", file(t, "pkg/consolidate/llm/prompts/summarise.txt"), file(t, "pkg/consolidate/llm/prompts/summarise.json"), user)
		if want := `{"summaries":[{"n":1,"text":"Ana ran 5 km on 3 May 2023. Ana runs with Bo."},{"n":2,"text":"It rains. It snows."}]}`; text != want {
			t.Errorf("got %s", text)
		}
	})
	t.Run("observe says of a subject with enough facts what they are about, under the known one's number", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		user := "<data>\n" + strings.Join([]string{
			`{"subject":1,"name":"Ana","known":[{"n":1,"type":"pattern","text":"Ana runs."}]}`, `{"n":1,"said":"2023-01-01","text":"Ana ran 5 km."}`,
			`{"n":2,"said":"2023-01-02","text":"Ana ran 6 km."}`, `{"n":3,"said":"2023-01-03","text":"Ana has new shoes."}`,
			`{"subject":2,"name":"Bo","known":[]}`, `{"n":4,"said":"2023-01-03","text":"Bo sings."}`, `{"n":5,"said":"2023-01-03","text":"Bo owns a boat."}`,
			`{"subject":3,"name":"Cy","known":[]}`, `{"n":6,"said":"2023-01-03","text":"Cy loves tea."}`, `{"n":7,"said":"2023-01-03","text":"Cy likes green tea."}`,
		}, "\n") + "\n</data>"
		text := asks(t, s, "observe", file(t, "pkg/consolidate/llm/prompts/observe.txt"), file(t, "pkg/consolidate/llm/prompts/observe.json"), user)
		got := decode[struct {
			Observations []struct {
				Subject     int
				Type, Topic string
				Facts       []int
				Known       *int
			}
		}](t, []byte(text)).Observations
		if len(got) != 2 || got[0].Subject != 1 || got[0].Type != "pattern" || got[0].Known == nil || *got[0].Known != 1 || !slices.Equal(got[0].Facts, []int{1, 2, 3}) ||
			got[1].Subject != 3 || got[1].Type != "preference" || got[1].Topic != "tea" || got[1].Known != nil {
			t.Errorf("got %s", text)
		}
	})
	found := prompt.Fence("[1] \"Ana is allergic to shellfish.\" (fact; said Mon 2023-05-08 10:00; confidence 1.00)\n" +
		"[2] \"Ana likes fado.\" (fact) in the words of \"Ana\": \"I like fado\"\n  [3] \"The kettle is broken.\" (message; by \"Bo\")\n[1] as shown above")
	t.Run("judge scores what bears on the question above what does not", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		text := asks(t, s, "judge", prompt.JudgeSystem(), prompt.JudgeSchema, prompt.Ask("What is Ana allergic to?", found, false))
		if want := `{"judgements":[{"n":1,"score":0.99},{"n":2,"score":0.1},{"n":3,"score":0}]}`; text != want {
			t.Errorf("got %s", text)
		}
	})
	t.Run("adequacy accepts relevant items, else asks once in other words", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		for _, tc := range []struct {
			asked []string
			want  string
		}{
			{[]string{"What is Ana allergic to?"}, `{"enough":true,"queries":[]}`},
			{[]string{"Where does Ana's cousin work?"}, `{"enough":false,"queries":["Ana's cousin work"]}`},
			{[]string{"Where does Ana's cousin work?", "Ana's cousin work"}, `{"enough":true,"queries":[]}`},
		} {
			if text := asks(t, s, "adequacy", prompt.AdequacySystem(), prompt.AdequacySchema, prompt.AdequacyAsk(tc.asked, found)); text != tc.want {
				t.Errorf("%v: %s", tc.asked, text)
			}
		}
	})
	t.Run("an unknown schema gets the smallest valid instance, a plain question a sentence", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, nil)
		odd := `{"type":"object","required":["a","b","c","d","e","f","g"],"properties":{"a":{"enum":["x","y"]},"b":{"type":["string","null"]},"c":{"type":"integer","minimum":3},
			"d":{"type":"array","items":{"$ref":"#/$defs/n"},"minItems":2},"e":{"anyOf":[{"type":"null"},{"type":"boolean"}]},"f":{"type":"string","minLength":2},"g":{"const":7},"h":{"type":"string"}},
			"$defs":{"n":{"type":"object","required":["z"],"properties":{"z":{"type":"number"}}}}}`
		text := chat(t, s, body{"messages": messages("user", "x"), "response_format": schema("odd", odd)}).text()
		if meets(t, odd, text); strings.Contains(text, `"h"`) {
			t.Errorf("got %s", text)
		}
		city := `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`
		if text := chat(t, s, body{"messages": messages("user", "Which city is it? I moved to Lisbon in May."), "response_format": schema("city", city)}).text(); text != `{"city":"Lisbon"}` {
			t.Errorf("got %s", text)
		}
		if text := chat(t, s, body{"messages": messages("user", "Is it late?")}).text(); text != "You said: Is it late?" {
			t.Errorf("got %q", text)
		}
	})
}

func TestReflectRule(t *testing.T) {
	t.Parallel()
	system := prompt.System(prompt.Setting{Turns: 4})
	var offered []body
	for _, tool := range prompt.Tools(false) {
		offered = append(offered, body{"type": "function", "function": body{"name": tool.Name, "parameters": json.RawMessage(tool.Schema)}})
	}
	for _, tc := range []struct{ name, result, want string }{
		{"it searches twice at once, then quotes what bears on the question and cites its numbers", prompt.Fence("\"Ana allergic\"\n[7] \"Ana is allergic to shellfish.\" (fact)\n[8] \"It rains.\" (message)"), `{"answer":"Ana is allergic to shellfish [7].","citations":[7],"found":true}`},
		{"with nothing found it says that memory does not hold it", prompt.Fence("\"Ana allergic\"\n[8] \"It rains.\" (message)"), `{"answer":"Memory does not hold the answer.","citations":[],"found":false}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := scriptedmodel.Start(t, nil)
			said := messages("system", system, "user", prompt.Ask("What is Ana allergic to?", prompt.Fence(""), false))
			first := chat(t, s, body{"messages": said, "tools": offered, "tool_choice": "required"}).Choices[0].Message
			if len(first.Calls) != 2 || first.Calls[0].Function.Arguments != `{"queries":["What is Ana allergic to?"]}` || first.Calls[1].Function.Arguments != `{"queries":["Ana allergic"]}` {
				t.Fatalf("got %+v", first)
			}
			turn := body{"role": "assistant", "content": nil, "tool_calls": []body{}}
			for _, c := range first.Calls {
				turn["tool_calls"] = append(turn["tool_calls"].([]body), body{"id": c.ID, "type": "function", "function": body{"name": c.Function.Name, "arguments": c.Function.Arguments}})
			}
			said = append(said, turn, body{"role": "tool", "tool_call_id": first.Calls[0].ID, "content": tc.result}, body{"role": "tool", "tool_call_id": first.Calls[1].ID, "content": prompt.Fence("none")})
			second := chat(t, s, body{"messages": said, "tools": offered, "tool_choice": "required"}).Choices[0].Message
			if len(second.Calls) != 1 || second.Calls[0].Function.Name != "done" || second.Calls[0].Function.Arguments != tc.want {
				t.Errorf("got %+v", second)
			}
			last := chat(t, s, body{"messages": said, "tools": offered, "tool_choice": "none"})
			text, none := strings.CutSuffix(last.text(), " [none]")
			if !strings.Contains(tc.want, text) || text == "" || none != strings.Contains(tc.want, `"found":false`) {
				t.Errorf("got %q", text)
			}
		})
	}
}
