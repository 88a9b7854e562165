package memory

// DeadRequest is what an operator asks of the dead letters: to list them, to
// show, retry or drop one (ID), or to retry or drop all of a bank and stage (All).
type DeadRequest struct {
	Action string `json:"action,omitempty"` // list (default), show, retry or drop
	Bank   BankID `json:"bank,omitempty"`   // "" = every bank
	Stage  string `json:"stage,omitempty"`  // "" = every stage
	ID     uint64 `json:"id,omitempty"`
	All    bool   `json:"all,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}
