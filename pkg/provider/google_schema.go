package provider

import (
	"encoding/json"
	"slices"
)

// googleKeywords are what the schemas of Gemini know; what else stands in a
// JSON schema is left out, so that a request never fails for it.
var googleKeywords = []string{"description", "maxItems", "maximum", "minItems", "minimum", "nullable", "required", "title"}

// googleSchema gives a JSON schema in the form that Gemini takes. What cannot
// be read is given as it is, for the server to say so.
func googleSchema(schema []byte) any {
	var v map[string]any
	if json.Unmarshal(schema, &v) != nil {
		return json.RawMessage(schema)
	}
	return googleNode(v, 0)
}

// maxNesting bounds how deep a schema is followed.
const maxNesting = 32

func googleNode(v map[string]any, depth int) map[string]any {
	out := map[string]any{}
	if depth > maxNesting {
		return out
	}
	for _, key := range googleKeywords {
		if x, ok := v[key]; ok {
			out[key] = x
		}
	}
	switch kind := v["type"].(type) {
	case string:
		out["type"] = kind
	case []any: // a type, or null
		for _, k := range kind {
			if k == "null" {
				out["nullable"] = true
			} else if _, ok := out["type"]; !ok {
				out["type"] = k
			}
		}
	}
	if list, ok := v["enum"].([]any); ok {
		if list = slices.DeleteFunc(slices.Clone(list), func(x any) bool { _, text := x.(string); return !text }); len(list) > 0 {
			out["enum"] = list
		}
	}
	if items, ok := v["items"].(map[string]any); ok {
		out["items"] = googleNode(items, depth+1)
	}
	if list, ok := v["anyOf"].([]any); ok {
		out["anyOf"] = googleNodes(list, depth)
	}
	if properties, ok := v["properties"].(map[string]any); ok {
		of := map[string]any{}
		for name, x := range properties {
			if node, ok := x.(map[string]any); ok {
				of[name] = googleNode(node, depth+1)
			}
		}
		out["properties"] = of
	}
	return out
}

func googleNodes(list []any, depth int) []any {
	var out []any
	for _, x := range list {
		if node, ok := x.(map[string]any); ok {
			out = append(out, googleNode(node, depth+1))
		}
	}
	return out
}
