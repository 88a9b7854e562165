// Command extractor runs the extraction stage of Eunoe as a process of its own. It needs the broker alone: no store, no
// cgo.
package main

import (
	"github.com/eunoe-memory/eunoe/internal/app/extractor"
	"github.com/eunoe-memory/eunoe/internal/app/process"
)

func main() { process.Main(extractor.Stage()) }
