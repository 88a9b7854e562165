package access

import (
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// AnswerWithin is how long a request may be answered: longer than the longest
// wait and deadline that a request can carry.
const AnswerWithin = 10 * time.Minute

// Permissions are the subjects a user may use. What is not listed is denied.
type Permissions struct {
	Publish   []string
	Subscribe []string
	Responds  bool // may answer what it is asked
}

// requests are what a bot may ask its bank; each is answered once, but for
// those of streamed.
var requests = []string{
	"recall", "observe", "consolidate", "retain", "forget", "feedback", "edit", "conflicts", "bank",
	"get", "list", "tree", "entities", "history", "changes", "status",
}

// streamed are requests with any number of answers.
var streamed = []string{"reflect"}

// Requests lists the requests that a bot may make of its bank, as they stand
// last in a subject.
func Requests() []string { return append(slices.Clone(requests), streamed...) }

// Permissions are what the user may do under the names of a deployment.
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

// Inside is what the stages in the embedded server's own process may do: they
// are workers, and whatever serves people there asks in their name.
func Inside(n events.Naming) Permissions {
	p := worker(n)
	p.Publish = append(p.Publish, operator(n).Publish...)
	p.Subscribe = append(p.Subscribe, operator(n).Subscribe...)
	return p
}

// subject names what stands under one bank, or "*" for each.
func subject(n events.Naming, bank, rest string) string {
	return strings.TrimSuffix(n.Subject(bank, rest, ""), ".")
}

// bot allows a bank's requests, messages and flushes, and to hear its changes.
// Windows, writes, dead letters and whatever else the workers publish are not
// listed, and so denied.
func bot(n events.Naming, bank memory.BankID) Permissions {
	tok := events.EncodeToken(string(bank))
	return Permissions{
		Publish:   []string{subject(n, tok, "*"), n.Subject(tok, events.KindMessage, "*"), n.Subject(tok, events.KindFlush, "*")},
		Subscribe: []string{n.Subject(tok, events.KindChange, ">"), InboxPrefix(bank) + ".>", "_INBOX.>"},
	}
}

// worker allows what the four stages do: make and correct the streams and
// buckets, read and write them, erase single events, take and end windows,
// answer. It asks the banks for nothing but entities, which extractors offer to
// a model. It cannot delete or purge a stream, and administers nothing.
func worker(n events.Naming) Permissions {
	p := Permissions{Responds: true, Subscribe: []string{subject(n, "*", "*"), "_INBOX.>", "$SRV.>"}}
	add := func(subjects ...string) { p.Publish = append(p.Publish, subjects...) }
	add(subject(n, "*", "entities"), "$JS.API.INFO")
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

// reads are what reading a stream takes.
func reads(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream, "$JS.API.DIRECT.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.INFO." + stream + ".*",
		"$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".*",
	}
}

// operator allows every request, the operators' own among them, to hear every
// bank's changes, and to look at, back up and restore the streams. It publishes
// to none of them.
func operator(n events.Naming) Permissions {
	p := Permissions{
		Publish: []string{
			subject(n, "*", "*"), "$SRV.>", "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST",
		},
		Subscribe: []string{n.Subject("*", events.KindChange, ">"), "_INBOX.>"},
	}
	kept := []string{n.Messages(), n.Writes(), n.Changes(), n.Dead()}
	for _, s := range append(streams(n), buckets(n)...) {
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

// restorer is an operator who publishes messages and appends writes in the name
// of any bank, as it takes to make one anew from an export.
func restorer(n events.Naming) Permissions {
	p := operator(n)
	for _, kind := range []string{events.KindMessage, events.KindFlush, events.KindWrite} {
		p.Publish = append(p.Publish, n.Subject("*", kind, "*"))
	}
	return p
}

func streams(n events.Naming) []string {
	var out []string
	for _, s := range n.Streams(events.StreamOptions{}) {
		out = append(out, s.Name)
	}
	return out
}

func buckets(n events.Naming) []string {
	var out []string
	for _, b := range n.Buckets(events.StreamOptions{}) {
		out = append(out, "KV_"+b.Bucket)
	}
	return out
}
