package offline

// ReplaceSteps is exported for its test.
var ReplaceSteps = replaceSteps
