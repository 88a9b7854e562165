package rules_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Half past eleven in the evening in Los Angeles is the next day in UTC.
func TestADayIsTheSpeakers(t *testing.T) {
	t.Parallel()
	var m memory.Message
	if err := json.Unmarshal([]byte(`{"id":"m1","role":"user","speaker":"Ana","content":"The plumber comes tomorrow.","time":"2026-06-01T23:30:00-07:00"}`), &m); err != nil {
		t.Fatal(err)
	}
	m.Local = memory.WallClock(m.Time)
	got := read(t, m)
	if len(got) != 1 || got[0].Occurred.From == nil || got[0].Occurred.From.Format(time.DateOnly) != "2026-06-02" {
		t.Fatalf("got %+v", got)
	}
	m.Local = time.Time{}
	if got := read(t, m); got[0].Occurred.From.UTC().Format(time.DateOnly) == "2026-06-01" {
		t.Errorf("without a clock of the speaker it is on %v", got[0].Occurred.From)
	}
}
