package memory_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// FuzzOtherFields compares the fields that a message keeps beside its own with what encoding/json says of the body.
func FuzzOtherFields(f *testing.F) {
	for _, body := range []string{
		`{}`, ``, `{"content":"a"}`, `{"Content":"a"}`, `{"content":"a","mood":"glad"}`, `{"mood":{"content":[1,"{"]},"content":"x"}`,
		`{"metadata":{"mood":1},"content":"\\\"}"}`, `{"content":"\\","x":1}`, `{"content":"\\\\\"","x\"":1}`, `{"con\u0074ent":"a"}`, ` { "role" : "user" , "y" : [ { } ] } `,
		`{"images":[{"caption":"a,\"b"}],"topic":",\"z\":"}`, `{"":1}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := memory.DecodeMessage([]byte(body))
		if err != nil {
			return
		}
		want := map[string]json.RawMessage{}
		if body != "" {
			if err := json.Unmarshal([]byte(body), &want); err != nil {
				return // white space alone
			}
		}
		for _, own := range []string{"id", "role", "speaker", "content", "time", "replaces", "topic", "images", "recalled", "metadata"} {
			delete(want, own)
		}
		if d := cmp.Diff(fmt.Sprint(want), fmt.Sprint(map[string]json.RawMessage(m.Extra))); d != "" {
			t.Errorf("%q (-want +got):\n%s", body, d)
		}
	})
}
