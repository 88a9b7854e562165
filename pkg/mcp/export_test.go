package mcp

import "encoding/json"

// Tools names all tools.
func Tools() []string {
	var out []string
	for _, t := range tools() {
		out = append(out, t.name)
	}
	return out
}

// Read returns the arguments of a call of a tool as the tool gets them, and its schema.
func Read(name string, raw []byte) (arguments []byte, schema map[string]any, err error) {
	for _, t := range tools() {
		if t.name != name {
			continue
		}
		given, err := t.read(raw)
		if err != nil {
			return nil, nil, err
		}
		arguments, err = json.Marshal(given)
		return arguments, t.schema(), err
	}
	return nil, nil, nil
}
