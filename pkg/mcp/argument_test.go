package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/eunoe-memory/eunoe/pkg/mcp"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// FuzzArguments sends every tool the same arguments: they are refused with a sentence, or become what its schema has, and
// then they stay that.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		`{"query":"x","limit":"10","speakers":"[\"Ann\"]","as_of":"2026-05-20","explanation":1}`, `{"id":7,"confirm":null}`, `{"ids":"a","history":"True"}`,
		`{"text":"x","time":"2026-05-20 10:11","tags":["a",1]}`, `{"record":"fact","limit":-1}`, `{"limit":1e3}`, `{"limit":"2.0"}`, `[]`, `null`, `"{}"`, `{"Query":"x"}`, "{\"query\":\"\xff\"}",
	} {
		f.Add([]byte(s))
	}
	schemas := map[string]*jsonschema.Schema{}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range mcp.Tools() {
			got, definition, err := mcp.Read(name, raw)
			if err != nil {
				if !errors.Is(err, memory.ErrInvalid) || len(err.Error()) > 2000 {
					t.Fatalf("%s: %v", name, err)
				}
				continue
			}
			if schemas[name] == nil {
				schemas[name] = compiled(t, definition)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err == nil {
				err = schemas[name].Validate(value)
			}
			if err != nil {
				t.Fatalf("%s: %q became %s: %v", name, raw, got, err)
			}
			if again, _, err := mcp.Read(name, got); err != nil || !bytes.Equal(again, got) {
				t.Fatalf("%s: %s became %s, %v", name, got, again, err)
			}
		}
	})
}

func compiled(t *testing.T, definition map[string]any) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", value); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
