package extract_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/deadletter"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// conformTags holds what is promised of the tags of facts.
func conformTags(t *testing.T) {
	t.Helper()
	t.Run("tags match in any case, untagged facts are left out, and the limit holds after filtering", func(t *testing.T) {
		t.Parallel()
		p := newPipeline(t)
		p.extractor(extract.Func{ID: "tags/1", Do: func(_ context.Context, in extract.Input) (out []extract.Draft, err error) {
			for _, m := range in.New {
				d := extract.Draft{Text: m.Content, Sources: []memory.MessageID{m.ID}}
				switch (m.Content[len(m.Content)-2] - 'a') % 3 {
				case 0:
					d.Tags = []string{"Travel", " TRAVEL "}
				case 1:
					d.Tags = []string{"Food"}
				}
				out = append(out, d)
			}
			return out, nil
		}}, nil)
		for i := range 12 {
			if _, err := p.conn.PublishMessage(t.Context(), bank, session, fmt.Appendf(nil, `{"content":"Journey number %d went to the lake of town%c."}`, i, 'a'+i)); err != nil {
				t.Fatal(err)
			}
			if i%3 == 2 {
				if _, err := p.conn.PublishFlush(t.Context(), bank, session, memory.Flush{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.until(bank, "all facts", settled(12))
		find := func(most int, tags ...string) []memory.Item {
			t.Helper()
			r, err := p.client.Recall(t.Context(), bank, wire.RecallRequest{Query: "journey to the lake", MaxFacts: &most, Filter: memory.Filter{Records: []memory.Record{memory.RecordFact}, Tags: tags}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Items
		}
		for _, c := range []struct {
			tags []string
			want int
		}{{[]string{"tRaVeL"}, 4}, {[]string{"travel", "FOOD"}, 8}, {[]string{"none"}, 0}, {nil, 12}} {
			if got := find(50, c.tags...); len(got) != c.want {
				t.Errorf("tags %v find %d facts, want %d", c.tags, len(got), c.want)
			}
		}
		if got := find(3, "Travel"); len(got) != 3 {
			t.Errorf("a limit of 3 gave %d facts of the tag", len(got))
		}
	})
}

func TestAForgottenMessageTakesTheDeadLetterOfItsWindow(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	p.extractor(extract.Func{ID: "bad/1", Do: func(context.Context, extract.Input) ([]extract.Draft, error) {
		return nil, &deadletter.OutputError{Err: fmt.Errorf("no list: %w", memory.ErrUnavailable), Output: "Zenobia, certainly!", Prompt: "extract/1"}
	}}, nil)
	p.say(bank, session, "Xenophon admires Zenobia")
	var d []memory.DeadLetter
	natstest.Eventually(t, "the dead letter", func() bool {
		d, _ = deadletter.List(t.Context(), p.conn, deadletter.Filter{})
		return len(d) == 1
	})
	if d[0].Output != "Zenobia, certainly!" || d[0].Prompt != "extract/1" || strings.Contains(d[0].Reason, "Zenobia") {
		t.Errorf("letter %+v", d[0])
	}
	p.until(bank, "the dead end", settled(1))
	if _, err := p.client.Forget(t.Context(), bank, memory.ForgetRequest{Session: session}); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "no dead letter", func() bool {
		n, err := deadletter.Count(t.Context(), p.conn, bank)
		return err == nil && n == 0
	})
}
