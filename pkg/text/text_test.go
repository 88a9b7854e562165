package text_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	t.Run("words keep offsets, lose case and the possessive", func(t *testing.T) {
		t.Parallel()
		s := "We met Alice’s 2 dogs, didn't we?"
		got := text.Terms(s)
		want := []string{"we", "met", "alice", "2", "dogs", "didn't", "we"}
		if len(got) != len(want) {
			t.Fatalf("got %+v", got)
		}
		for i, w := range want {
			if got[i].Text != w {
				t.Errorf("term %d is %q, want %q", i, got[i].Text, w)
			}
		}
		if s[got[2].Start:got[2].End] != "Alice’s" || !got[2].Name || !got[3].Number || got[4].Stem != "dog" || !got[5].Stop {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("CJK comes as single characters", func(t *testing.T) {
		t.Parallel()
		got := text.Terms("我爱Go語言")
		if len(got) != 5 || got[0].Text != "我" || got[2].Text != "go" || got[4].Text != "言" {
			t.Fatalf("got %+v", got)
		}
	})
	t.Run("numbers hold together", func(t *testing.T) {
		t.Parallel()
		got := text.Terms("1,000.50 at 10:30, five.")
		if len(got) != 4 || got[0].Text != "1,000.50" || got[2].Text != "10:30" || !got[3].Number || got[1].Number {
			t.Fatalf("got %+v", got)
		}
	})
	t.Run("a shouted sentence holds no names", func(t *testing.T) {
		t.Parallel()
		for _, term := range text.Terms("WOW THAT WAS REALLY FUN") {
			if term.Name {
				t.Errorf("%q is a name", term.Text)
			}
		}
	})
}

func TestContentStems(t *testing.T) {
	t.Parallel()
	got := text.ContentStems("Alice's running café: she runs it, and they don't run alone in Paris")
	want := []string{"alic", "run", "cafe", "alon", "pari"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := text.ContentStems("I am what I am, dont you?"); got != nil {
		t.Errorf("stop words gave %q", got)
	}
}

func TestGrams(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":             "",
		"plain café 😊": "",
		"我":            "我",
		"我喜欢":          "我 喜 我喜 欢 喜欢",
		"猫 and 犬":      "猫 犬",
		"東京タワー":        "東 京 東京 タ 京タ ワ タワ ー ワー",
	} {
		if got := text.Grams(s); got != want {
			t.Errorf("Grams(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"  \n ", nil},
		{"no end mark", []string{"no end mark"}},
		{"I met Dr. Chen. She is nice!", []string{"I met Dr. Chen.", "She is nice!"}},
		{"wow! that's great. i love it", []string{"wow!", "that's great.", "i love it"}},
		{"It costs 3.5 dollars... maybe more. Ok?", []string{"It costs 3.5 dollars... maybe more.", "Ok?"}},
		{"Use e.g. tea, i.e. leaves.", []string{"Use e.g. tea, i.e. leaves."}},
		{"J. Doe moved to the U.S. last year.", []string{"J. Doe moved to the U.S. last year."}},
		{"first line\nsecond line", []string{"first line", "second line"}},
		{"this is a long line of prose that somebody has wrapped at a margin\nand it goes on here", []string{"this is a long line of prose that somebody has wrapped at a margin\nand it goes on here"}},
		{"So fun 😊😊 I went home.", []string{"So fun 😊😊", "I went home."}},
		{"Great! 🎉 Bye", []string{"Great! 🎉", "Bye"}},
		{"😊", []string{"😊"}},
		{"我喜欢猫。你呢？好！", []string{"我喜欢猫。", "你呢？", "好！"}},
		{"He said \"stop.\" Then he left.", []string{"He said \"stop.\"", "Then he left."}},
		{"See http://x.org/a?b=c.d for v1.2.3 now", []string{"See http://x.org/a?b=c.d for v1.2.3 now"}},
		{"1. Open it\n2. Close it", []string{"1. Open it", "2. Close it"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := text.Sentences(c.text); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"I moved from New York to San Francisco in May.", []string{"New York", "San Francisco"}},
		{"Alice and Bob met Dr. Chen at the Bank of England.", []string{"Alice", "Bob", "Dr. Chen", "Bank of England"}},
		{"Zanele is here. Everything is fine. Zanele's dog too.", []string{"Zanele"}},
		{"The meeting on Monday was about Project Apollo", []string{"Project Apollo"}},
		{"Running helps. Yoga is good. I'm fine.", nil},
		{"I got the new iPhone 15 and use GitHub", []string{"iPhone 15", "GitHub"}},
		{"we joined an LGBTQ group of NASA", []string{"LGBTQ", "NASA"}},
		{"Lisbon, then Porto.", []string{"Lisbon", "Porto"}},
		{"all lower case here", nil},
		{"Thanks Caroline! Hey Mel", []string{"Caroline", "Mel"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := text.Names(c.text); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"I have two cats and 1,000 fish": {"2", "1000"},
		"the 5th and the fifth":          {"5", "5"},
		"twenty-five, thirty":            {"25", "30"},
		"one of us":                      nil,
		"at 10:30 for 3.5 hours, 10km":   {"10:30", "3.5", "10km"},
	} {
		if got := text.Numbers(s); !reflect.DeepEqual(got, want) {
			t.Errorf("Numbers(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestNegated(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"I don't like tea": true, "I dont like tea": true, "I like tea": false, "She no longer works there": true,
		"No, I like tea": false, "He never went": true, "It's nice, isn't it?": false, "not only tea but coffee": false,
		"There is no tea": true, "I can’t eat nuts": true, "Notes on knots": false,
	} {
		if got := text.Negated(s); got != want {
			t.Errorf("Negated(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	if n := text.CountTokens(""); n != 0 {
		t.Errorf("empty text has %d tokens", n)
	}
	if n := text.CountTokens("hello world"); n != 2 {
		t.Errorf("hello world has %d tokens", n)
	}
	if n := text.CountTokens(strings.Repeat("word ", 10000)); n < 9990 || n > 10030 {
		t.Errorf("ten thousand words have %d tokens", n)
	}
	if n := text.CountTokens("bad \xff\xfe text"); n == 0 {
		t.Error("invalid UTF-8 counts nothing")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Hello, world. It's 3.5!", "我喜欢猫。OK", "Dr. J. Doe's \xff\xfe twenty-five", "a\u0301b’s 👩‍👩‍👧 \n\n 1,,2..3", "'s ’s -'s 1's",
		strings.Repeat("\x80", 9000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		end := 0
		for _, term := range text.Terms(content) {
			if term.Text == "" || term.Start < end || term.End <= term.Start || term.End > len(content) {
				t.Fatalf("term %+v of %q", term, content)
			}
			end = term.End
		}
		for _, s := range text.Sentences(content) {
			if strings.TrimSpace(s) == "" {
				t.Fatalf("empty sentence of %q", content)
			}
			if utf8.ValidString(content) && !utf8.ValidString(s) {
				t.Fatalf("sentence %q cuts a rune", s)
			}
		}
		words := strings.Join(strings.Fields(content), "")
		if got := strings.Join(strings.Fields(strings.Join(text.Sentences(content), " ")), ""); got != words {
			t.Fatalf("sentences hold %q, the text %q", got, words)
		}
		for _, n := range text.Names(content) {
			if n == "" || !strings.Contains(content, n) {
				t.Fatalf("name %q of %q", n, content)
			}
		}
		text.ContentStems(content)
		text.Numbers(content)
		text.Negated(content)
		text.Grams(content)
		if text.CountTokens(content) < 0 {
			t.Fatal("negative count")
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := "Caroline attended an LGBTQ support group on 7 May 2023 with her friend Melanie and found the stories inspiring. It was fun!"
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"terms", func() { text.Terms(s) }},
		{"content stems", func() { text.ContentStems(s) }},
		{"sentences", func() { text.Sentences(s) }},
		{"names", func() { text.Names(s) }},
		{"tokens", func() { text.CountTokens(s) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

func TestFunctionGrams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gram     string
		language text.Language
		empty    bool
	}{{"什么", "zh", true}, {"我的", "zh", true}, {"的猫", "zh", true}, {"牙医", "zh", false}, {"目的", "ja", false}, {"です", "ja", true},
		{"は", "ja", true}, {"食べ", "ja", false}, {"고양", "ko", false}} {
		if got := text.IsFunctionGram(c.gram, c.language); got != c.empty {
			t.Errorf("IsFunctionGram(%q, %q) is %v", c.gram, c.language, got)
		}
	}
}
