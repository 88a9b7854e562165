package app

import "github.com/eunoe-memory/eunoe/pkg/consolidate/llm"

// Asking gives the numbers of what asks language models beside the consolidator.
func Asking(c Config) llm.Config { return c.asking() }

// StartLocalLogging is StartLocal with the log elsewhere.
var StartLocalLogging = startLocal

// Replacing gives the steps that put a rebuilt store in the old one's place.
var Replacing = replacing

// Turns is how many turns goroutines get.
var Turns = turns
