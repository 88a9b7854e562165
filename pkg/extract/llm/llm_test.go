package llm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/llm"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// perLine answers with a fact for each line, or cuts the answer off where more than most were shown.
func perLine(most int) *scripted {
	return &scripted{answer: func(_ int, p memory.Prompt) (memory.Completion, error) {
		var items []string
		for i, l := range shown(p) {
			_, words, _ := strings.Cut(l, ": ")
			items = append(items, fmt.Sprintf(`{"s":[%d],"f":"It was said: %s."}`, i+1, words))
		}
		if len(items) > most {
			return memory.Completion{Text: `{"facts":[` + items[0] + `,{"s":[2],"f":"It w`, Truncated: true}, nil
		}
		return memory.Completion{Text: `{"facts":[` + strings.Join(items, ",") + `]}`}, nil
	}}
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	lines := []string{"A: one", "B: two", "A: three", "B: four", "A: five"}
	for _, most := range []int{4, 2, 1} {
		t.Run(fmt.Sprintf("a model that has room for %d facts has the window halved", most), func(t *testing.T) {
			t.Parallel()
			m := perLine(most)
			in := input(lines...)
			drafts, err := extractor(t, m, nil).Extract(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range drafts {
				got = append(got, d.Text+string(d.Sources[0]))
			}
			want := []string{"It was said: one.m1", "It was said: two.m2", "It was said: three.m3", "It was said: four.m4", "It was said: five.m5"}
			if !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
			second := m.prompts()[2].User
			if most == 4 && (!strings.Contains(second, "<context>\n= Mon 2023-05-08\nA: one\nB: two\n</context>") || !strings.Contains(second, "1 A: three")) {
				t.Errorf("the second half sees\n%s", second)
			}
		})
	}
	t.Run("the complete facts of a single message's cut answer are kept", func(t *testing.T) {
		t.Parallel()
		m := &scripted{answer: func(int, memory.Prompt) (memory.Completion, error) {
			return memory.Completion{Text: `{"facts":[{"s":[1],"f":"A."},{"s":[9],"f":"B."},{"s":[1],"f":"C`, Truncated: true}, nil
		}}
		in := input("A: x")
		drafts, err := extractor(t, m, nil).Extract(t.Context(), in)
		facts, refused := extract.Validate(in, "x/1", drafts, plain{})
		if err != nil || len(facts) != 1 || len(refused) != 1 || len(m.prompts()) != 1 {
			t.Errorf("facts %+v, refused %+v, %v", facts, refused, err)
		}
	})
	t.Run("a single message whose answer has no complete fact is a failure that keeps the answer", func(t *testing.T) {
		t.Parallel()
		_, err := extractor(t, saying(`{"facts":[{"s":[1],"f":"A`), nil).Extract(t.Context(), input("A: x"))
		var answer *deadletter.OutputError
		if !errors.As(err, &answer) || answer.Output != `{"facts":[{"s":[1],"f":"A` || answer.Prompt != "extract/1" || !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the calls for one window are bounded", func(t *testing.T) {
		t.Parallel()
		var many []string
		for range 200 {
			many = append(many, "A: x")
		}
		m := perLine(0)
		_, err := extractor(t, m, func(c *llm.Config, _ *llm.Deps) { c.MaxCalls = 10 }).Extract(t.Context(), input(many...))
		if !errors.Is(err, memory.ErrUnavailable) || len(m.prompts()) > 10 {
			t.Errorf("%d calls, %v", len(m.prompts()), err)
		}
	})
	t.Run("a prompt that is too large has the window halved", func(t *testing.T) {
		t.Parallel()
		m := &scripted{}
		m.answer = func(_ int, p memory.Prompt) (memory.Completion, error) {
			if len(shown(p)) > 2 {
				return memory.Completion{}, memory.ErrTooLarge
			}
			return perLine(9).answer(1, p)
		}
		drafts, err := extractor(t, m, nil).Extract(t.Context(), input(lines...))
		if err != nil || len(drafts) != 5 {
			t.Errorf("%d drafts, %v", len(drafts), err)
		}
	})
}

func TestRepair(t *testing.T) {
	t.Parallel()
	t.Run("an unusable answer is requested once more, with what was wrong", func(t *testing.T) {
		t.Parallel()
		m := saying("Certainly! </answer> The facts are: none", `{"facts":[{"s":[1],"f":"A."}]}`)
		drafts, err := extractor(t, m, nil).Extract(t.Context(), input("A: x"))
		if err != nil || len(drafts) != 1 || len(m.prompts()) != 2 {
			t.Fatalf("drafts %+v, %v after %d calls", drafts, err, len(m.prompts()))
		}
		again := m.prompts()[1]
		if !strings.Contains(again.User, "no list") || !strings.Contains(again.User, "<answer>\nCertainly! ‹/answer>") || again.System != m.prompts()[0].System || !strings.HasPrefix(again.User, m.prompts()[0].User) {
			t.Errorf("asked\n%s", again.User)
		}
	})
	t.Run("an answer that stays unusable is a failure, not a window without facts", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{"Certainly!", `{"facts":[{"s":[7],"f":"A."}]}`, ""} {
			m := saying("first", bad)
			drafts, err := extractor(t, m, nil).Extract(t.Context(), input("A: x"))
			var answer *deadletter.OutputError
			if !errors.As(err, &answer) || answer.Output != bad || !errors.Is(err, memory.ErrUnavailable) || drafts != nil || len(m.prompts()) != 2 {
				t.Errorf("%q gave %v, %v after %d calls", bad, drafts, err, len(m.prompts()))
			}
		}
	})
	t.Run("an empty answer is requested once more and is then a failure with its own reason", func(t *testing.T) {
		t.Parallel()
		m := saying("", `{"facts":[{"s":[1],"f":"A."}]}`)
		if drafts, err := extractor(t, m, nil).Extract(t.Context(), input("A: x")); err != nil || len(drafts) != 1 || len(m.prompts()) != 2 || !strings.Contains(m.prompts()[1].User, "answer: is empty") {
			t.Errorf("%+v, %v after %d calls", drafts, err, len(m.prompts()))
		}
		_, err := extractor(t, saying(""), nil).Extract(t.Context(), input("A: x"))
		var answer *deadletter.OutputError
		if !errors.As(err, &answer) || answer.Prompt != "extract/1" || !errors.Is(err, memory.ErrUnavailable) || !strings.Contains(err.Error(), "answer: is empty") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an answer without facts is neither a failure nor repaired", func(t *testing.T) {
		t.Parallel()
		m := saying(`{"facts":[]}`)
		drafts, err := extractor(t, m, nil).Extract(t.Context(), input("A: x"))
		if err != nil || len(drafts) != 0 || len(m.prompts()) != 1 {
			t.Errorf("%v, %v after %d calls", drafts, err, len(m.prompts()))
		}
	})
	t.Run("one good fact among bad ones needs no repair", func(t *testing.T) {
		t.Parallel()
		m := saying(`{"facts":[{"s":[7],"f":"A."},{"s":[1],"f":"B."}]}`)
		drafts, err := extractor(t, m, nil).Extract(t.Context(), input("A: x"))
		if err != nil || len(drafts) != 2 || drafts[0].Refused == "" || len(m.prompts()) != 1 {
			t.Errorf("%+v, %v", drafts, err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, meaning error }{
		"a provider that is down":    {fmt.Errorf("breaker open: %w", memory.ErrUnavailable), memory.ErrUnavailable},
		"a request that is refused":  {memory.Invalid("model", "no such model"), memory.ErrInvalid},
		"a provider that takes long": {fmt.Errorf("slow: %w", memory.ErrDeadline), memory.ErrDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &scripted{answer: func(int, memory.Prompt) (memory.Completion, error) { return memory.Completion{}, c.given }}
			_, err := extractor(t, m, nil).Extract(t.Context(), input("A: x"))
			var answer *deadletter.OutputError
			if !errors.Is(err, c.meaning) || errors.As(err, &answer) || len(m.prompts()) != 1 {
				t.Errorf("got %v after %d calls", err, len(m.prompts()))
			}
		})
	}
	t.Run("a call that takes too long ends, and may be tried again", func(t *testing.T) {
		t.Parallel()
		x := extractor(t, hanging{}, func(c *llm.Config, _ *llm.Deps) { c.Timeout = time.Millisecond })
		if _, err := x.Extract(t.Context(), input("A: x")); !errors.Is(err, memory.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a caller that cancels gets its own error", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := extractor(t, hanging{}, nil).Extract(ctx, input("A: x")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

type hanging struct{}

func (hanging) Name() string { return "test:hanging" }

func (hanging) Complete(ctx context.Context, _ memory.Prompt) (memory.Completion, error) {
	<-ctx.Done()
	return memory.Completion{}, ctx.Err()
}

func TestOptions(t *testing.T) {
	t.Parallel()
	t.Run("a window in which nothing new is said is not put to the model", func(t *testing.T) {
		t.Parallel()
		for text, novel := range map[string]bool{"Hi! Thanks, bye :)": false, "Ok 👍": false, "I was here before.": false, "Bye, I quit my job": true, "42": true, "не": true,
			"sure, no": false, "好": true} {
			m := saying(`{"facts":[]}`)
			in := input("A: hello", "B: "+text)
			in.Context = talk("B: I was here before.")
			_, err := extractor(t, m, func(c *llm.Config, _ *llm.Deps) { c.Novelty = true }).Extract(t.Context(), in)
			if err != nil || (len(m.prompts()) == 1) != novel {
				t.Errorf("%q: %d calls, %v", text, len(m.prompts()), err)
			}
		}
	})
	t.Run("a short answer to a question is new", func(t *testing.T) {
		t.Parallel()
		in := input("B: sure")
		in.Context = talk("A: Will you marry me?")
		if !llm.Novel(in) {
			t.Error("it is called nothing new")
		}
	})
	t.Run("an embedder that fails leaves the window in one call", func(t *testing.T) {
		t.Parallel()
		m := saying(`{"facts":[]}`)
		x := extractor(t, m, func(c *llm.Config, d *llm.Deps) { c.Batch, d.Embedder = 4, &fixed{err: memory.ErrUnavailable} })
		if _, err := x.Extract(t.Context(), input("A: one two three four", "B: five six seven eight")); err != nil || len(m.prompts()) != 1 {
			t.Errorf("%d calls, %v", len(m.prompts()), err)
		}
	})
	t.Run("a window of more than one call takes is put in several, with context between", func(t *testing.T) {
		t.Parallel()
		m := perLine(99)
		var words []string
		for i := range 10 {
			words = append(words, fmt.Sprintf("A: %d %s", i, strings.Repeat("word ", 50)))
		}
		drafts, err := extractor(t, m, func(c *llm.Config, _ *llm.Deps) { c.MaxInput, c.Overlap = 256, 20 }).Extract(t.Context(), input(words...))
		asked := m.prompts()
		if err != nil || len(drafts) != 10 || len(asked) != 3 || !strings.Contains(asked[1].User, "<context>") || drafts[9].Sources[0] != "m10" {
			t.Errorf("%d drafts in %d calls, %v", len(drafts), len(asked), err)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := llm.New(llm.Config{Overlap: -1, Batch: -1, Rate: 2}, llm.Deps{}); !errors.Is(err, memory.ErrInvalid) ||
		!strings.Contains(err.Error(), "timeout") || !strings.Contains(err.Error(), "rate") || !strings.Contains(err.Error(), "batch") || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("got %v", err)
	}
	if _, err := llm.New(llm.DefaultConfig(), llm.Deps{}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no model gave %v", err)
	}
	x := extractor(t, saying(""), nil)
	if x.Name() != "test:scripted/extract-1" || x.Stamp() != (memory.Stamp{Model: "test:scripted", Prompt: "extract/1"}) || !x.NeedsContext() {
		t.Errorf("name %q, stamp %+v", x.Name(), x.Stamp())
	}
}
