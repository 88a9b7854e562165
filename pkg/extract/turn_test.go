package extract_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/extract"
)

func TestWindowsInTurn(t *testing.T) {
	t.Parallel()
	t.Run("windows end in the order they were cut, even when a later one finishes first", func(t *testing.T) {
		t.Parallel()
		c := natstest.Start(t)
		const n = 12
		var want []string
		for i := range n {
			seqs := publish(t, c, fmt.Sprintf(`{"content":"message %d"}`, i))
			w := window(seqs)
			want = append(want, string(w.ID))
			if err := c.PublishWindow(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		second := make(chan struct{})
		x := echo()
		start(t, c, extract.Func{ID: "echo/1", Do: func(ctx context.Context, in extract.Input) ([]extract.Draft, error) {
			switch in.New[0].Content {
			case "message 0":
				select {
				case <-second:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			case "message 1":
				defer close(second)
			}
			return x.Do(ctx, in)
		}}, func(cfg *extract.Config, _ *extract.Deps) { cfg.Concurrency, cfg.InTurn = 4, true })
		var got []string
		for _, w := range writes(t, c, n) {
			got = append(got, string(w.Window.ID))
		}
		if !slices.Equal(got, want) {
			t.Errorf("windows ended in the order\n%v; want\n%v", got, want)
		}
	})
}
