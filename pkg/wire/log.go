package wire

import "github.com/eunoe-memory/eunoe/pkg/memory"

// The requests that the log keeps as they were made. Package memory owns their types, because the write event of such a
// request holds the request itself.
type (
	// WriteControl is what every write request may carry.
	WriteControl = memory.WriteControl
	// ObservationInput is an observation handed in ready-made.
	ObservationInput = memory.ObservationInput
	// ObserveRequest derives observations from the bank's facts.
	ObserveRequest = memory.ObserveRequest
	// ConsolidateRequest runs what waits for a schedule.
	ConsolidateRequest = memory.ConsolidateRequest
	// EditRequest makes a new version of a fact.
	EditRequest = memory.EditRequest
	// ConflictRequest lists conflicts by state, or resolves or dismisses one.
	ConflictRequest = memory.ConflictRequest
	// AliasRequest says that several names are one entity.
	AliasRequest = memory.AliasRequest
	// FeedbackRequest says what a recall was good for.
	FeedbackRequest = memory.FeedbackRequest
	// ForgetRequest erases a record, a session or what a speaker said.
	ForgetRequest = memory.ForgetRequest
	// BankUpdate reads, makes or changes a bank's profile.
	BankUpdate = memory.BankUpdate
)
