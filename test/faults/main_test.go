package faults_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/eunoe-memory/eunoe/test/faults"
)

// built holds the programs, made by the first test that asks for them.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func programs(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "eunoe-faults-*"); built.err == nil {
			built.err = faults.Build(context.Background(), "../..", built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}
