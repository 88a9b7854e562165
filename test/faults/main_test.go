package faults_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/test/programs"
)

// programDir returns the directory of the compiled programs.
func programDir(t *testing.T) string {
	t.Helper()
	dir, err := programs.Dir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
