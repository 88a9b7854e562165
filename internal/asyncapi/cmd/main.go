// Command cmd writes docs/asyncapi.yaml. Run it at the root of the module:
// go run ./internal/asyncapi/cmd
package main

import (
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/asyncapi"
)

func main() {
	if err := write("docs/asyncapi.yaml", "pkg/wire", "pkg/memory"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(file string, folders ...string) error {
	src, err := asyncapi.ReadSource(folders...)
	if err != nil {
		return err
	}
	doc, err := asyncapi.Document(src)
	if err != nil {
		return err
	}
	return os.WriteFile(file, doc, 0o644)
}
