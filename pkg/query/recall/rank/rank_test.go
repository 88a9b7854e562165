package rank_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

var day = time.Date(2024, 1, 10, 12, 0, 0, 0, time.UTC)

func ask(text string) rank.Question {
	return rank.ParseQuestion(text, day, []string{"Anna", "Benjamin"})
}

// talk returns the messages of one session, given as "Speaker: text".
func talk(lines ...string) []rank.Candidate {
	c := make([]rank.Candidate, len(lines))
	nb := make([]*rank.Neighbour, len(lines))
	for i, l := range lines {
		who, text, _ := strings.Cut(l, ": ")
		c[i] = rank.Candidate{ID: fmt.Sprint("m", i), Seq: uint64(i), Session: "s", Pos: i, Speaker: who, Text: text,
			Time: day.Add(time.Duration(i) * time.Second)}
		nb[i] = &rank.Neighbour{Speaker: who, Text: text}
	}
	for i := range c {
		if i > 0 {
			c[i].Prev = nb[i-1]
		}
		if i > 1 {
			c[i].Prev2 = nb[i-2]
		}
		if i+1 < len(c) {
			c[i].Next = nb[i+1]
		}
	}
	return c
}

func order(q rank.Question, c []rank.Candidate) []string {
	var ids []string
	for _, s := range rank.Rank(q, c, rank.Stats{N: 100}, rank.DefaultWeights()) {
		ids = append(ids, s.ID)
	}
	return ids
}

func part(t *testing.T, q rank.Question, c []rank.Candidate, id, signal string) float64 {
	t.Helper()
	w := rank.DefaultWeights()
	at := slices.IndexFunc(w.Signals, func(s rank.Signal) bool { return s.Name == signal })
	if at < 0 {
		t.Fatalf("no signal %s", signal)
	}
	for _, s := range rank.Rank(q, c, rank.Stats{N: 100}, w) {
		if s.ID == id {
			return s.Parts[at]
		}
	}
	t.Fatalf("no candidate %s", id)
	return 0
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		question string
		lines    []string
		signal   string
		has, not string // the signal is not 0 for the first and 0 for the second
	}{
		{"the one named is believed about themselves", "What sport does Anna play?",
			[]string{"Anna: I play tennis", "Benjamin: I play golf"}, "told", "m0", "m1"},
		{"words of the one named count more", "What sport does Anna play?",
			[]string{"Anna: tennis is a sport", "Benjamin: golf is a sport"}, "speaker", "m0", "m1"},
		{"two named are no help", "What sport do Anna and Benjamin play?",
			[]string{"Anna: tennis is a sport"}, "speaker", "", "m0"},
		{"a reply to a question like it", "Which instrument does Benjamin practise?",
			[]string{"Anna: Which instrument do you practise?", "Benjamin: The cello!"}, "answer", "m1", "m0"},
		{"a question one asks oneself is no such question", "Which instrument does Benjamin practise?",
			[]string{"Benjamin: Which instrument?", "Benjamin: The cello!"}, "answer", "", "m1"},
		{"a question seldom answers", "What does Anna cook?",
			[]string{"Benjamin: What do you cook?", "Anna: I cook soup"}, "asks", "m0", "m1"},
		{"when wants a word of time", "When did Anna go hiking?",
			[]string{"Anna: I went hiking yesterday", "Anna: I like hiking"}, "says when", "m0", "m1"},
		{"where wants a place", "Where did Anna go hiking?",
			[]string{"Anna: went hiking in Norway", "Anna: went hiking"}, "things", "m0", "m1"},
		{"a class is met by its things", "Which pets does Anna have?",
			[]string{"Anna: the cat is asleep", "Anna: the soup is hot"}, "things", "m0", "m1"},
		{"a thing that is asked for is none that was told of", "Which pets does Anna have?",
			[]string{"Anna: my cat sleeps.", "Benjamin: Do you have a cat or a dog?"}, "things", "m0", "m1"},
		{"a question without a class looks for no things", "Who is Anna?",
			[]string{"Anna: my cat sleeps"}, "things", "", "m0"},
		{"what one did", "What did Anna do?",
			[]string{"Anna: I just adopted a kitten", "Anna: I like kittens"}, "deeds", "m0", "m1"},
		{"what another did", "What did Anna do?",
			[]string{"Anna: we went sailing", "Benjamin: we went sailing"}, "deeds", "m0", "m1"},
		{"what is asked was not told", "What did Anna do?",
			[]string{"Anna: hm. I went sailing!", "Anna: have I told you that we went sailing?"}, "deeds", "m0", "m1"},
		{"a number said twice", "Who saw the 3-3?",
			[]string{"Anna: it ended 3-3 then", "Anna: 3 of us saw it"}, "pair", "m0", "m1"},
		{"a pair that stands together", "Who runs the support group?",
			[]string{"Anna: our support group is led by Mia", "Anna: I support any kind of group"}, "pair", "m0", "m1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q, c := ask(tc.question), talk(tc.lines...)
			if tc.has != "" && part(t, q, c, tc.has, tc.signal) == 0 {
				t.Errorf("%s is 0 for %s", tc.signal, tc.has)
			}
			if got := part(t, q, c, tc.not, tc.signal); got != 0 {
				t.Errorf("%s is %v for %s, want 0", tc.signal, got, tc.not)
			}
		})
	}
}

func TestTheSpeakerIsABoostAndNoFilter(t *testing.T) {
	t.Parallel()
	c := talk("Anna: nothing new here", "Benjamin: she adopted a grey kitten called Momo", "Anna: oh well")
	if got := order(ask("What is the name of the kitten Anna adopted?"), c); got[0] != "m1" {
		t.Errorf("order %v, want m1 first: what another says of her counts too", got)
	}
}

func TestInTime(t *testing.T) {
	t.Parallel()
	c := talk("Anna: we went sailing", "Anna: we went sailing")
	c[0].Time = time.Date(2023, 5, 20, 0, 0, 0, 0, time.UTC)
	if got := order(ask("What did Anna do in May 2023?"), c); got[0] != "m0" {
		t.Errorf("order %v, want the message of that month first", got)
	}
}

func TestFamiliesAndIrregularFormsMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ question, text string }{
		{"What did Anna buy?", "bought a bike"}, {"Who gave Anna mentorship?", "got mentored by Lee"},
		{"What allergies does Anna have?", "allergic to cats"}, {"Is Anna a dancer?", "we danced"},
		{"Café?", "the CAFE is open"}, {"東京はどう?", "昨日、東京へ"},
	} {
		t.Run(tc.question, func(t *testing.T) {
			t.Parallel()
			if part(t, ask(tc.question), talk("Anna: "+tc.text), "m0", "cover own") == 0 {
				t.Errorf("%q does not match %q", tc.question, tc.text)
			}
		})
	}
}

func TestRankIsDeterministicAndBreaksTiesBySeq(t *testing.T) {
	t.Parallel()
	var c []rank.Candidate
	for i := range 50 {
		c = append(c, rank.Candidate{ID: fmt.Sprint(i), Seq: uint64(100 - i), Session: fmt.Sprint(i), Text: "tea time"})
	}
	q := ask("tea?")
	first := rank.Rank(q, c, rank.Stats{}, rank.DefaultWeights())
	if first[0].ID != "49" {
		t.Errorf("first is %s, want the lowest Seq of equals", first[0].ID)
	}
	shuffled := slices.Clone(c)
	slices.Reverse(shuffled)
	second := rank.Rank(q, shuffled, rank.Stats{}, rank.DefaultWeights())
	for i := range first {
		if first[i].ID != second[i].ID || first[i].Score != second[i].Score {
			t.Fatalf("place %d: %v and %v: the order of the input matters", i, first[i], second[i])
		}
	}
}

func TestOddInputIsRankedAndNeverPanics(t *testing.T) {
	t.Parallel()
	odd := []string{"", "   ", "?!…", "\x00", "a\x00b", "\xff\xfe", "🙂🙂", "東", "東京都", "ไทย", "don't", strings.Repeat("x", 100_000),
		strings.Repeat("word ", 20_000), strings.Repeat("京", 30_000), "Anna", "when", "\"'()*:^", "NEAR(a b)", "İ", "ǅ"}
	for _, qt := range odd {
		q := ask(qt)
		for _, term := range q.Terms {
			_, _ = term.Forms(), term.Prefix()
		}
		var c []rank.Candidate
		for i, text := range odd {
			c = append(c, rank.Candidate{ID: fmt.Sprint(i), Text: text, Caption: text, Prev: &rank.Neighbour{Text: text}})
		}
		got := rank.Rank(q, c, rank.Stats{N: -1, DF: func(string) int { return 1 << 40 }}, rank.DefaultWeights())
		if len(got) != len(c) {
			t.Errorf("%.20q: %d of %d candidates came back", qt, len(got), len(c))
		}
		for _, s := range got {
			if s.Score != s.Score {
				t.Errorf("%.20q: the score of %s is not a number", qt, s.ID)
			}
		}
	}
	if got := rank.Rank(ask("tea"), nil, rank.Stats{}, rank.Weights{}); len(got) != 0 {
		t.Errorf("no candidates gave %v", got)
	}
}

func TestScoreIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	for _, s := range rank.Rank(ask("When did Anna buy tea?"), talk("Anna: I bought tea today", "Anna: ok"), rank.Stats{N: 9}, rank.DefaultWeights()) {
		sum := 0.0
		for _, p := range s.Parts {
			sum += p
		}
		if !reflect.DeepEqual(sum, s.Score) {
			t.Errorf("%s: parts add up to %v, score %v", s.ID, sum, s.Score)
		}
	}
}

func TestWhatAnAgentWasToldAroundAMessageCountsLessWithPlacesAndTime(t *testing.T) {
	t.Parallel()
	q := ask("Which tea did the grocer recommend?")
	lines := []string{"Anna: the grocer had tea", "Bot: noted", "Anna: fine", "Bot: ok", "Anna: bye", "Bot: ok", "Anna: bye", "Bot: ok", "Anna: bye", "Bot: ok"}
	agent := func(later time.Duration) []rank.Candidate {
		c := talk(lines...)
		for i := range c {
			if c[i].Machine = c[i].Speaker == "Bot"; i > 0 {
				c[i].Time = c[i].Time.Add(later)
				c[i].Prev.Machine = !c[i].Machine
			}
		}
		return c
	}
	around := func(later time.Duration, id string) float64 { return part(t, q, agent(later), id, "around") }
	near, far, hours, beyond, own := around(0, "m1"), around(0, "m7"), around(5*time.Hour, "m1"), around(0, "m9"), around(0, "m0")
	if near <= far || far <= 0 || near <= hours || beyond != 0 || own != 0 {
		t.Errorf("next to it %v, seven places away %v, hours later %v; nine places away %v, the message itself %v", near, far, hours, beyond, own)
	}
	if got := part(t, q, talk(lines...), "m1", "around"); got != 0 {
		t.Errorf("in a talk among people it counts %v", got)
	}
}

// What an agent asks back has the words of a later question and answers none.
func TestAnAgentsQuestionAnswersNothing(t *testing.T) {
	t.Parallel()
	c := talk("Bot: Which tyres does the tandem need, do you know?", "Benjamin: The tandem needs tyres of 40 millimetres, wide ones.")
	c[0].Machine, c[1].Prev.Machine = true, true
	q := ask("Which tyres does the tandem need?")
	if got := order(q, c); got[0] != "m1" {
		t.Errorf("%v come in this order; expected what Benjamin said first", got)
	}
	if got := part(t, q, c, "m1", "agent asks"); got != 0 {
		t.Errorf("a person is charged %v for a statement", got)
	}
	if got := part(t, q, c, "m0", "agent asks"); got >= 0 {
		t.Errorf("an agent is charged %v for a question", got)
	}
}
