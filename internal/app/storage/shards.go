package storage

import (
	"context"
	"fmt"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
)

// Shards returns the shards that a log is applied by. A log that has no store yet gets as many as the settings say. Any
// other number than the log has is memory.ErrConflict: a rebuild changes it.
func Shards(ctx context.Context, conn *events.Conn, c settings.Config) ([]events.Shard, error) {
	have, err := conn.ShardCount(ctx)
	switch {
	case err != nil:
		return nil, err
	case have == 0 && c.Shards > 1:
		exists, err := Exists(ctx, ShardDSN(c, events.Shard{}))
		if err != nil {
			return nil, err
		}
		if exists {
			return nil, shardsError(1, c.Shards)
		}
		return events.Shards(c.Shards), conn.SetShardCount(ctx, c.Shards)
	case c.Shards != 0 && c.Shards != max(1, have):
		return nil, shardsError(max(1, have), c.Shards)
	}
	return events.Shards(have), nil
}

func shardsError(have, want int) error {
	return fmt.Errorf("EUNOE_SHARDS is %[2]d, and the number of stores is %[1]d: leave the setting out, or stop every stage and run "+
		"`eunoe rebuild` with it, which makes the stores anew: %[3]w", have, want, memory.ErrConflict)
}

// ShardDSN returns where the store of a shard is.
func ShardDSN(c settings.Config, s events.Shard) string { return store.ShardDSN(c.Store, s) }
