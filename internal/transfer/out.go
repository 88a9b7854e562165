package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/eunoe-memory/eunoe/internal/app/storage"
	"github.com/eunoe-memory/eunoe/internal/console"
)

// tries is how often a file is written before an export gives up, because something was forgotten each time.
const tries = 5

// partSuffix ends the name of a file that is not complete: FILE.PID.part.
const partSuffix = ".part"

// WriteFile calls write with a file that gets its name when it is complete and on disk: until then, and if write fails,
// whatever stood at path stays. What processes that were killed left beside it is removed. Where write returns ErrForgotten
// it is called again with the file empty, some times. What is no regular file, such as a pipe, is written directly, and
// once.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // a link goes on to point there
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	if !mode.IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return console.UsageError{Err: err}
		}
		return errors.Join(write(file), file.Close())
	}
	removeParts(path)
	part := fmt.Sprintf("%s.%d%s", path, os.Getpid(), partSuffix)
	file, err := createPart(part, mode.Perm())
	if err != nil {
		return console.UsageError{Err: err}
	}
	err = write(file)
	for try := 1; try < tries && errors.Is(err, ErrForgotten); try++ {
		if err = empty(file); err == nil {
			err = write(file)
		}
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(part, path) // before it is closed, which ends its lock
	}
	if err != nil {
		return errors.Join(err, os.Remove(part), file.Close())
	}
	if err := file.Close(); err != nil {
		return err
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

// createPart opens an empty file that this process alone has locked, as long as it is open: the lock tells others that
// somebody is writing it.
func createPart(part string, mode fs.FileMode) (*os.File, error) {
	for {
		file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		syscall.Flock(int(file.Fd()), syscall.LOCK_EX) //nolint:errcheck // a file system without locks has none of others either
		mine, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if now, err := os.Stat(part); err != nil || !os.SameFile(mine, now) { // somebody removed it before it was locked
			if err := file.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err := file.Truncate(0); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
}

// removeParts removes the incomplete files of path that nobody is writing. One that cannot be removed stays.
func removeParts(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) //nolint:errcheck // creating a file in it says so
	for _, e := range entries {
		pid, ours := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		pid, part := strings.CutSuffix(pid, partSuffix)
		if _, err := strconv.ParseUint(pid, 10, 32); !ours || !part || err != nil || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.Remove(name) //nolint:errcheck // nothing depends on it
		}
		file.Close() //nolint:errcheck // nothing was written
	}
}
