package local_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestAStageThatIsStoppedWhileItStarts stops each stage at later and later points of its start, which is not a failure.
func TestAStageThatIsStoppedWhileItStarts(t *testing.T) {
	t.Parallel()
	for i := range local.Stages() {
		server := natstest.StartServer(t)
		c, _, err := settings.Load(nil, map[string]string{"URL": server.Server.ClientURL(), "DATA": t.TempDir(), "LOG": "fatal",
			"STORE": filepath.Join(t.TempDir(), "eunoe.db")})
		if err != nil {
			t.Fatal(err)
		}
		for wait := time.Duration(0); wait <= 60*time.Millisecond; wait += 3 * time.Millisecond {
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(wait, stop)
			if err := process.Run(ctx, c, local.Stages()[i]); err != nil {
				t.Errorf("stopped after %s: %v", wait, err)
			}
			stop()
		}
	}
}
