package consolidator_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/llm"
)

func TestTheScheduleOfModelsFollowsTheSettings(t *testing.T) {
	t.Parallel()
	c, _, err := settings.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := consolidator.ModelConfig(c); got != llm.DefaultConfig() {
		t.Errorf("the defaults differ: got %+v, want %+v", got, llm.DefaultConfig())
	}
	c, _, err = settings.Load([]string{"EUNOE_TOKEN_BUDGET=7"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.ConsolidateBatch, c.ConsolidateAfter = 3, time.Minute
	want := llm.DefaultConfig()
	want.DecideBatch, want.SummariseBatch, want.DecideAfter, want.SummariseAfter, want.TokensPerDay = 3, 3, time.Minute, 12*time.Minute, 7
	if got := consolidator.ModelConfig(c); got != want || want.Validate() != nil {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
