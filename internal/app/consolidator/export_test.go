package consolidator

// ModelConfig exports the schedule of language model calls.
var ModelConfig = modelConfig
