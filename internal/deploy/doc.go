// Package deploy holds compose.yaml, the Dockerfile and the server settings in
// the documentation to what the code is. It has tests alone.
package deploy
