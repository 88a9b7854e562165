package main

import (
	"fmt"
	"io"
)

// pairs prints names and values, which alternate, in two columns.
func pairs(w io.Writer, list ...any) {
	width := 0
	for i := 0; i < len(list); i += 2 {
		width = max(width, len(list[i].(string)))
	}
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(w, "%-*s  %v\n", width, list[i], list[i+1])
	}
}
