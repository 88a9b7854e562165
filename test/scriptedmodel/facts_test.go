package scriptedmodel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

const publishedTurns = `[{"sample_id":"one","conversation":{"speaker_a":"Ana","session_1_date_time":"1:56 pm on 8 May, 2023",
	"session_1":[{"speaker":"Ana","dia_id":"D1:1","text":"Hi!"},{"speaker":"Bo","dia_id":"D1:2","text":"Thanks!"},{"speaker":"Ana","dia_id":"D1:3","text":"I sing  in a\nchoir."},
		{"speaker":"Bo","dia_id":"D1:4","text":"Thanks!"},{"speaker":"Ana","dia_id":"D1:5","text":"Look.","blip_caption":"a choir on a stage"}]}},
	{"sample_id":"two","conversation":{"session_1":[{"speaker":"Cy","dia_id":"D1:1","text":"Hi!"},{"speaker":"Di","dia_id":"D1:2","text":"I row."}]}}]`

const publishedFacts = `{"sample_id":"one","session":"session_1","speaker":"Ana","fact":"Ana sings in a choir.","evidence":"D1:3"}
{"sample_id":"one","session":"session_1","speaker":"Bo","fact":"Bo is grateful.","evidence":["D1:4"]}
{"sample_id":"one","session":"session_1","speaker":"Ana","fact":"Ana's choir has a stage.","evidence":"D1:3; D1:5"}
{"sample_id":"two","session":"session_1","speaker":"Di","fact":"Di rows.","evidence":"D1:2"}
{"sample_id":"two","session":"session_1","speaker":"Di","fact":"Di flies.","evidence":"D9:9"}
`

// asked extracts a window of lines and returns what was answered, "text [numbers]".
func asked(t *testing.T, s *scriptedmodel.Server, context []string, lines ...string) []string {
	t.Helper()
	user := ""
	if len(context) > 0 {
		user = "<context>\n" + strings.Join(context, "\n") + "\n</context>\n"
	}
	user += "<messages>\n= Mon 2023-05-08\n"
	for i, l := range lines {
		user += strconv.Itoa(i+1) + " " + l + "\n"
	}
	var out []string
	for _, f := range facts(t, chat(t, s, extraction(user+"</messages>")).text()) {
		n, err := json.Marshal(f.S)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.F+" "+string(n))
	}
	return out
}

func TestPublishedFacts(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *scriptedmodel.Server {
		t.Helper()
		f, err := scriptedmodel.ReadFacts([]byte(publishedFacts), []byte(publishedTurns))
		if err != nil {
			t.Fatal(err)
		}
		return scriptedmodel.Start(t, &scriptedmodel.Script{Facts: f})
	}
	t.Run("each fact comes with the window of its last turn, once, and cites the turns that are there", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		for _, tc := range []struct {
			context, lines, want []string
		}{
			{nil, []string{"Ana: Hi!", "Bo: Thanks!"}, nil},
			{[]string{"Bo: Thanks!"}, []string{"Ana: I sing in a\n  choir.", "Bo: Thanks!"}, []string{"Ana sings in a choir. [1]", "Bo is grateful. [2]"}},
			{[]string{"Ana: I sing in a choir."}, []string{"Ana: Look. [image: a choir on a stage]"}, []string{"Ana's choir has a stage. [1]"}},
			{nil, []string{"Cy: Hi!", "Di: I row.", "Di: Never published."}, []string{"Di rows. [2]"}},
			{nil, []string{"Bo: Thanks!", "Ana: I sing in a choir.", "Bo: Thanks!"}, nil},
		} {
			if got := asked(t, s, tc.context, tc.lines...); !slices.Equal(got, tc.want) {
				t.Errorf("%v: got %v", tc.lines, got)
			}
		}
		if got := s.Stats().Facts; *got != (scriptedmodel.FactStats{Published: 5, Unplaced: 1, Asked: 4, Answered: 4}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a repeated window, or half of it, gets the same facts", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		whole := []string{"Bo: Thanks!", "Ana: I sing in a choir.", "Bo: Thanks!", "Ana: Look."}
		first := asked(t, s, nil, whole...)
		if want := []string{"Ana sings in a choir. [2]", "Bo is grateful. [3]", "Ana's choir has a stage. [2,4]"}; !slices.Equal(first, want) {
			t.Fatalf("got %v", first)
		}
		if again := asked(t, s, nil, whole...); !slices.Equal(again, first) {
			t.Errorf("got %v", again)
		}
		if half := asked(t, s, whole[:2], whole[2:]...); !slices.Equal(half, []string{"Bo is grateful. [1]", "Ana's choir has a stage. [2]"}) {
			t.Errorf("got %v", half)
		}
	})
	t.Run("an invalid input is rejected with its line", func(t *testing.T) {
		t.Parallel()
		for says, files := range map[string][2]string{"line 2": {`{"fact":"x"}` + "\nnonsense", `[]`}, "turns": {"", "{"}, "session 1": {"", `[{"conversation":{"session_1":7}}]`}} {
			if _, err := scriptedmodel.ReadFacts([]byte(files[0]), []byte(files[1])); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v", says, err)
			}
		}
	})
}

func TestPublishedFactsOfADataset(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("EUNOE_BENCH_DIR")
	if dir == "" {
		t.Skip("EUNOE_BENCH_DIR names no folder of datasets")
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skip(err)
		}
		return b
	}
	published, turns := read("locomo-dev-facts.jsonl"), read("locomo-dev.json")
	f, err := scriptedmodel.ReadFacts(published, turns)
	if err != nil {
		t.Fatal(err)
	}
	s := scriptedmodel.Start(t, &scriptedmodel.Script{Facts: f})
	var samples []struct {
		Conversation map[string]json.RawMessage
	}
	if err := json.Unmarshal(turns, &samples); err != nil {
		t.Fatal(err)
	}
	given := 0
	for _, sample := range samples[:1] {
		for n := 1; sample.Conversation["session_"+strconv.Itoa(n)] != nil; n++ {
			var session []struct {
				Speaker, Text string
			}
			if err := json.Unmarshal(sample.Conversation["session_"+strconv.Itoa(n)], &session); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, turn := range session {
				lines = append(lines, turn.Speaker+": "+strings.ReplaceAll(turn.Text, "\n", "\n  "))
			}
			for i := 0; i < len(lines); i += 6 {
				given += len(asked(t, s, lines[max(0, i-3):i], lines[i:min(i+6, len(lines))]...))
			}
		}
	}
	got := s.Stats().Facts
	want := strings.Count(string(published), `"conv-26"`)
	if got.Answered != given || got.Asked != got.Answered || given+got.Unplaced < want || got.Published != strings.Count(string(published), "\n") {
		t.Errorf("given %d of %d, %+v", given, want, got)
	}
}
