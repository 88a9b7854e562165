package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ProgressSuffix is appended to the name of a file for the name of its checkpoint.
const ProgressSuffix = ".eunoe-progress"

// checkpoint is the progress of an import of a file.
type checkpoint struct {
	File   string `json:"file"`   // hash of its content
	Target string `json:"target"` // broker, prefix and bank it goes to
	Lines  int    `json:"lines"`  // sent and acknowledged
}

// readCheckpoint returns how many lines an earlier run sent of the same file to the same place, 0 for none. A
// checkpoint of another file is an error, so that an import that was interrupted is not silently forgotten.
func readCheckpoint(path string, want checkpoint) (int, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	if len(data) == 0 { // an import was killed before it wrote the first one
		return 0, nil
	}
	var have checkpoint
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&have); err != nil { // behind it may stand the rest of a longer one
		return 0, console.Usagef("checkpoint %s cannot be read (%v); delete it to start over", path, err)
	}
	if have.File != want.File {
		return 0, console.Usagef("the file changed since an import of it was interrupted; delete %s to start over", path)
	}
	if have.Target != want.Target {
		return 0, nil
	}
	return have.Lines, nil
}

// write puts the checkpoint into its file, over the earlier one: one write of a few hundred bytes, in full or not at all
// when the process is killed, that leaves no other file behind.
func (c checkpoint) write(path string) (err error) {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(data, 0); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// errFound ends a scan at the first message.
var errFound = errors.New("found")

// sentBefore reports whether the bank still has the first message of the file, which an earlier run sent if it came that
// far: not where the bank was erased since, or the deployment is another one at the same address. Where nobody can tell,
// the checkpoint is believed.
func (im *Importer) sentBefore(ctx context.Context, lines int) (bool, error) {
	there := true
	err := im.file.Scan(func(number int, l Line) error {
		switch {
		case number > lines:
			return errFound
		case l.Record != RecordMessage:
			return nil
		}
		if im.cfg.Force || l.Bank == "" {
			l.Bank = im.cfg.Bank
		}
		if err := l.identify(im.file.hash, number, map[memory.MessageID]memory.MessageID{}); err != nil {
			return err
		}
		_, err := im.client.Get(ctx, l.Bank, string(l.Message.ID))
		there = !errors.Is(err, memory.ErrNotFound)
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return false, err
	}
	return there, nil
}
