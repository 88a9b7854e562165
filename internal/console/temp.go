package console

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// TempFile is a temporary file. Where the system allows it, it has no name: it goes with the process, however that ends.
type TempFile struct {
	*os.File
	name string // "" = none
}

// CreateTemp makes an empty file. The caller removes it.
func CreateTemp() (*TempFile, error) {
	f, err := os.CreateTemp("", "eunoe-")
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	t := &TempFile{File: f, name: f.Name()}
	if os.Remove(t.name) == nil {
		t.name = ""
	}
	return t, nil
}

// Open reads what was written so far, from the beginning.
func (t *TempFile) Open() (io.ReadCloser, error) {
	info, err := t.Stat()
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return io.NopCloser(io.NewSectionReader(t.File, 0, info.Size())), nil
}

// Remove closes the file and removes it.
func (t *TempFile) Remove() error {
	err := t.Close()
	if t.name != "" {
		err = errors.Join(err, os.Remove(t.name))
	}
	return err
}
