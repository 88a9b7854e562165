// Package process runs stages of the pipeline in one operating system process.
//
// A [Stage] knows how to build itself from a [Process]: the settings, the
// connection to the broker, the models, the metrics. [Main] is the whole of a
// stage's main function; [Run] runs one stage until its context ends; a program
// that runs several stages makes a Process itself and calls its Run method.
// Around the stages a process serves /livez, /readyz and /metrics, writes JSON
// logs, exports traces, and registers each stage as a micro service of the broker.
//
// The package links no stage and no store: a program pays for the stages it names.
package process
