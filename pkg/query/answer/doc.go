// Package answer holds what reflect, the judge and the adequacy rounds say to a
// language model and read from its answer: prompts, the items as they are
// shown, the tools and their arguments, citations. It does no I/O.
//
// Whatever came from outside is shown between fences that it cannot end, one
// line an item, under a number of its own. A number that was never given names
// nothing: it is the only handle a model has on the memory.
package answer
