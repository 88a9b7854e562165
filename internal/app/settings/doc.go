// Package settings reads the settings of a deployment: the EUNOE_* variables of
// the environment, with the flags of the command line above them.
//
// [Load] returns a [Config] and the list of [Setting] values in effect, each with
// where its value comes from. Every invalid value is reported in one joined error
// that names the variable and what was expected. The package links no stage, so
// that each program pays only for the stage it runs.
package settings
