package asyncapi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"

	"github.com/eunoe-memory/eunoe/docs"
	"github.com/eunoe-memory/eunoe/internal/asyncapi"
	"github.com/eunoe-memory/eunoe/pkg/gateway"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestTheOpenAPIDocumentIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	src, err := source()
	if err != nil {
		t.Fatal(err)
	}
	made, err := asyncapi.OpenAPI(src)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) || !bytes.Equal(kept, docs.OpenAPI) {
		t.Error("docs/openapi.json differs from the code: go run ./internal/asyncapi/cmd")
	}
}

func TestTheOpenAPIDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc, err := libopenapi.NewDocument(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method, o := range item.GetOperations().FromOldest() {
			seen[strings.ToUpper(method)+" "+path] = true
			if o.Summary == "" || o.Responses.Codes.GetOrZero("200") == nil || o.Responses.Codes.GetOrZero("400") == nil {
				t.Errorf("%s %s lacks a summary, a reply or an error", method, path)
			}
		}
	}
	for _, r := range gateway.Routes() {
		if !seen[r.Method+" "+r.Path] {
			t.Errorf("%s %s is not in the document", r.Method, r.Path)
		}
	}
	for _, e := range wire.Endpoints() {
		path := "/v1/banks/{bank}/" + e.Name
		if e.Role == wire.Operator {
			path = "/v1/admin/" + e.Name
		}
		if !seen["POST "+path] {
			t.Errorf("the endpoint %s is not in the document", e.Name)
		}
	}
	if refs := regexp.MustCompile(`"\$ref": "#/([^"]+)"`).FindAllSubmatch(docs.OpenAPI, -1); len(refs) < 100 {
		t.Errorf("%d references", len(refs))
	} else {
		var root map[string]any
		if err := json.Unmarshal(docs.OpenAPI, &root); err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			at(t, root, string(r[1]))
		}
	}
}
