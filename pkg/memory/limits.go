package memory

// The limits on what a caller may send, in bytes or items. They bound the work of one request; the payload limit of the
// broker bounds the whole.
const (
	MaxName      = 256     // a speaker, topic, tag or entity name
	MaxFactText  = 16384   // the text of one fact
	MaxQuery     = 65536   // a query
	MaxImages    = 64      // images of one message
	MaxFacts     = 1000    // facts of one retain
	MaxEntities  = 256     // entities of one fact or filter
	MaxTags      = 64      // tags of one fact or filter
	MaxDimension = 8192    // dimensions of a vector
	MaxLimit     = 1000    // items of a list or a recall
	MaxTokens    = 1000000 // max_tokens of a recall
)
