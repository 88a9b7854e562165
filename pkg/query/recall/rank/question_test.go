package rank_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"

	"github.com/eunoe-memory/eunoe/pkg/text/date"
)

func TestParseQuestion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text     string
		terms    []string
		speakers []string
		kind     rank.Kind
	}{
		{"When did Anna go to the museum?", []string{"go", "museum"}, []string{"Anna"}, rank.KindWhen},
		{"What did Ben's sister paint?", []string{"sister", "paint"}, []string{"Benjamin"}, rank.KindOther},
		{"Who is Anna?", []string{"anna"}, []string{"Anna"}, rank.KindWho},
		{"How many cats do Anna and Benjamin own?", []string{"cat"}, []string{"Anna", "Benjamin"}, rank.KindHowMany},
		{"How long has Anna danced?", []string{"long", "danc"}, []string{"Anna"}, rank.KindHowLong},
		{"In which city was it?", []string{"citi"}, nil, rank.KindWhere},
		{"Did Anna sleep?", []string{"sleep"}, []string{"Anna"}, rank.KindYesNo},
		{"Why?", nil, nil, rank.KindWhy},
		{"", nil, nil, rank.KindOther},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			q := ask(tc.text)
			var terms []string
			for _, term := range q.Terms {
				terms = append(terms, term.Stem)
			}
			if !reflect.DeepEqual(terms, tc.terms) {
				t.Errorf("terms %v, want %v", terms, tc.terms)
			}
			if !reflect.DeepEqual(q.Speakers, tc.speakers) || q.Kind != tc.kind {
				t.Errorf("speakers %v kind %d, want %v %d", q.Speakers, q.Kind, tc.speakers, tc.kind)
			}
		})
	}
}

func TestWhomNamesOfSeveralWordsMean(t *testing.T) {
	t.Parallel()
	speakers := []string{"Lena Lund", "Lena Ortiz", "Jo Lund", "Omar"}
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"Where does Lena Lund live?", []string{"Lena Lund"}},
		{"Where does Lena live?", []string{"Lena Lund", "Lena Ortiz"}},
		{"Did Lena Ortiz meet Lena Lund?", []string{"Lena Ortiz", "Lena Lund"}},
		{"Do Lena and Jo Lund know each other?", []string{"Lena Lund", "Lena Ortiz", "Jo Lund"}},
		{"Does Omar Lena's brother know?", []string{"Omar", "Lena Lund", "Lena Ortiz"}},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			if q := rank.ParseQuestion(tc.text, time.Time{}, speakers); !slices.Equal(q.Speakers, tc.want) {
				t.Errorf("speakers %q, want %q", q.Speakers, tc.want)
			}
		})
	}
}

func TestNamesThatAreOrdinaryWords(t *testing.T) {
	t.Parallel()
	speakers := []string{"Project Manager", "Industrial Designer", "Marketing", "Anna Berg", "sun fox", "健康", "王海", "健康助手"}
	for _, tc := range []struct {
		text, terms string
		want        []string
	}{
		{"What did the group say about the project budget?", "group say project budget", nil},
		{"What did the Industrial Designer say about the project?", "say project", []string{"Industrial Designer"}},
		{"What did the industrial designer say of the design?", "say design", []string{"Industrial Designer"}},
		{"Why was the marketing plan late?", "market plan late", []string{"Marketing"}},
		{"What did Marketing want?", "want", []string{"Marketing"}},
		{"Where does anna swim?", "swim", []string{"Anna Berg"}},
		{"What does fox grow?", "grow", []string{"sun fox"}},
		{"where does berg swim?", "swim", []string{"Anna Berg"}},
		{"健康目标", "健康 康目 目标", []string{"健康", "健康助手"}},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			q := rank.ParseQuestion(tc.text, time.Time{}, speakers)
			if !slices.Equal(q.Speakers, tc.want) {
				t.Errorf("speakers %q, want %q", q.Speakers, tc.want)
			}
			var terms []string
			for _, term := range q.Terms {
				terms = append(terms, term.Stem)
			}
			if got := strings.Join(terms, " "); got != tc.terms {
				t.Errorf("terms %q, want %q", got, tc.terms)
			}
		})
	}
}

func TestTheLastLineOfATalkIsTheQuestion(t *testing.T) {
	t.Parallel()
	q := rank.ParseQuestion("Anna: When did we go to Rome in March 2024?\nBen: In spring, I think.\nAnna: Which pets did I have in June 2025?\n\n",
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), []string{"Anna", "Ben"})
	if q.Kind != rank.KindOther || q.When.From.Year() != 2025 || !slices.Contains(q.Things, "cat") || slices.Contains(q.Things, "rome") {
		t.Errorf("kind %d, when %v, things %v", q.Kind, q.When, q.Things)
	}
	if !slices.ContainsFunc(q.Terms, func(t rank.Term) bool { return t.Stem == "rome" }) {
		t.Error("the lines before it are not looked up")
	}
}

func TestWordsOfOneCharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"我的猫吗？": "猫", "猫の名前は何ですか？": "名前 猫", "医院在哪里？": "医院", "我的车是什么时候修的？": "时候 候修 车",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var terms []string
			for _, term := range rank.ParseQuestion(text, time.Time{}, nil).Terms {
				terms = append(terms, term.Stem)
			}
			if got := strings.Join(terms, " "); got != want {
				t.Errorf("terms %q, want %q", got, want)
			}
		})
	}
}

func TestQuestionTimes(t *testing.T) {
	t.Parallel()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		text string
		want date.Range
	}{
		{"What did Anna play on 5 January 2024?", date.Range{From: at(2024, 1, 5), To: at(2024, 1, 6)}},
		{"What happened on August 3, 2023?", date.Range{From: at(2023, 8, 3), To: at(2023, 8, 4)}},
		{"Where was Anna on the 31st of December?", date.Range{From: at(2023, 12, 31), To: at(2024, 1, 1)}},
		{"What did Anna do in May 2022?", date.Range{From: at(2022, 5, 1), To: at(2022, 6, 1)}},
		{"What did Anna do in August?", date.Range{From: at(2023, 8, 1), To: at(2023, 9, 1)}},
		{"What may Anna do?", date.Range{}},
		{"What happened in 2022?", date.Range{From: at(2022, 1, 1), To: at(2023, 1, 1)}},
		{"What did Anna cook yesterday?", date.Range{From: at(2024, 1, 9), To: at(2024, 1, 10)}},
		{"Where was Anna last week?", date.Range{From: at(2024, 1, 1), To: at(2024, 1, 8)}},
		{"Where was Anna last month?", date.Range{From: at(2023, 12, 1), To: at(2024, 1, 1)}},
		{"What did Anna do in summer 2023?", date.Range{From: at(2023, 6, 1), To: at(2023, 9, 1)}},
		{"Where did Anna fall?", date.Range{}},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			if got := ask(tc.text).When; got != tc.want {
				t.Errorf("range %v, want %v", got, tc.want)
			}
		})
	}
}

func TestFormsAndPrefixOfATerm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Where did Anna buy the \"tea* OR NEAR(x)\"?": {"buy bought|", "tea|", "near|", "x|"},
		"mentorship?": {"mentorship|mentor"},
		"東京都?":        {"東京|", "京都|"},
		"?!":          nil,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, term := range ask(text).Terms {
				got = append(got, strings.Join(term.Forms(), " ")+"|"+term.Prefix())
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestQuestionsInChinese(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)
	q := rank.ParseQuestion("我在2024年3月去看的牙医是谁？", now, nil)
	var terms []string
	for _, term := range q.Terms {
		terms = append(terms, term.Stem)
	}
	for _, without := range []string{"我在", "看的", "的牙", "医是", "是谁"} {
		if slices.Contains(terms, without) {
			t.Errorf("%q is among the terms %q", without, terms)
		}
	}
	if !slices.Contains(terms, "牙医") || !slices.Contains(terms, "去看") {
		t.Errorf("the terms are %q", terms)
	}
	if from := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC); !q.When.From.Equal(from) || !q.When.To.Equal(from.AddDate(0, 1, 0)) {
		t.Errorf("the time is %v", q.When)
	}
	if q := rank.ParseQuestion("我是谁？", now, nil); len(q.Terms) == 0 {
		t.Error("a question of particles alone has no terms")
	}
}
