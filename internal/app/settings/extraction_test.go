package settings_test

import (
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestExtractionSettings(t *testing.T) {
	t.Parallel()
	c, _, err := settings.Load(nil, nil)
	if err != nil || c.Novelty || c.Topics != 0 || c.Compress != 0 {
		t.Errorf("the options are off by default: %+v, %v", c.ExtractionSettings, err)
	}
	c, _, err = settings.Load([]string{"EUNOE_NOVELTY=true", "EUNOE_TOPICS=512", "EUNOE_COMPRESS=0.6"}, nil)
	if err != nil || !c.Novelty || c.Topics != 512 || c.Compress != 0.6 {
		t.Errorf("got %+v, %v", c.ExtractionSettings, err)
	}
	for _, bad := range []string{"NOVELTY=perhaps", "TOPICS=3", "COMPRESS=1.5", "COMPRESS=NaN", "TOKEN_BUDGET=-1"} {
		name, _, _ := strings.Cut(bad, "=")
		if _, _, err := settings.Load([]string{"EUNOE_" + bad}, nil); err == nil || !strings.Contains(err.Error(), "EUNOE_"+name) {
			t.Errorf("EUNOE_%s: the error must name it: %v", bad, err)
		}
	}
}
