package consolidator

import "time"

// ModelConfig exports the schedule of language model calls.
var ModelConfig = modelConfig

// ForgetAfter sets after how long without a question a rebuild that holds ends.
func ForgetAfter(d time.Duration) { forgottenAfter = d }
