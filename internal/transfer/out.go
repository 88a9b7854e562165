package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// tries is how often a file is written before an export gives up, because something was forgotten each time.
const tries = 5

// WriteFile calls write with a file that gets its name when it is complete and on disk: until then, and if write fails,
// whatever stood at path stays. Where write returns ErrForgotten it is called again with the file empty, some times. What
// is no regular file, such as a pipe, is written directly, and once.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // a link goes on to point there
	}
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode(); !mode.IsRegular() {
			part = path
		}
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode.Perm())
	if err != nil {
		return console.UsageError{Err: err}
	}
	err = write(file)
	if part == path {
		return errors.Join(err, file.Close())
	}
	for try := 1; try < tries && errors.Is(err, ErrForgotten); try++ {
		if err = empty(file); err == nil {
			err = write(file)
		}
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return storage.SyncFile(filepath.Dir(path)) // its name too
}

// empty removes what was written to a file.
func empty(file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return file.Truncate(0)
}
