package process

// Exported for their tests.
var (
	MaxProcs  = maxProcs
	GCPercent = gcPercent
)
