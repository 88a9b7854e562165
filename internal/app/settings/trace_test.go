package settings_test

import (
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

func TestTraceSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   map[string]string
		wrong string // setting; "" = none
	}{
		{"nothing", nil, ""},
		{"a collector", map[string]string{"TRACE": "otlp"}, ""},
		{"a file", map[string]string{"TRACE": "file:/tmp/x", "TRACE_SAMPLE": "0.1"}, ""},
		{"a file without a name", map[string]string{"TRACE": "file:"}, "EUNOE_TRACE:"},
		{"another word", map[string]string{"TRACE": "jaeger"}, "EUNOE_TRACE:"},
		{"too large a share", map[string]string{"TRACE_SAMPLE": "1.1"}, "EUNOE_TRACE_SAMPLE"},
		{"no share", map[string]string{"TRACE_SAMPLE": "NaN"}, "EUNOE_TRACE_SAMPLE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := settings.Load(nil, c.set)
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%v", err)
			}
		})
	}
}
