package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TestTailGoesOnWithoutTheQueryService follows a bank while nobody answers: each change is printed, and that its text is not known.
func TestTailGoesOnWithoutTheQueryService(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t)
	followed := make(chan result, 1)
	go func() {
		followed <- run(t, t.Context(), []string{"EUNOE_URL=" + c.NC.ConnectedUrl()}, "", "tail", "--bank", "quay", "--count", "2")
	}()
	var got result
	natstest.Eventually(t, "two changes were printed", func() bool {
		added := memory.Change{What: memory.ChangeFact, Record: "f_crane", Op: memory.OutcomeAdded, Time: time.Now()}
		added.ID = added.Time.String() // one that the broker has not seen
		if err := c.PublishChanges(t.Context(), []events.BankChange{{Bank: "quay", Change: added}}); err != nil {
			t.Fatal(err)
		}
		select {
		case got = <-followed:
			return true
		default:
			return false
		}
	})
	if got.code != 0 || strings.Count(got.out, "f_crane") != 2 {
		t.Errorf("exit code %d, printed %q", got.code, got.out)
	}
	if strings.Count(got.err, "the text of f_crane could not be read") != 2 || !strings.Contains(got.err, "nobody answers") {
		t.Errorf("said %q", got.err)
	}
}
