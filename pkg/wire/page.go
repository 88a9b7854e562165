package wire

// Page is a page of a list. Items is never null; Next is "" at the end.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}
