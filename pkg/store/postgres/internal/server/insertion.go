package server

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// insertion is an INSERT of one row by its values.
type insertion struct {
	table    string
	columns  []string
	values   []string // expressions, with parameters as $1
	conflict string   // from ON CONFLICT on
	key      []int    // the columns by which ON CONFLICT finds the row that it updates; nil for none
	types    []string // of the parameters
	merged   string   // for many rows
}

var (
	inserts     = regexp.MustCompile(`^INSERT INTO (\w+) \(([\w, \n]+)\)\s+VALUES \((.*)\)(?:\s+(ON CONFLICT\s.*))?$`)
	conflicting = regexp.MustCompile(`^ON CONFLICT \(([\w, ]+)\) DO UPDATE\b`)
	cast        = regexp.MustCompile(`(\$\d+)::(?:bigint|text|bytea|double precision)(\[\])?`)
	placeholder = regexp.MustCompile(`\$(\d+)`)
	reads       = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s*(\(|\w+)`)
	word        = regexp.MustCompile(`'\w*'`)
	intoOne     = regexp.MustCompile(`^INSERT INTO (\w+)`)
)

// insertionOf returns the insertion that a statement is; nil for another one. Statements that differ in the types of their
// arguments alone, as where one has a NULL, are the same insertion.
func (s *Server) insertionOf(query string) *insertion {
	if known, ok := s.insertions.Load(query); ok {
		return known.(*insertion)
	}
	var i *insertion
	if c := s.catalogue.Load(); c != nil {
		plain := cast.ReplaceAllString(query, "$1$2")
		if known, ok := s.insertions.Load("= " + plain); ok {
			i = known.(*insertion)
		} else {
			i = parseInsertion(plain, c)
			s.keepInsertion("= "+plain, i)
		}
		s.keepInsertion(query, i)
	}
	return i
}

func (s *Server) keepInsertion(query string, i *insertion) {
	if s.count.Load() < maxStatements {
		s.insertions.Store(query, i)
	}
}

// parseInsertion reads a statement whose parameters have no casts.
func parseInsertion(query string, c *catalogue) *insertion {
	m := inserts.FindStringSubmatch(query)
	if m == nil || !strings.Contains(m[3], "$") || reads.MatchString(query) {
		return nil
	}
	i := &insertion{table: m[1], values: commas(m[3]), conflict: m[4]}
	for name := range strings.SplitSeq(m[2], ",") {
		i.columns = append(i.columns, strings.TrimSpace(name))
	}
	if len(i.columns) != len(i.values) || strings.Contains(i.conflict, "$") || strings.Contains(word.ReplaceAllString(m[3], ""), "'") {
		return nil
	}
	types := map[int]string{}
	for n, v := range i.values {
		for _, p := range placeholder.FindAllStringSubmatch(v, -1) {
			typ := c.types[i.table][i.columns[n]]
			if p[0] != v { // what an expression takes is a text
				typ = "text"
			}
			at := number(p[1])
			if _, again := types[at]; again || arrays[typ] == "" {
				return nil
			}
			types[at] = typ
		}
	}
	lists := make([]string, len(types))
	for at := range lists {
		if types[at+1] == "" {
			return nil
		}
		i.types = append(i.types, types[at+1])
		lists[at] = fmt.Sprintf("$%d::%s", at+1, arrays[types[at+1]])
	}
	if k := conflicting.FindStringSubmatch(i.conflict); k != nil {
		for name := range strings.SplitSeq(k[1], ",") {
			at := slices.Index(i.columns, strings.TrimSpace(name))
			if at < 0 || placeholder.FindString(i.values[at]) != i.values[at] {
				return nil
			}
			i.key = append(i.key, number(i.values[at][1:])-1)
		}
	} else if strings.Contains(i.conflict, "UPDATE") {
		return nil
	}
	names := make([]string, len(lists))
	for at := range names {
		names[at] = "c" + strconv.Itoa(at+1)
	}
	taken := make([]string, len(i.values))
	for n, v := range i.values {
		taken[n] = placeholder.ReplaceAllString(v, "v.c$1")
	}
	i.merged = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS v(%s)", i.table, strings.Join(i.columns, ", "),
		strings.Join(taken, ", "), strings.Join(lists, ", "), strings.Join(names, ", "))
	if i.conflict != "" {
		i.merged += " " + i.conflict
	}
	return i
}

// commas splits a list at the commas that are in no parentheses; nil where these do not match.
func commas(list string) (out []string) {
	depth, from := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return nil
			}
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}

// keyOf tells the rows from each other that an insertion updates where it finds them; "" where it updates none.
func (i *insertion) keyOf(args []any) string {
	if i.key == nil {
		return ""
	}
	var out strings.Builder
	for _, at := range i.key {
		if at >= len(args) {
			return ""
		}
		fmt.Fprintf(&out, "%T:%q,", args[at], fmt.Sprint(args[at]))
	}
	return out.String()
}
