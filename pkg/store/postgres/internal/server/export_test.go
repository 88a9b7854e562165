package server

import "fmt"

// Merged returns the statements, with their arguments, that are sent for those that wait, of tables with these columns.
// refers says which table refers to which.
func Merged(columns map[string]map[string]string, refers map[string]string, waiting ...Waiting) []string {
	s := new(Server)
	c := &catalogue{types: columns, rank: map[string]int{}}
	for table := range refers {
		c.rank[table] = 1
	}
	s.catalogue.Store(c)
	var list []statement
	for _, w := range waiting {
		query, args := s.Statement(w.Query, w.Args)
		list = append(list, statement{what: w.Query, query: query, args: args, each: w.Each})
	}
	var out []string
	for _, m := range s.merge(list) {
		out = append(out, fmt.Sprintf("%s %v", m.query, m.args))
	}
	return out
}

// Waiting is a statement that waits.
type Waiting struct {
	Query string
	Args  []any
	Each  func(int64)
}
