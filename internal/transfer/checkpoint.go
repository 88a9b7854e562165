package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/internal/console"
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
	var have checkpoint
	if err := json.Unmarshal(data, &have); err != nil {
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

// write replaces the checkpoint atomically.
func (c checkpoint) write(path string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // one of its own: two imports may write at once
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}
