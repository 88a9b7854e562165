package process

// MaxProcs is exported for its test.
var MaxProcs = maxProcs
