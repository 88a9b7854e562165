package bm25_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/bench/bm25"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	x := bm25.New([]memory.Message{
		{ID: "m1", Content: "I painted the kitchen yesterday."},
		{ID: "m2", Content: "Lovely!", Images: []memory.Image{{Caption: "a painting of a lake"}}},
		{ID: "m3", Content: "The lake was cold."},
		{ID: "m4", Content: "The lake was cold."},
	}, 1.2, 0.75)
	for _, tc := range []struct {
		name, query string
		limit       int
		want        []string
	}{
		{"words match by their stem, captions too", "who paints?", 10, []string{"m1", "m2"}},
		{"equals keep the order in which they were said", "cold lake", 10, []string{"m3", "m4", "m2"}},
		{"no more come than were asked for", "lake", 1, []string{"m3"}},
		{"stop words find nothing", "who is that?", 10, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, x.Search(tc.query, 4, tc.limit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchOfTextWithoutSpaces(t *testing.T) {
	t.Parallel()
	x := bm25.New([]memory.Message{
		{ID: "m1", Content: "我在北京养了一只猫。"}, {ID: "m2", Content: "昨日は猫カフェに行った"}, {ID: "m3", Content: "京都的北面"}, {ID: "m4", Content: "北京北京"},
	}, 1.2, 0.75)
	if diff := cmp.Diff([]string{"m4", "m1", "m3"}, x.Search("北京", 4, 10)); diff != "" {
		t.Errorf("both characters together are worth more than apart: %s", diff)
	}
	if diff := cmp.Diff([]string{"m1", "m3"}, x.Search("北京", 3, 10)); diff != "" {
		t.Errorf("only the first three are searched: %s", diff)
	}
}
