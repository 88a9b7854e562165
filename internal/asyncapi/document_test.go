package asyncapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/internal/asyncapi"
)

const file = "../../docs/asyncapi.yaml"

// generated is the generated document, built once for all tests.
var generated = sync.OnceValues(func() ([]byte, error) {
	src, err := source()
	if err != nil {
		return nil, err
	}
	return asyncapi.Document(src)
})

func source() (asyncapi.Source, error) {
	return asyncapi.ReadSource("../../pkg/wire", "../../pkg/memory")
}

func document(t *testing.T) []byte {
	t.Helper()
	doc, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func parsed(t *testing.T) map[string]any {
	t.Helper()
	var root map[string]any
	if err := yaml.Unmarshal(document(t), &root); err != nil {
		t.Fatalf("the document is not YAML: %v", err)
	}
	return root
}

func at(t *testing.T, root map[string]any, path string) any {
	t.Helper()
	var here any = root
	for _, step := range strings.Split(path, "/") {
		m, ok := here.(map[string]any)
		if !ok || m[step] == nil {
			t.Fatalf("%s leads nowhere at %q", path, step)
		}
		here = m[step]
	}
	return here
}

func TestTheFileIsWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, document(t)) {
		t.Fatal("docs/asyncapi.yaml differs from the code; run: go run ./internal/asyncapi/cmd")
	}
}

func TestTheDocumentIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	first := document(t)
	for range 3 {
		src, err := source()
		if err != nil {
			t.Fatal(err)
		}
		again, err := asyncapi.Document(src)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("two runs gave two documents")
		}
	}
}

func TestTheDocumentIsWellFormed(t *testing.T) {
	t.Parallel()
	root := parsed(t)
	if root["asyncapi"] != "3.0.0" {
		t.Fatalf("version is %v", root["asyncapi"])
	}
	t.Run("every reference resolves", func(t *testing.T) {
		t.Parallel()
		n := 0
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				if r, ok := v["$ref"].(string); ok {
					n++
					at(t, root, strings.TrimPrefix(r, "#/"))
				}
				for _, below := range v {
					walk(below)
				}
			case []any:
				for _, below := range v {
					walk(below)
				}
			}
		}
		walk(root)
		if n == 0 {
			t.Fatal("no reference was found")
		}
	})
	t.Run("every operation has a channel, an action and messages of that channel", func(t *testing.T) {
		t.Parallel()
		for name, v := range root["operations"].(map[string]any) {
			op := v.(map[string]any)
			if a := op["action"]; a != "send" && a != "receive" {
				t.Errorf("%s: action %v", name, a)
			}
			channel := op["channel"].(map[string]any)["$ref"].(string)
			for _, m := range op["messages"].([]any) {
				if r := m.(map[string]any)["$ref"].(string); !strings.HasPrefix(r, channel+"/messages/") {
					t.Errorf("%s: %s is no message of %s", name, r, channel)
				}
			}
		}
	})
	t.Run("exactly the parameters of an address are described", func(t *testing.T) {
		t.Parallel()
		for name, v := range root["channels"].(map[string]any) {
			c := v.(map[string]any)
			address, _ := c["address"].(string)
			ps, _ := c["parameters"].(map[string]any)
			if strings.Count(address, "{") != len(ps) {
				t.Errorf("%s: %s has %d parameters", name, address, len(ps))
			}
			for p := range ps {
				if !strings.Contains(address, "{"+p+"}") {
					t.Errorf("%s: %s has no %s", name, address, p)
				}
			}
		}
	})
}

// compiled holds every component of the document as a compiled schema.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	doc, err := generated()
	if err != nil {
		return nil, err
	}
	var root struct {
		Components struct{ Schemas map[string]any }
	}
	var whole any
	if err := errors.Join(yaml.Unmarshal(doc, &root), yaml.Unmarshal(doc, &whole)); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("mem://doc", plain(whole)); err != nil {
		return nil, err
	}
	out := map[string]*jsonschema.Schema{}
	for name := range root.Components.Schemas {
		if out[name], err = c.Compile("mem://doc#/components/schemas/" + name); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	return out, nil
})

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	if all[name] == nil {
		t.Fatalf("there is no schema %s", name)
	}
	return all[name]
}

// plain converts YAML's values to the Go types that JSON has.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case int:
		return float64(v)
	}
	return v
}
