package wire

import (
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The endpoints of a bank. Recall, Get, List, Tree, Entities, History, Changes, Status,
// Sessions, Windows, DeadLetters, Recalls and Snapshot write nothing.
var (
	// Recall finds what bears on a query.
	Recall = Endpoint[RecallRequest, RecallReply]{
		Name: "recall", Summary: "Find what bears on a query.",
		Example: Example[RecallRequest, RecallReply]{
			RecallRequest{Query: "What is Alice allergic to?"},
			RecallReply{Recall: "r_1", Items: []memory.Item{exampleItem}, Confidence: .87, Tokens: 9, Fresh: true, Seen: 12, Degraded: []string{}, Took: memory.Duration(8 * time.Millisecond)},
		},
	}
	// Reflect answers a question from memory, or packs what it found for a model.
	Reflect = Endpoint[ReflectRequest, ReflectReply]{
		Name: "reflect", Summary: "Answer from memory, or pack it for a model.", Streams: true,
		Example: Example[ReflectRequest, ReflectReply]{
			ReflectRequest{RecallRequest: RecallRequest{Query: "What may Alice not eat?"}, Style: "context"},
			ReflectReply{Response: "[1] Alice is allergic to shellfish.", Citations: []Citation{{ID: exampleItem.ID, Text: exampleItem.Text}},
				FactsUsed: []string{exampleItem.ID}, Mode: "context", Degraded: []string{}, Fresh: true, Tokens: 9},
		},
	}
	// Observe derives observations, or takes ready-made ones.
	Observe = Endpoint[ObserveRequest, ObserveReply]{
		Name: "observe", Summary: "Derive observations now.",
		Example: Example[ObserveRequest, ObserveReply]{
			ObserveRequest{Query: "food"},
			ObserveReply{Op: "op_1", Write: 7, Observations: []memory.Observation{}},
		},
	}
	// Consolidate runs what waits for a schedule.
	Consolidate = Endpoint[ConsolidateRequest, ConsolidateReply]{
		Name: "consolidate", Summary: "Run now what waits for a schedule.",
		Example: Example[ConsolidateRequest, ConsolidateReply]{
			ConsolidateRequest{Force: true},
			ConsolidateReply{Op: "op_2", Write: 8, Ran: true, Facts: 12, Composites: 2},
		},
	}
	// Retain stores facts by hand, or a text as a message.
	Retain = Endpoint[RetainRequest, RetainReply]{
		Name: "retain", Summary: "Store facts by hand.",
		Example: Example[RetainRequest, RetainReply]{
			RetainRequest{Facts: []memory.FactInput{{Key: "allergy", Text: exampleItem.Text, Type: memory.TypeConstraint}}},
			RetainReply{Op: "op_3", Write: 9, Results: []memory.WriteResult{{Key: "allergy", ID: exampleItem.ID, Outcome: memory.OutcomeAdded}}},
		},
	}
	// Edit makes a new version of a fact.
	Edit = Endpoint[EditRequest, EditReply]{
		Name: "edit", Summary: "Make a new version of a fact.",
		Example: Example[EditRequest, EditReply]{
			EditRequest{ID: "f_1", Text: "Alice is allergic to prawns."},
			EditReply{Op: "op_4", Write: 10, ID: "f_2", Version: 10},
		},
	}
	// Apply makes several changes at once, or says what they would do.
	Apply = Endpoint[ApplyRequest, ApplyReply]{
		Name: "apply", Summary: "Make several changes at once, all or none.",
		Example: Example[ApplyRequest, ApplyReply]{
			ApplyRequest{Changes: []Curation{
				{Op: memory.CurateRemember, As: "$new", Text: "Alice is allergic to prawns."},
				{Op: memory.CurateSupersede, ID: "f_1", By: "$new"},
			}},
			ApplyReply{Op: "op_8", Write: 14, Results: []ApplyResult{
				{Change: memory.CurateRemember, As: "$new", WriteResult: memory.WriteResult{ID: "f_2", Outcome: memory.OutcomeAdded}},
				{Change: memory.CurateSupersede, WriteResult: memory.WriteResult{ID: "f_1", Outcome: memory.OutcomeSuperseded, Reason: "superseded by f_2"}},
			}},
		},
	}
	// Undo takes an apply back, or says what that would do.
	Undo = Endpoint[UndoRequest, UndoReply]{
		Name: "undo", Summary: "Take an apply back, all or nothing.",
		Example: Example[UndoRequest, UndoReply]{
			UndoRequest{Apply: "op_8"},
			UndoReply{Op: "op_9", Write: 15, Results: []memory.WriteResult{{ID: "f_1", Outcome: memory.OutcomeUpdated}, {ID: "f_2", Outcome: memory.OutcomeRemoved}}},
		},
	}
	// Conflicts lists conflicts, or resolves or dismisses one.
	Conflicts = Endpoint[ConflictRequest, ConflictReply]{
		Name: "conflicts", Summary: "List, resolve or dismiss conflicts.",
		Example: Example[ConflictRequest, ConflictReply]{
			ConflictRequest{State: memory.ConflictOpen},
			ConflictReply{Items: []ConflictItem{}},
		},
	}
	// Alias joins names of one entity, or parts them.
	Alias = Endpoint[AliasRequest, AliasReply]{
		Name: "alias", Summary: "Join several names of one entity, or part them.",
		Example: Example[AliasRequest, AliasReply]{
			AliasRequest{Entity: "Misaki", Aliases: []string{"美咲"}},
			AliasReply{Op: "op_8", Write: 14, Entity: "person:misaki", Aliases: []string{"美咲"}},
		},
	}
	// Feedback says what a recall was good for.
	Feedback = Endpoint[FeedbackRequest, FeedbackReply]{
		Name: "feedback", Summary: "Say what a recall was good for.",
		Example: Example[FeedbackRequest, FeedbackReply]{
			FeedbackRequest{Recall: "r_1", Used: []string{exampleItem.ID}, Outcome: "success"},
			FeedbackReply{Op: "op_5", Write: 11},
		},
	}
	// Bank reads, makes or changes the profile of a bank.
	Bank = Endpoint[BankUpdate, BankReply]{
		Name: "bank", Summary: "Read, make or change a bank's profile.", ReplyName: "Bank",
		Example: Example[BankUpdate, BankReply]{BankUpdate{}, BankReply{Bank: exampleBank}},
	}
	// Forget erases a record, a session or what a speaker said.
	Forget = Endpoint[ForgetRequest, ForgetReply]{
		Name: "forget", Summary: "Erase for good.",
		Example: Example[ForgetRequest, ForgetReply]{
			ForgetRequest{Session: "chat-1"},
			ForgetReply{Write: 12, Receipt: memory.Receipt{Op: "op_6", Upto: 12, Messages: 3, Facts: 1, Events: 3}},
		},
	}
	// Get reads one record.
	Get = Endpoint[GetRequest, memory.Item]{
		Name: "get", Summary: "Read one record.",
		Example: Example[GetRequest, memory.Item]{GetRequest{ID: exampleItem.ID}, exampleItem},
	}
	// List pages through records.
	List = Endpoint[ListRequest, Page[memory.Item]]{
		Name: "list", Summary: "Page through records.", ReplyName: "ItemPage",
		Example: Example[ListRequest, Page[memory.Item]]{
			ListRequest{Record: memory.RecordFact, Limit: 20},
			Page[memory.Item]{Items: []memory.Item{exampleItem}},
		},
	}
	// Tree reads composites with their children.
	Tree = Endpoint[TreeRequest, Page[TreeNode]]{
		Name: "tree", Summary: "Read composites with their children.", ReplyName: "TreePage",
		Example: Example[TreeRequest, Page[TreeNode]]{TreeRequest{Depth: 2}, Page[TreeNode]{Items: []TreeNode{{Item: exampleItem}}}},
	}
	// Entities lists the entities of a bank.
	Entities = Endpoint[EntitiesRequest, Page[memory.Entity]]{
		Name: "entities", Summary: "List entities.", ReplyName: "EntityPage",
		Example: Example[EntitiesRequest, Page[memory.Entity]]{
			EntitiesRequest{Match: "ali"},
			Page[memory.Entity]{Items: []memory.Entity{{ID: "person:alice", Type: "person", Name: "Alice", Facts: 1}}},
		},
	}
	// History reads how a fact came to be as it is.
	History = Endpoint[HistoryRequest, HistoryReply]{
		Name: "history", Summary: "Read how a fact came to be as it is.",
		Example: Example[HistoryRequest, HistoryReply]{
			HistoryRequest{ID: exampleItem.ID},
			HistoryReply{ID: exampleItem.ID, Current: []string{exampleItem.ID}, Items: []memory.Item{exampleItem}, Sources: []memory.MessageID{"m1"}},
		},
	}
	// Changes reads change events since a sequence.
	Changes = Endpoint[ChangesRequest, Page[memory.Change]]{
		Name: "changes", Summary: "Read change events since a sequence.", ReplyName: "ChangesReply",
		Example: Example[ChangesRequest, Page[memory.Change]]{
			ChangesRequest{After: 41},
			Page[memory.Change]{Items: []memory.Change{{ID: "w:9:0", What: memory.ChangeFact, Op: memory.OutcomeAdded, Record: "f_1", Write: 9, Time: exampleTime, Seq: 42}}},
		},
	}
	// StatusOf says where a bank stands. (The name Status is that of its reply.)
	StatusOf = Endpoint[StatusRequest, Status]{
		Name: "status", Summary: "Say where a bank stands.",
		Example: Example[StatusRequest, Status]{
			StatusRequest{},
			Status{Messages: StatusMessages{Last: 12}, Facts: 1, Entities: 1, Settled: true, Waiting: []Waiting{},
				Conservation: memory.Conservation{Published: 3, Committed: 2, Empty: 1}},
		},
	}
	// Sessions lists the conversations of a bank.
	Sessions = Endpoint[SessionsRequest, Page[Session]]{
		Name: "sessions", Summary: "List the sessions of a bank.", ReplyName: "SessionPage",
		Example: Example[SessionsRequest, Page[Session]]{
			SessionsRequest{Order: "newest", Limit: 20},
			Page[Session]{Items: []Session{{Session: "chat-1", Messages: 12, First: exampleTime, Last: exampleTime.Add(time.Hour), Seq: 1240}}},
		},
	}
	// Windows lists windows that have not ended, or have.
	Windows = Endpoint[WindowsRequest, Page[WindowStatus]]{
		Name: "windows", Summary: "List the windows of a bank.", ReplyName: "WindowPage",
		Example: Example[WindowsRequest, Page[WindowStatus]]{
			WindowsRequest{State: WindowEnded, Session: "chat-1"},
			Page[WindowStatus]{Items: []WindowStatus{{ID: "w_1", Session: "chat-1", State: WindowEnded, First: 1, Last: 3, Outcome: memory.WindowFacts, Write: 9}}},
		},
	}
	// DeadLetters lists the dead letters of one bank, or shows one.
	DeadLetters = Endpoint[LettersRequest, Page[memory.DeadLetter]]{
		Name: "dead_letters", Summary: "List the dead letters of a bank, or show one.", ReplyName: "DeadLetterPage",
		Example: Example[LettersRequest, Page[memory.DeadLetter]]{
			LettersRequest{Stage: "extract"},
			Page[memory.DeadLetter]{Items: []memory.DeadLetter{{ID: 3, Stage: "extract", Bank: "alice", Session: "chat-1", Reason: "the answer is no JSON",
				Attempts: 3, Stream: "MEM_WINDOWS", Seq: 7, Subject: "mem.alice.window.chat-1", First: exampleTime, Last: exampleTime.Add(time.Minute)}}},
		},
	}
	// Recalls lists the recalls that a bank has kept.
	Recalls = Endpoint[RecallsRequest, RecallsReply]{
		Name: "recalls", Summary: "List what was asked of a bank lately, what was found, and why.",
		Example: Example[RecallsRequest, RecallsReply]{
			RecallsRequest{Limit: 10},
			RecallsReply{On: true, Items: []KeptRecall{{At: exampleTime, Endpoint: "recall", Recall: "r_1", Request: map[string]any{"query": "What is Alice allergic to?"}, Confidence: .87, Tokens: 9, Fresh: true,
				Took:  memory.Duration(8 * time.Millisecond),
				Items: []KeptItem{{ID: exampleItem.ID, Record: memory.RecordFact, Text: exampleItem.Text, Score: .83, Explain: map[string]memory.Contribution{"keyword": {Rank: 1, Score: 4.2}}}}}}},
		},
	}
	// SnapshotOf shows what a curator looks at. (The name Snapshot is that of its reply.)
	SnapshotOf = Endpoint[SnapshotRequest, Snapshot]{
		Name: "snapshot", Summary: "Show what a curator of the memory looks at.",
		Example: Example[SnapshotRequest, Snapshot]{
			SnapshotRequest{Scopes: []string{ScopeStats, ScopeEntity + "Alice"}},
			Snapshot{Tokens: 9, Parts: []SnapshotPart{
				{Scope: ScopeStats, Counts: map[string]int{"facts": 1, "conflicts": 0}},
				{Scope: ScopeEntity + "Alice", Items: []memory.Item{exampleItem}, Entities: []memory.Entity{{ID: "person:alice", Type: "person", Name: "Alice", Facts: 1}}},
			}},
		},
	}
)

// The endpoints of operators.
var (
	// Banks lists the banks of the deployment.
	Banks = Endpoint[BanksRequest, Page[memory.Bank]]{
		Name: "banks", Role: Operator, Summary: "List the banks.", ReplyName: "BankPage",
		Example: Example[BanksRequest, Page[memory.Bank]]{BanksRequest{Limit: 100}, Page[memory.Bank]{Items: []memory.Bank{exampleBank}}},
	}
	// Dead lists, shows, retries or drops dead letters.
	Dead = Endpoint[DeadRequest, DeadReply]{
		Name: "dead", Role: Operator, Summary: "List, show, retry or drop dead letters.",
		Example: Example[DeadRequest, DeadReply]{DeadRequest{Action: "list"}, DeadReply{Items: []memory.DeadLetter{}}},
	}
	// Reextract puts the windows of a bank on the queue again.
	Reextract = Endpoint[ReextractRequest, ReextractReply]{
		Name: "reextract", Role: Operator, Summary: "Extract the windows of a bank anew.",
		Example: Example[ReextractRequest, ReextractReply]{ReextractRequest{Bank: "alice"}, ReextractReply{Windows: 4}},
	}
	// Verify checks the store by itself and against the log.
	Verify = Endpoint[VerifyRequest, Verification]{
		Name: "verify", Role: Operator, Summary: "Check the store against itself.",
		Example: Example[VerifyRequest, Verification]{
			VerifyRequest{},
			Verification{OK: true, Counts: map[string]int{"facts": 1}, Problems: []string{}, Checks: []Check{{Rule: "the store is not ahead of the log"}}},
		},
	}
	// Erase erases a bank, from the store and the streams.
	Erase = Endpoint[EraseRequest, ForgetReply]{
		Name: "erase", Role: Operator, Summary: "Erase a bank for good.", ReplyName: "Receipt",
		Example: Example[EraseRequest, ForgetReply]{
			EraseRequest{Bank: "alice"},
			ForgetReply{Write: 13, Receipt: memory.Receipt{Op: "op_7", Upto: 12, Messages: 3, Facts: 1, Events: 3}},
		},
	}
)

// Endpoints lists the whole table, in the order in which the contract describes the endpoints. An entry that is not
// listed here is not served: a test compares the list with the variables above.
func Endpoints() []Description {
	return []Description{
		Recall.Describe(), Reflect.Describe(), Observe.Describe(), Consolidate.Describe(), Retain.Describe(), Edit.Describe(), Apply.Describe(), Undo.Describe(),
		Conflicts.Describe(), Alias.Describe(), Feedback.Describe(), Bank.Describe(), Forget.Describe(), Get.Describe(), List.Describe(),
		Tree.Describe(), Entities.Describe(), History.Describe(), Changes.Describe(), StatusOf.Describe(),
		Sessions.Describe(), Windows.Describe(), DeadLetters.Describe(), SnapshotOf.Describe(), Recalls.Describe(),
		Banks.Describe(), Dead.Describe(), Reextract.Describe(), Verify.Describe(), Erase.Describe(),
	}
}

// The records of the examples.
var (
	exampleTime = time.Date(2026, 5, 20, 9, 14, 0, 0, time.UTC)
	exampleItem = memory.Item{
		ID: "f_1", Record: memory.RecordFact, Kind: memory.KindWorld, Type: string(memory.TypeConstraint), Text: "Alice is allergic to shellfish.",
		Entities: []memory.EntityID{"person:alice"}, Said: &exampleTime, Children: []string{}, Sources: []memory.MessageID{"m1"},
	}
	exampleBank = memory.Bank{ID: "alice", Disposition: memory.DefaultDisposition(), Created: exampleTime, Version: 1}
)
