package asyncapi

import (
	"reflect"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query"
)

// Body is a message of the document: its name and what it holds.
type Body struct {
	Name string
	Type reflect.Type
}

// Endpoint is one request subject: what is asked and what is answered. The
// names are those of the endpoint's metadata in the micro service.
type Endpoint struct {
	Name    string // last token of the subject
	Admin   bool   // under the prefix's admin, for operators
	Summary string
	Request Body
	Reply   Body
	Pieces  *Body // sent before the reply where the request asks for a stream
}

// Subject is the address of the endpoint's channel.
func (e Endpoint) Subject() string {
	if e.Admin {
		return "mem.admin." + e.Name
	}
	return "mem.{bank}." + e.Name
}

// Endpoints lists every request subject in the order the contract names them.
func Endpoints() []Endpoint {
	list := []Endpoint{
		{Name: "recall", Summary: "Find what bears on a query.", Request: of[memory.RecallRequest]("RecallRequest"), Reply: of[memory.RecallReply]("RecallReply")},
		{Name: "reflect", Summary: "Answer from memory, or pack it for a model.", Request: of[memory.ReflectRequest]("ReflectRequest"), Reply: of[memory.ReflectReply]("ReflectReply")},
		{Name: "observe", Summary: "Derive observations now.", Request: of[memory.ObserveRequest]("ObserveRequest"), Reply: of[memory.ObserveReply]("ObserveReply")},
		{Name: "consolidate", Summary: "Run now what waits for a schedule.", Request: of[memory.ConsolidateRequest]("ConsolidateRequest"), Reply: of[memory.ConsolidateReply]("ConsolidateReply")},
		{Name: "retain", Summary: "Store facts by hand.", Request: of[memory.RetainRequest]("RetainRequest"), Reply: of[memory.RetainReply]("RetainReply")},
		{Name: "edit", Summary: "Make a new version of a fact.", Request: of[memory.EditRequest]("EditRequest"), Reply: of[memory.EditReply]("EditReply")},
		{Name: "conflicts", Summary: "List, resolve or dismiss conflicts.", Request: of[memory.ConflictRequest]("ConflictRequest"), Reply: of[query.ConflictReply]("ConflictReply")},
		{Name: "feedback", Summary: "Say what a recall was good for.", Request: of[memory.FeedbackRequest]("FeedbackRequest"), Reply: of[query.FeedbackReply]("FeedbackReply")},
		{Name: "bank", Summary: "Read, make or change a bank's profile.", Request: of[memory.BankUpdate]("BankUpdate"), Reply: of[query.BankReply]("Bank")},
		{Name: "forget", Summary: "Erase for good.", Request: of[memory.ForgetRequest]("ForgetRequest"), Reply: of[query.ForgetReply]("ForgetReply")},
		{Name: "get", Summary: "Read one record.", Request: of[memory.GetRequest]("GetRequest"), Reply: of[memory.Item]("Item")},
		{Name: "list", Summary: "Page through records.", Request: of[memory.ListRequest]("ListRequest"), Reply: of[memory.Page[memory.Item]]("ItemPage")},
		{Name: "tree", Summary: "Read composites with their children.", Request: of[memory.TreeRequest]("TreeRequest"), Reply: of[memory.Page[memory.TreeNode]]("TreePage")},
		{Name: "entities", Summary: "List entities.", Request: of[memory.EntitiesRequest]("EntitiesRequest"), Reply: of[memory.Page[memory.Entity]]("EntityPage")},
		{Name: "history", Summary: "Read how a fact came to be as it is.", Request: of[memory.HistoryRequest]("HistoryRequest"), Reply: of[query.HistoryReply]("HistoryReply")},
		{Name: "changes", Summary: "Read change events since a sequence.", Request: of[memory.ChangesRequest]("ChangesRequest"), Reply: of[memory.Page[memory.Change]]("ChangesReply")},
		{Name: "status", Summary: "Say where a bank stands.", Request: of[query.StatusRequest]("StatusRequest"), Reply: of[memory.Status]("Status")},
		{Name: "banks", Admin: true, Summary: "List the banks.", Request: of[query.BanksRequest]("BanksRequest"), Reply: of[memory.Page[memory.Bank]]("BankPage")},
		{Name: "dead", Admin: true, Summary: "List, show, retry or drop dead letters.", Request: of[memory.DeadRequest]("DeadRequest"), Reply: of[query.DeadReply]("DeadReply")},
		{Name: "reextract", Admin: true, Summary: "Extract the windows of a bank anew.", Request: of[query.ReextractRequest]("ReextractRequest"), Reply: of[query.ReextractReply]("ReextractReply")},
		{Name: "verify", Admin: true, Summary: "Check the store against itself.", Request: of[query.VerifyRequest]("VerifyRequest"), Reply: of[query.Verification]("Verification")},
		{Name: "erase", Admin: true, Summary: "Erase a bank for good.", Request: of[query.EraseRequest]("EraseRequest"), Reply: of[query.ForgetReply]("Receipt")},
	}
	pieces := of[memory.Delta]("Delta")
	list[1].Pieces = &pieces
	return list
}

func of[T any](name string) Body { return Body{name, reflect.TypeFor[T]()} }

// Event is one subject that is published to a stream.
type Event struct {
	Body
	Subject  string
	Summary  string
	Sends    bool // Eunoe publishes it
	Receives bool // Eunoe reads it
	Public   bool // false: between workers
	Acked    bool // a publisher may ask for the broker's acknowledgement
}

// Events lists every subject that is published to a stream.
func Events() []Event {
	return []Event{
		{of[memory.Message]("message"), "mem.{bank}.message.{session}", "One thing said.", false, true, true, true},
		{of[memory.Flush]("flush"), "mem.{bank}.flush.{session}", "The conversation paused or ended: extract what is left.", false, true, true, true},
		{of[memory.Change]("change"), "mem.{bank}.change.{what}", "What became of something, after its commit.", true, false, true, false},
		{of[memory.Window]("window"), "mem.{bank}.window.{session}", "Workers only: messages to extract together.", true, true, false, false},
		{of[memory.Window]("parked"), "mem.{bank}.parked.{session}", "Workers only: a window that waits for the bank's token budget.", true, true, false, false},
		{of[memory.Write]("write"), "mem.{bank}.write.{kind}", "Workers only: what changes the store.", true, true, false, false},
		{of[events.DeadLetter]("dead"), "mem.{bank}.dead.{stage}", "Workers only: what failed, with its reason.", true, false, false, false},
	}
}
