package server

import (
	"database/sql/driver"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// Statement returns a statement of the common dialect as PostgreSQL takes it. Every parameter is cast to the type of its
// argument, because PostgreSQL would take it for the type of what it first stands beside. What is left over are functions
// that SQLite has, which the schema makes.
func (s *Server) Statement(query string, args []any) (string, []any) {
	types := make([]byte, len(args))
	out := make([]any, len(args))
	for i, a := range args {
		out[i], types[i] = argument(a)
	}
	key := string(types) + query
	if known, ok := s.statements.Load(key); ok {
		return known.(string), out
	}
	text := translate(query, types)
	if s.count.Add(1) < maxStatements {
		s.statements.Store(key, text)
	}
	return text, out
}

// maxStatements bounds how many translations are kept: a filter makes a statement of its own.
const maxStatements = 4096

// casts are the types of arguments in SQL.
var casts = map[byte]string{'n': "", 'i': "::bigint", 'f': "::double precision", 't': "::text", 'b': "::bytea", 'N': "::bigint[]", 'T': "::text[]"}

// argument converts an argument, and says which of the casts it takes.
func argument(v any) (any, byte) {
	switch v := v.(type) {
	case nil:
		return nil, 'n'
	case engine.Values:
		if v.Texts != nil {
			return v.Texts, 'T'
		}
		if v.Numbers == nil {
			return []int64{}, 'N'
		}
		return v.Numbers, 'N'
	case bool:
		if v {
			return int64(1), 'i'
		}
		return int64(0), 'i'
	case string:
		return valid(v), 't'
	case []byte:
		return v, 'b'
	case float64:
		return v, 'f'
	case driver.Valuer:
		value, err := v.Value()
		if err != nil {
			return nil, 'n'
		}
		return argument(value)
	}
	value, err := driver.DefaultParameterConverter.ConvertValue(v)
	switch value := value.(type) {
	case int64:
		return value, 'i'
	case string:
		return valid(value), 't'
	}
	if err != nil {
		return v, 'n'
	}
	return value, 'n'
}

// valid returns a text that PostgreSQL can store: UTF-8 without a NUL.
func valid(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return engine.Text(s)
}

var (
	hints   = regexp.MustCompile(` INDEXED BY \w+`)
	crossed = regexp.MustCompile(`CROSS JOIN(\s+(?:\w+(?:\([^()]*\))?)(?:\s+\w+)?\s+ON\b)`)
	unary   = regexp.MustCompile(`([\s(])\+((?:[a-z]+\.)?[a-z]+)`) // keeps SQLite from an index
	looked  = regexp.MustCompile(`CROSS JOIN (\w+) (\w+) ON (\w+)\.(\w+) = (\w+\.\w+)(?:\s+(?:AND|OR)\b)?`)
	listed  = regexp.MustCompile(`json_each\((\?\d*)\) j CROSS JOIN (\w+) (\w+) ON (\w+)\.(\w+) = j\.value(?:\s+(?:AND|OR)\b)?`)
	ofList  = regexp.MustCompile(`\bj\.`)
	certain = regexp.MustCompile(`(?:\+((?:[a-z]+\.)?bank)|\b(length\((?:[a-z]+\.)?vector\))) = (\?\d*)`)

	ofNumbers = regexp.MustCompile(`\(SELECT group_concat\(\w+, ' '\) FROM \(`)
	concat    = regexp.MustCompile(`group_concat\(([^,]*?), ' '\)`)
	likes     = regexp.MustCompile(`\bLIKE\b`)
	objects   = regexp.MustCompile(`\bjson_object\(`)
	lists     = regexp.MustCompile(`json_each\(\?(\d*)\)`)
	notAmong  = regexp.MustCompile(`\s+NOT\s+IN\s+\(SELECT value FROM json_each\((\?\d*)\)\)`)
	among     = regexp.MustCompile(`\s+IN\s+\(SELECT value FROM json_each\((\?\d*)\)\)`)
	lastRune  = regexp.MustCompile(`char\(1114111\)`)
	nullables = regexp.MustCompile(`\bifnull\(`)
)

// translate rewrites the text of a statement whose arguments are of these types.
func translate(query string, types []byte) string {
	query = hints.ReplaceAllString(query, "")
	if len(ofList.FindAllString(query, 2)) == 1 { // nothing else of the list is asked for
		query = listed.ReplaceAllStringFunc(query, amongListed)
	}
	query = looked.ReplaceAllStringFunc(query, lookedUp)
	for before := ""; before != query; {
		before, query = query, crossed.ReplaceAllString(query, "JOIN$1")
	}
	// Nearly every row named by its number passes these. PostgreSQL takes an expression to be true of one row in two hundred,
	// and compared every row of a table with every number of the list when it took two of them to leave one row.
	query = certain.ReplaceAllString(query, "CASE WHEN $1$2 = $3 THEN TRUE ELSE FALSE END")
	query = unary.ReplaceAllString(query, "$1($2 || '')")
	query = numberLists(query)
	query = concat.ReplaceAllString(query, "string_agg(($1)::text, ' ')")
	query = likes.ReplaceAllString(query, "ILIKE")
	query = objects.ReplaceAllString(query, "json_build_object(")
	query = objectLists(query)
	query = lastRune.ReplaceAllString(query, "chr(1114111)")
	query = nullables.ReplaceAllString(query, "coalesce(")
	query = notAmong.ReplaceAllString(query, " <> ALL($1)")
	query = among.ReplaceAllString(query, " = ANY($1)")
	return parameters(aliased(query), types)
}

// keys are columns that name one row of a table.
var keys = map[string]string{"facts": "no id", "messages": "seq", "composites": "no id", "observations": "no id", "message_events": "seq",
	"fact_vectors": "fact", "message_vectors": "message", "composite_vectors": "composite"}

// amongListed makes a join of a list with the rows that it names by their numbers one look-up of all of them, which takes two
// thirds of the time of one look-up each. A row that is named twice is found once, and rows come in no order.
func amongListed(join string) string {
	m := listed.FindStringSubmatch(join)
	if m[3] != m[4] || m[5] == "id" || !slices.Contains(strings.Fields(keys[m[2]]), m[5]) || strings.HasSuffix(join, "AND") || strings.HasSuffix(join, "OR") {
		return join
	}
	return fmt.Sprintf("(SELECT * FROM %[1]s WHERE %[1]s.%[2]s = ANY(%[3]s) OFFSET 0) %[4]s", m[2], m[5], m[1], m[3])
}

// lookedUp makes a join that names one row a subquery, which is run for each row before it. A plan might otherwise begin with
// all rows that pass the conditions on that table, of which it expects few, and compare each with every row before.
func lookedUp(join string) string {
	m := looked.FindStringSubmatch(join)
	if m[2] != m[3] || !slices.Contains(strings.Fields(keys[m[1]]), m[4]) || strings.HasSuffix(join, "AND") || strings.HasSuffix(join, "OR") {
		return join
	}
	return fmt.Sprintf("JOIN LATERAL (SELECT * FROM %[1]s WHERE %[1]s.%[2]s = %[3]s OFFSET 0) %[4]s ON TRUE", m[1], m[4], m[5], m[2])
}

// objectLists makes lists of objects by string_agg, which writes the same as the schema's json_group_array in time that
// grows with the list and not with its square.
func objectLists(query string) string {
	const list, object = "json_group_array(", "json_build_object("
	for {
		at := strings.Index(query, list+object)
		if at < 0 {
			return query
		}
		open := at + len(list) - 1
		inner, outer := closing(query, open+len(object)), closing(query, open)
		query = query[:at] + "('[' || coalesce(string_agg((" + query[open+1:inner] + ")::text, ','" + query[inner:outer-1] + "), '') || ']')" + query[outer:]
	}
}

// numberLists makes texts of the numbers that a subquery returns by an array, which takes two thirds of the time of an aggregate.
func numberLists(query string) string {
	for from := 0; ; {
		m := ofNumbers.FindStringIndex(query[from:])
		if m == nil {
			return query
		}
		begin, open := from+m[0], from+m[1]-1
		end := closing(query, open)
		if from = open; end < len(query) && query[end] == ')' {
			query = query[:begin] + "array_to_string(ARRAY" + query[open:end] + ", ' ')" + query[end+1:]
		}
	}
}

var (
	subquery = regexp.MustCompile(`\b(?:FROM|JOIN)\s*\(\s*(?:SELECT|WITH)\b`)
	named    = regexp.MustCompile(`^\s*(?:AS\s+)?([A-Za-z_]\w*)`)
	clauses  = regexp.MustCompile(`^(?:WHERE|ORDER|GROUP|HAVING|UNION|EXCEPT|LIMIT|CROSS|JOIN|LEFT|FULL|ON)$`)
)

// aliased names the subqueries of FROM that have no name, which PostgreSQL asks for before version 16.
func aliased(query string) string {
	for n, from := 0, 0; ; n++ {
		at := subquery.FindStringIndex(query[from:])
		if at == nil {
			return query
		}
		open := from + strings.IndexByte(query[from+at[0]:], '(') + at[0]
		end := closing(query, open)
		if name := named.FindStringSubmatch(query[end:]); name == nil || clauses.MatchString(name[1]) {
			query = query[:end] + fmt.Sprintf(" AS s%d", n) + query[end:]
		}
		from = open + 1
	}
}

// closing returns the position behind the parenthesis that closes the one at open.
func closing(query string, open int) int {
	depth, quoted := 0, false
	for i := open; i < len(query); i++ {
		switch c := query[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(query)
}

// parameters numbers the parameters and casts them; one without a number follows the greatest before it. A list becomes a function of arrays.
func parameters(query string, types []byte) string {
	var out strings.Builder
	next, quoted := 0, false
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c == '\'' {
			quoted = !quoted
		}
		if quoted || c != '?' {
			if !quoted && strings.HasPrefix(query[i:], "json_each(?") {
				if m := lists.FindStringSubmatch(query[i:]); m != nil {
					n := next
					if m[1] != "" {
						n = number(m[1]) - 1
					}
					if n < len(types) && (types[n] == 'N' || types[n] == 'T') {
						function := map[byte]string{'N': "each_number", 'T': "each_text"}[types[n]]
						fmt.Fprintf(&out, "%s($%d%s)", function, n+1, casts[types[n]])
						i, next = i+len(m[0])-1, max(next, n+1)
						continue
					}
				}
			}
			out.WriteByte(c)
			continue
		}
		j := i + 1
		for j < len(query) && query[j] >= '0' && query[j] <= '9' {
			j++
		}
		n := next
		if j > i+1 {
			n = number(query[i+1:j]) - 1
		}
		next = max(next, n+1)
		cast := ""
		if n < len(types) {
			cast = casts[types[n]]
		}
		fmt.Fprintf(&out, "$%d%s", n+1, cast)
		i = j - 1
	}
	return out.String()
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // it matched digits
	return n
}
