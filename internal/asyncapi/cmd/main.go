// Command cmd writes docs/asyncapi.yaml and docs/openapi.json. Run it at the root of the module:
// go run ./internal/asyncapi/cmd
package main

import (
	"fmt"
	"os"

	"github.com/eunoe-memory/eunoe/internal/asyncapi"
)

func main() {
	for file, document := range map[string]func(asyncapi.Source) ([]byte, error){"docs/asyncapi.yaml": asyncapi.Document, "docs/openapi.json": asyncapi.OpenAPI} {
		if err := write(file, document, "pkg/wire", "pkg/memory"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(file string, document func(asyncapi.Source) ([]byte, error), folders ...string) error {
	src, err := asyncapi.ReadSource(folders...)
	if err != nil {
		return err
	}
	doc, err := document(src)
	if err != nil {
		return err
	}
	return os.WriteFile(file, doc, 0o644)
}
