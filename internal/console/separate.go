package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/client"
)

// TempSettings returns settings for a separate pipeline in a new directory: quiet, on a free port, without syncing to
// disk, and with one extractor at a time so that two equal runs have equal results. more are further settings.
func (c *Connection) TempSettings(dir string, more map[string]string) (settings.Config, error) {
	own := map[string]string{
		"DATA": dir, "STORE": "", "PORT": "-1", "HTTP": "127.0.0.1:0", "LOG": "error", "SYNC": "false", "EXTRACTORS": "1", "URL": "nats://127.0.0.1:4222", "CREDS": "",
		"AUTH_DIR": "", "LISTEN": "127.0.0.1", "TLS_CERT": "", "TLS_KEY": "", "TLS_CA": "", "INBOX": "",
	}
	maps.Copy(own, more)
	cfg, _, err := c.Settings(own)
	return cfg, err
}

// TempDir makes a directory and returns a function that removes it.
func TempDir() (string, func(), error) {
	dir, err := os.MkdirTemp("", "eunoe-")
	if err != nil {
		return "", nil, fmt.Errorf("temporary directory: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil //nolint:errcheck // it is a temporary directory
}

// WithLocal runs all stages in this process with the settings cfg while fn runs.
func (c *Connection) WithLocal(ctx context.Context, program string, cfg settings.Config, fn func(*local.Local, *client.Client) error) (err error) {
	l, err := local.Start(ctx, cfg, os.Stderr)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, l.Close(ctx))
	}()
	own, err := client.New(c.Config(program), client.Deps{Conn: l.Conn})
	if err != nil {
		return err
	}
	return fn(l, own)
}
