package postgrestest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
)

// arguments are those of initdb but for the directory.
var arguments = []string{"-U", "eunoe", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-A", "trust"}

// fill makes the files of a new server. initdb takes ten times as long as copying what it makes, so the files of the first
// server are kept for those that follow, of other packages too.
func (s *Server) fill() error {
	kept := keptFiles()
	if kept != "" {
		err := os.CopyFS(s.data(), os.DirFS(kept))
		if err == nil {
			return s.own()
		}
		if err := os.RemoveAll(s.data()); err != nil { // none are kept yet, or somebody removes them
			return err
		}
	}
	if err := s.run("initdb", append([]string{"-D", s.data()}, arguments...)...); err != nil {
		return err
	}
	if kept != "" {
		_ = keep(s.data(), kept) // without it the next server takes longer
	}
	return nil
}

// keptFiles returns where the files of a new server are kept, by the installation that made them; "" = nowhere.
func keptFiles() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	path, err := program("initdb")
	if err != nil {
		return ""
	}
	installed, err := os.Stat(path)
	if err != nil {
		return ""
	}
	made := fnv.New64a()
	_, _ = fmt.Fprint(made, path, installed.Size(), installed.ModTime().UnixNano(), arguments)
	return filepath.Join(cache, "eunoe-test", fmt.Sprintf("postgres-%x", made.Sum64()))
}

// keep copies the files of a server that has not been started, whole or not at all: tests run side by side.
func keep(data, kept string) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(kept), "new")
	if err != nil {
		return err
	}
	if err = os.CopyFS(filepath.Join(dir, "data"), os.DirFS(data)); err == nil {
		err = os.Rename(filepath.Join(dir, "data"), kept)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// own hands the files over to the user of the server, who alone may read them.
func (s *Server) own() error {
	if err := os.Chmod(s.data(), 0o700); err != nil { //nolint:gosec // a directory
		return err
	}
	if s.as == nil {
		return nil
	}
	return filepath.WalkDir(s.data(), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, int(s.as.Uid), int(s.as.Gid)))
	})
}
