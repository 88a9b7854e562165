// Command consolidator runs the consolidation stage of Eunoe as a process of its own.
package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/consolidator"
	"github.com/eunoe-memory/eunoe/internal/app/process"
)

func main() { process.Main(consolidator.Stage()) }
