package access

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Conf is the configuration of a NATS server that says the same as the
// embedded one enforces: an accounts block, to be included at the top level.
func Conf(b Book, n events.Naming) string {
	var w strings.Builder
	w.WriteString("# Written by `eunoe auth`; a change here is lost with the next one there.\n" +
		"# Public keys only. Include it in the server's configuration.\n" +
		"accounts {\n")
	home := strings.TrimSuffix(n.Messages(), "MESSAGES") + "STREAMS"
	fmt.Fprintf(&w, "  %s: {\n    jetstream: enabled\n", strconv.Quote(home))
	offered := Offered(n)
	w.WriteString("    exports: [\n")
	within := strconv.Quote(AnswerWithin.String())
	for _, s := range offered.Requests {
		fmt.Fprintf(&w, "      { service: %s, threshold: %s }\n", strconv.Quote(s), within)
	}
	for _, s := range offered.Streamed {
		fmt.Fprintf(&w, "      { service: %s, response: stream, threshold: %s }\n", strconv.Quote(s), within)
	}
	for _, s := range offered.Events {
		fmt.Fprintf(&w, "      { stream: %s }\n", strconv.Quote(s))
	}
	w.WriteString("    ]\n")
	users(&w, b, n, "")
	w.WriteString("  }\n")
	for _, bank := range b.Banks() {
		fmt.Fprintf(&w, "  %s: {\n    imports: [\n", strconv.Quote(TenantOf(bank)))
		d := Of(n, bank)
		for _, s := range append(d.Requests, d.Streamed...) {
			fmt.Fprintf(&w, "      { service: { account: %s, subject: %s } }\n", strconv.Quote(home), strconv.Quote(s))
		}
		for _, s := range d.Events {
			fmt.Fprintf(&w, "      { stream: { account: %s, subject: %s } }\n", strconv.Quote(home), strconv.Quote(s))
		}
		w.WriteString("    ]\n")
		users(&w, b, n, TenantOf(bank))
		w.WriteString("  }\n")
	}
	w.WriteString("}\n")
	return w.String()
}

// users writes the users of one account.
func users(w *strings.Builder, b Book, n events.Naming, tenant string) {
	w.WriteString("    users: [\n")
	for _, u := range b.Users {
		if u.Tenant() != tenant {
			continue
		}
		p := u.Permissions(n)
		fmt.Fprintf(w, "      # %s %s\n      { nkey: %s, permissions: {\n          publish: { allow: [%s] }\n          subscribe: { allow: [%s] }\n",
			u.Role, events.EncodeToken(u.Name), u.Key, list(p.Publish), list(p.Subscribe))
		if p.Responds {
			fmt.Fprintf(w, "          allow_responses: { max: -1, expires: %s }\n", strconv.Quote(AnswerWithin.String()))
		}
		w.WriteString("      } }\n")
	}
	w.WriteString("    ]\n")
}

func list(subjects []string) string {
	quoted := make([]string, len(subjects))
	for i, s := range subjects {
		quoted[i] = strconv.Quote(s)
	}
	return strings.Join(quoted, ", ")
}
