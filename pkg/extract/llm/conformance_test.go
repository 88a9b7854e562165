package llm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	conformWork(t)
	t.Run("malformed output has a defined outcome each, and no fact leaves its window", func(t *testing.T) {
		t.Parallel()
		checkAnswers(t, "fenced", "a bare list", "prose around", "no source", "a source as a string", "a source outside the window", "nothing to tell", "duplicates")
	})
	t.Run("every kind of malformed answer has a defined outcome", func(t *testing.T) {
		t.Parallel()
		checkAnswers(t, slices.Sorted(maps.Keys(malformed))...)
	})
	t.Run("one invalid enum or item costs that item, not the batch", func(t *testing.T) {
		t.Parallel()
		checkAnswers(t, "items of other types", "an item that is no JSON")
		got, err := llm.Parse(`{"facts":[{"s":[1],"f":"A.","y":"No Such-Type!","k":"rumour","c":7,"d":"whenever","e":[3,"",{"x":1}],"o":["x","won"],"v":["a"],"r":[["a"]],"g":{"a":1},"p":["x"]}]}`, talk("Ana: x"))
		if err != nil || got.Usable != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		d := got.Drafts[0]
		want := extract.Draft{Text: "A.", Kind: memory.KindWorld, Type: memory.TypeFact, Confidence: 1, Sources: []memory.MessageID{"m1"}, Entities: []memory.EntityID{"other:3"}}
		if !reflect.DeepEqual(d, want) {
			t.Errorf("got  %+v\nwant %+v", d, want)
		}
	})
	t.Run("tags of an answer are lower case, unique and bounded", func(t *testing.T) {
		t.Parallel()
		in := input("Ana: x")
		got, err := llm.Parse(`{"facts":[{"s":[1],"f":"A.","g":["Work","work "," TRAVEL",""]},{"s":[1],"f":"B.","g":"Tea, tea,Cake"}]}`, in.New)
		if err != nil {
			t.Fatal(err)
		}
		facts, _ := extract.Validate(in, "x/1", got.Drafts, plain{})
		if len(facts) != 2 || !slices.Equal(facts[0].Tags, []string{"travel", "work"}) || !slices.Equal(facts[1].Tags, []string{"cake", "tea"}) {
			t.Errorf("got %+v", facts)
		}
	})
	t.Run("topic boundaries are deterministic and at most one turn off", func(t *testing.T) {
		t.Parallel()
		for at := 3; at <= 9; at++ {
			for _, cross := range []float64{0, 0.1, 0.3, 0.42} {
				v := twoTopics(12, at, cross)
				got := llm.TopicBoundaries(v)
				if len(got) != 1 || got[0] < at-1 || got[0] > at+1 {
					t.Errorf("topics of cosine %v that turn at %d: turns %v", cross, at, got)
				}
				for range 20 {
					if !slices.Equal(llm.TopicBoundaries(v), got) {
						t.Fatal("the turns differ from run to run")
					}
				}
			}
			if got := llm.TopicBoundaries(twoTopics(12, at, 0.7)); len(got) != 0 {
				t.Errorf("topics of cosine .7 turn at %v", got)
			}
		}
		for _, few := range [][]memory.Vector{nil, {{1, 0}}, {{1, 0}, {1, 0}}, {{1, 0}, {1, 0, 0}}} {
			if got := llm.TopicBoundaries(few); len(few) < 2 && len(got) != 0 {
				t.Errorf("%d messages turn at %v", len(few), got)
			}
		}
	})
	t.Run("a batch holds at most the threshold and one segment, and greater thresholds make fewer calls", func(t *testing.T) {
		t.Parallel()
		var words []string
		var vectors []memory.Vector
		for topic := range 12 {
			for range 3 + topic%3 {
				words = append(words, "Ana: "+strings.Repeat("word ", 15+5*(topic%4)))
				v := make(memory.Vector, 12)
				v[topic] = 1
				vectors = append(vectors, v)
			}
		}
		before := math.MaxInt
		for _, th := range []int{256, 512, 768, 1024} {
			m := saying(`{"facts":[]}`)
			x := extractor(t, m, func(c *llm.Config, d *llm.Deps) { c.Batch, d.Embedder = th, &fixed{vectors: vectors} })
			if _, err := x.Extract(t.Context(), input(words...)); err != nil {
				t.Fatal(err)
			}
			asked := m.prompts()
			seen := 0
			for _, p := range asked {
				lines := shown(p)
				seen += len(lines)
				tokens := 0
				for _, l := range lines {
					tokens += text.CountTokens(l)
				}
				if tokens >= th+5*45 {
					t.Errorf("a batch of %d tokens at a threshold of %d", tokens, th)
				}
			}
			if seen != len(words) || len(asked) > before || len(asked) < 2 && th == 256 {
				t.Errorf("threshold %d: %d calls (before %d) with %d of %d messages", th, len(asked), before, seen, len(words))
			}
			before = len(asked)
		}
	})
	t.Run("compression keeps its rate, never empties a message and leaves the raw text", func(t *testing.T) {
		t.Parallel()
		texts := []string{"Well, I really think that we should, um, meet Petra in Ghent on 7 May, and I do not like the rain.", "ok", "😀😀😀😀😀", "\xff\xfe",
			strings.Repeat("a", 3000), strings.Repeat("我住在里斯本。", 50), "a\nb\tc  d", "Antidisestablishmentarianism"}
		for _, rate := range []float64{0.05, 0.3, 0.5, 0.9} {
			for _, s := range texts {
				n := text.CountTokens(s)
				got := llm.Compress(s, rate)
				if k := text.CountTokens(got); k > int(math.Ceil(rate*float64(n))) || strings.TrimSpace(got) == "" {
					t.Errorf("rate %v keeps %d of %d tokens: %.40q", rate, k, n, got)
				}
			}
		}
		if got := llm.Compress(texts[0], 0.6); !strings.Contains(got, "Petra") || !strings.Contains(got, "7") || !strings.Contains(got, "not") || strings.Contains(got, "um,") {
			t.Errorf("names, numbers and negations go last: %q", got)
		}
		m := saying(`{"facts":[]}`)
		in := input("Ana: "+texts[3], "Bo: "+texts[0], "Ana: "+texts[4])
		if _, err := extractor(t, m, func(c *llm.Config, _ *llm.Deps) { c.Rate = 0.5 }).Extract(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := shown(m.prompts()[0]); len(got) != 3 || !strings.HasPrefix(got[1], "2 Bo: ") || strings.Contains(got[1], "really") || in.New[1].Content != texts[0] {
			t.Errorf("shown %q of %q", got, in.New[1].Content)
		}
	})
	t.Run("splitting long text loses nothing", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"", "short", strings.Repeat("word ", 400), strings.Repeat("x", 5000), strings.Repeat("e\u0301", 700), strings.Repeat("👩‍👩‍👧", 300), strings.Repeat("\xff", 900) + "é"} {
			for _, size := range []int{1, 2, 7, 100, 1000} {
				for _, overlap := range []int{0, 1, 30, size} {
					checkSplit(t, text, size, overlap)
				}
			}
		}
		huge := "Ana: " + strings.Repeat("abcdefghij", 2000) + " The end is near."
		m := &scripted{answer: func(_ int, p memory.Prompt) (memory.Completion, error) {
			if len(p.User) > 3000 {
				return memory.Completion{}, fmt.Errorf("prompt: %w", memory.ErrTooLarge)
			}
			return memory.Completion{Text: `{"facts":[{"s":[1],"f":"Ana wrote a lot."}]}`}, nil
		}}
		in := input(huge)
		drafts, err := extractor(t, m, nil).Extract(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if facts, refused := extract.Validate(in, "x/1", drafts, plain{}); len(facts) != 1 || len(refused) != 0 {
			t.Errorf("facts %+v, refused %+v", facts, refused)
		}
		down := &scripted{answer: func(int, memory.Prompt) (memory.Completion, error) { return memory.Completion{}, memory.ErrTooLarge }}
		in = input("Ana: " + strings.Repeat("word ", 250) + "end")
		drafts, err = extractor(t, down, nil).Extract(t.Context(), in)
		if err != nil || len(drafts) < 2 {
			t.Fatalf("%d drafts, %v", len(drafts), err)
		}
		words := 0
		for _, d := range drafts {
			words += strings.Count(d.Text, "word")
		}
		if words < 250 || !strings.HasSuffix(drafts[len(drafts)-1].Text, "end") {
			t.Errorf("what the model takes in no size is kept as it was said: %d words", words)
		}
	})
	t.Run("every message of a window is extracted, whatever closes it", func(t *testing.T) {
		t.Parallel()
		for _, novelty := range []bool{false, true} {
			m := &scripted{answer: func(_ int, p memory.Prompt) (memory.Completion, error) {
				var items []string
				for i := range shown(p) {
					items = append(items, fmt.Sprintf(`{"s":[%d],"f":"Statement %d."}`, i+1, i+1))
				}
				return memory.Completion{Text: `{"facts":[` + strings.Join(items, ",") + `]}`}, nil
			}}
			in := input("Ana: I moved to Porto.", "Bo: I broke my arm.", "Ana: Oh no!", "Bo: Thanks, bye!")
			drafts, err := extractor(t, m, func(c *llm.Config, _ *llm.Deps) { c.Novelty = novelty }).Extract(t.Context(), in)
			if err != nil || len(drafts) != 4 || drafts[0].Sources[0] != "m1" || drafts[3].Sources[0] != "m4" {
				t.Errorf("novelty %v: %+v, %v", novelty, drafts, err)
			}
		}
	})
}

func checkSplit(t *testing.T, text string, size, overlap int) {
	t.Helper()
	pieces := llm.Split(text, size, overlap)
	if (len(pieces) == 0) != (text == "") {
		t.Fatalf("%d pieces of %d bytes", len(pieces), len(text))
	}
	overlap = max(0, min(overlap, size-1))
	for i, p := range pieces {
		n := utf8.RuneCountInString(text[p.From:p.To])
		if n > size || n == 0 || utf8.ValidString(text) && !utf8.ValidString(text[p.From:p.To]) {
			t.Fatalf("size %d, overlap %d: piece %d has %d characters", size, overlap, i, n)
		}
		if i > 0 && utf8.RuneCountInString(text[p.From:pieces[i-1].To]) != overlap {
			t.Fatalf("size %d, overlap %d: pieces %d and %d share %q", size, overlap, i-1, i, text[p.From:pieces[i-1].To])
		}
	}
	if n := len(pieces); n > 0 && (pieces[0].From != 0 || pieces[n-1].To != len(text)) {
		t.Fatalf("size %d: the pieces reach from %d to %d of %d", size, pieces[0].From, pieces[n-1].To, len(text))
	}
}

// twoTopics returns vectors of messages whose topic turns at a place; messages of one
// topic have a cosine near 1, of both cross.
func twoTopics(n, at int, cross float64) []memory.Vector {
	var out []memory.Vector
	for i := range n {
		v := memory.Vector{1, 0, 0}
		if i >= at {
			v = memory.Vector{float32(cross), float32(math.Sqrt(1 - cross*cross)), 0}
		}
		v[2] = float32(i%3) * 0.1
		out = append(out, v.Unit())
	}
	return out
}

// fixed is an embedder that returns the vectors it holds.
type fixed struct {
	memory.Embedder
	vectors []memory.Vector
	err     error
}

func (f *fixed) Embed(_ context.Context, texts []string) ([]memory.Vector, error) {
	if f.err == nil && len(texts) != len(f.vectors) {
		return nil, errors.New("other texts")
	}
	return f.vectors, f.err
}
