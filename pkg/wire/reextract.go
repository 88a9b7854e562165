package wire

// ReextractRequest asks for the windows of a bank, or of one of its sessions, to be extracted again.
type ReextractRequest struct {
	Bank    string `json:"bank"`
	Session string `json:"session,omitempty"` // "" = every session
}

// ReextractReply counts windows.
type ReextractReply struct {
	Windows  int `json:"windows"`   // put on the queue
	UnderWay int `json:"under_way"` // left out: on the queue or parked already
	Bare     int `json:"bare"`      // left out: every message is forgotten, or is none to extract
}
