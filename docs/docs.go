// Package docs holds the documents that programs serve.
package docs

import _ "embed" // the document below

// OpenAPI is the OpenAPI document of the gateway, made by `go run ./internal/asyncapi/cmd`.
//
//go:embed openapi.json
var OpenAPI []byte
