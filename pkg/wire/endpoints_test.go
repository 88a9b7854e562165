package wire_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestEveryEntryOfTheTableIsListed(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "endpoints.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].IsExported() {
			entries++
		}
		return true
	})
	if listed := len(wire.Endpoints()); listed != entries {
		t.Errorf("Endpoints lists %d of %d entries", listed, entries)
	}
}

func TestTheTable(t *testing.T) {
	t.Parallel()
	subjects := map[string]bool{}
	for _, e := range wire.Endpoints() {
		t.Run(e.Name, func(t *testing.T) {
			if e.Name == "" || e.Summary == "" || e.Request.Name == "" || bytes.ContainsAny([]byte(e.Reply.Name), "[.]") {
				t.Errorf("the entry is incomplete: %+v", e)
			}
			if subjects[e.Subject("mem")] {
				t.Errorf("%s is there twice", e.Subject("mem"))
			}
			subjects[e.Subject("mem")] = true
			for _, b := range []wire.Body{e.Request, e.Reply} {
				body, err := json.Marshal(b.Example)
				if err != nil {
					t.Fatal(err)
				}
				read := reflect.New(b.Type)
				if err := memory.Decode(body, read.Interface()); err != nil {
					t.Fatalf("the example of %s cannot be read: %v", b.Name, err)
				}
				again, err := json.Marshal(read.Interface())
				if err != nil || !bytes.Equal(body, again) {
					t.Errorf("the example of %s is %s, read and written again %s (%v)", b.Name, body, again, err)
				}
			}
		})
	}
}
