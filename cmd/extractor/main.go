// Command extractor runs one stage of Eunoe as a process of its own.
package main

import "github.com/eunoe-memory/eunoe/internal/app"

func main() { app.Main(app.Extractor()) }
