package asyncapi

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// object makes a mapping of name, value pairs in the order given. A value is a
// node, a string, a bool, an int, a []string or nil (null). A pair whose value
// is an empty string is left out.
func object(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		if s, ok := pairs[i+1].(string); ok && s == "" {
			continue
		}
		put(n, pairs[i].(string), pairs[i+1])
	}
	return n
}

// put adds one pair to a mapping.
func put(n *yaml.Node, name string, value any) {
	n.Content = append(n.Content, scalar(name), node(value))
}

func array(values ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		n.Content = append(n.Content, node(v))
	}
	return n
}

func ref(path string) *yaml.Node { return object("$ref", "#/"+path) }

func scalar(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func node(value any) *yaml.Node {
	switch v := value.(type) {
	case *yaml.Node:
		return v
	case string:
		return scalar(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)}
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, s := range v {
			n.Content = append(n.Content, scalar(s))
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}
