package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/lease"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// AnswerWithin is how long a request may be answered: longer than any wait and deadline that a request can carry.
const AnswerWithin = 10 * time.Minute

// Permissions are the subjects a user may use. Every other subject is denied.
type Permissions struct {
	Publish   []string
	Subscribe []string
	Responds  bool // may answer what it is asked
}

// requests lists what a bot may ask of its bank, each by the last token of its subject: those answered once, and those
// answered by a stream of messages.
func requests() (single, streamed []string) {
	for _, e := range wire.Endpoints() {
		switch {
		case e.Role != wire.Bot:
		case e.Streams:
			streamed = append(streamed, e.Name)
		default:
			single = append(single, e.Name)
		}
	}
	return single, streamed
}

// Requests lists the requests that a bot may make of its bank, by the last token of their subjects.
func Requests() []string {
	single, streamed := requests()
	return append(single, streamed...)
}

// Permissions returns what the user may do under the names of a deployment.
func (u User) Permissions(n events.Naming) Permissions {
	switch u.Role {
	case RoleBot:
		return bot(n, u.Bank)
	case RoleWorker:
		return worker(n)
	case RoleOperator:
		return operator(n)
	case RoleRestorer:
		return restorer(n)
	}
	return Permissions{}
}

// Inside returns what the stages in the process of the embedded server may do: what workers and operators may.
func Inside(n events.Naming) Permissions {
	p := worker(n)
	p.Publish = append(p.Publish, operator(n).Publish...)
	p.Subscribe = append(p.Subscribe, operator(n).Subscribe...)
	return p
}

// subject returns a subject of one bank, or of every bank for "*".
func subject(n events.Naming, bank, rest string) string {
	return strings.TrimSuffix(n.Subject(bank, rest, ""), ".")
}

// bot allows a bank's requests, messages and flushes, and to subscribe to its changes. Windows, writes, dead letters
// and everything else that workers publish are not listed, and so denied.
func bot(n events.Naming, bank memory.BankID) Permissions {
	tok := events.EncodeToken(string(bank))
	return Permissions{
		Publish:   []string{subject(n, tok, "*"), n.Subject(tok, events.KindMessage, "*"), n.Subject(tok, events.KindFlush, "*")},
		Subscribe: []string{n.Subject(tok, events.KindChange, ">"), InboxPrefix(bank) + ".>", "_INBOX.>"},
	}
}

// worker allows what the four stages do: create and update the streams and buckets, read and write them, erase single
// events, take and acknowledge windows, answer requests, ask each other whether they are there. The only request it may
// make is entities, which extractors show to a model. It cannot delete or purge a stream, and has no operator's rights.
func worker(n events.Naming) Permissions {
	p := Permissions{Responds: true, Subscribe: []string{
		subject(n, "*", "*"), n.Subject("*", events.KindIntake, "*.*"), lease.Subject(n, "*"), "_INBOX.>", "$SRV.>",
	}}
	add := func(subjects ...string) { p.Publish = append(p.Publish, subjects...) }
	add(subject(n, "*", "entities"), lease.Subject(n, "*"), "$JS.API.INFO")
	for _, s := range n.Streams(events.StreamOptions{}) {
		add(s.Subjects...)
		add(reads(s.Name)...)
		add("$JS.API.STREAM.CREATE."+s.Name, "$JS.API.STREAM.UPDATE."+s.Name, "$JS.API.STREAM.MSG.DELETE."+s.Name)
	}
	for _, b := range n.Buckets(events.StreamOptions{}) {
		stream := "KV_" + b.Bucket
		add("$KV." + b.Bucket + ".>")
		add(reads(stream)...)
		add("$JS.API.STREAM.CREATE."+stream, "$JS.API.STREAM.UPDATE."+stream, "$JS.API.STREAM.MSG.DELETE."+stream)
	}
	add("$JS.ACK." + n.Windows() + ".>")
	return p
}

// reads returns the subjects needed to read a stream.
func reads(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream, "$JS.API.DIRECT.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.INFO." + stream + ".*",
		"$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".*",
	}
}

// operator allows every request, those of operators included, to subscribe to every bank's changes, and to inspect,
// back up and restore the streams. It may publish to none of them.
func operator(n events.Naming) Permissions {
	p := Permissions{
		Publish: []string{
			subject(n, "*", "*"), "$SRV.>", "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST",
		},
		Subscribe: []string{n.Subject("*", events.KindChange, ">"), "_INBOX.>"},
	}
	kept := []string{n.Messages(), n.Writes(), n.Changes(), n.Dead()}
	for _, s := range n.AllStreams() {
		api := []string{"STREAM.INFO.", "STREAM.MSG.GET.", "DIRECT.GET.", "CONSUMER.NAMES.", "CONSUMER.LIST.", "STREAM.SNAPSHOT.", "STREAM.RESTORE."}
		for _, a := range api {
			p.Publish = append(p.Publish, "$JS.API."+a+s)
		}
		p.Publish = append(p.Publish, "$JS.API.DIRECT.GET."+s+".>", "$JS.API.CONSUMER.INFO."+s+".*", "$JS.SNAPSHOT.ACK."+s+".>", "$JS.SNAPSHOT.RESTORE."+s+".>")
		if slices.Contains(kept, s) { // a second consumer of a work queue would take its work away
			p.Publish = append(p.Publish, "$JS.API.CONSUMER.CREATE."+s+".>", "$JS.API.CONSUMER.DELETE."+s+".*", "$JS.API.CONSUMER.MSG.NEXT."+s+".*")
		}
	}
	return p
}

// restorer allows what operator does, and to publish messages and append writes for any bank, as restoring an export
// needs.
func restorer(n events.Naming) Permissions {
	p := operator(n)
	for _, kind := range []string{events.KindMessage, events.KindFlush, events.KindWrite} {
		p.Publish = append(p.Publish, n.Subject("*", kind, "*"))
	}
	return p
}

// Exports are the subjects that the account of the streams shares with the accounts of banks. Requests and publishes go
// in, changes come out.
type Exports struct {
	Requests []string // one answer each
	Streamed []string // any number of answers
	Events   []string
	// Intake are the subjects on which ingest takes the publishes of banks, in place of the stream: a stream heeds
	// headers of JetStream that tell a publisher of other banks. Published are the subjects that the bots publish to;
	// one token, the session, stands in for the wildcard at the end of both. Offered names no Published.
	Intake, Published []string
}

// exports returns the subjects of one bank, or of every bank ("*") for "".
func exports(n events.Naming, bank memory.BankID) Exports {
	tok := "*"
	if bank != "" {
		tok = events.EncodeToken(string(bank))
	}
	d := Exports{Events: []string{n.Subject(tok, events.KindChange, "*")}}
	for _, kind := range []string{events.KindMessage, events.KindFlush} {
		d.Intake = append(d.Intake, n.Subject(tok, events.KindIntake, kind+".*"))
		if bank != "" {
			d.Published = append(d.Published, n.Subject(tok, kind, "*"))
		}
	}
	single, streamed := requests()
	for _, r := range single {
		d.Requests = append(d.Requests, subject(n, tok, r))
	}
	for _, r := range streamed {
		d.Streamed = append(d.Streamed, subject(n, tok, r))
	}
	return d
}

// Offered returns what the account of the streams exports to the banks.
func Offered(n events.Naming) Exports { return exports(n, "") }

// Of returns what the account of one bank imports.
func Of(n events.Naming, bank memory.BankID) Exports { return exports(n, bank) }

// Conf returns the configuration of a NATS server that enforces what the embedded one enforces: an accounts block, to
// be included at the top level.
func Conf(b Registry, n events.Naming) string {
	var w strings.Builder
	w.WriteString("# Written by `eunoe auth`; a change here is lost with the next one there.\n" +
		"# Public keys only. Include it in the server's configuration.\n" +
		"accounts {\n")
	home := strings.TrimSuffix(n.Messages(), "MESSAGES") + "STREAMS"
	fmt.Fprintf(&w, "  %s: {\n    jetstream: enabled\n", strconv.Quote(home))
	offered := Offered(n)
	w.WriteString("    exports: [\n")
	within := strconv.Quote(AnswerWithin.String())
	for _, s := range append(offered.Requests, offered.Intake...) {
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
		for i, s := range d.Intake {
			to := strconv.Quote(d.Published[i])
			fmt.Fprintf(&w, "      { service: { account: %s, subject: %s }, to: %s }\n", strconv.Quote(home), strconv.Quote(s), to)
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
func users(w *strings.Builder, b Registry, n events.Naming, tenant string) {
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
