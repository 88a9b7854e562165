package kv_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestRecalls(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	if err := c.Reconcile(t.Context(), events.DefaultStreamOptions()); err != nil {
		t.Fatal(err)
	}
	r, ctx := kv.OpenRecalls(c), context.Background()
	keep := func(began int64, what string) {
		t.Helper()
		if err := r.Keep(ctx, "a/b", began, what); err != nil {
			t.Fatal(err)
		}
	}
	listed := func() string {
		t.Helper()
		list, err := r.List(ctx, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s", list)
	}
	began, err := r.Begin(ctx, "a/b")
	if err != nil || listed() != "[]" {
		t.Fatalf("an empty bank: %v, %s", err, listed())
	}
	keep(began, "one")
	keep(began, "two")
	keep(began, strings.Repeat("x", 300<<10))
	if got := listed(); got != `["two" "one"]` {
		t.Errorf("kept %s", got)
	}
	if err := r.Forget(ctx, "a/b"); err != nil {
		t.Fatal(err)
	}
	keep(began, "it began before the forget")
	if got := listed(); got != "[]" {
		t.Errorf("after a forget %s", got)
	}
	if began, err = r.Begin(ctx, "a/b"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { keep(began, fmt.Sprint(i)) })
	}
	group.Wait()
	if list, _ := r.List(ctx, "a/b"); len(list) != 8 {
		t.Errorf("%d of 8 at once are kept", len(list))
	}
	for range 4 {
		keep(began, strings.Repeat("y", 100<<10))
	}
	if list, _ := r.List(ctx, "a/b"); len(list) != 2 {
		t.Errorf("%d large ones are kept", len(list))
	}
	if list, _ := r.List(ctx, "other"); len(list) != 0 {
		t.Errorf("another bank has %s", list)
	}
}
