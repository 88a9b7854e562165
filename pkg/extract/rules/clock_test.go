package rules_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Half past eleven in the evening in Los Angeles is the next day in UTC.
func TestADayIsTheSpeakers(t *testing.T) {
	t.Parallel()
	m, err := memory.ParseMessage("b", "s", 1, said, []byte(`{"id":"m1","role":"user","speaker":"Ana","content":"The plumber comes tomorrow.","time":"2026-06-01T23:30:00-07:00"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, m)
	if len(got) != 1 || got[0].Occurred.From == nil || got[0].Occurred.From.Format(time.DateOnly) != "2026-06-02" {
		t.Fatalf("got %+v", got)
	}
}
