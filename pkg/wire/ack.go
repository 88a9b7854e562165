package wire

// Ack is the broker's acknowledgement of a publish.
type Ack struct {
	Stream    string `json:"stream"`
	Seq       uint64 `json:"seq"`                 // what after takes
	Duplicate bool   `json:"duplicate,omitempty"` // not stored: publish again without Nats-Msg-Id
}
