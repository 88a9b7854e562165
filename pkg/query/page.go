package query

import (
	"encoding/base64"
	"encoding/json"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// defaultPage is how many items a page has where a request does not say.
const defaultPage = 50

// cursor is what a place looks like to a caller: opaque, and good for the same
// list alone.
type cursor struct {
	List string `json:"l"`
	At   int64  `json:"a,omitempty"`
	No   int64  `json:"n,omitempty"`
	ID   string `json:"i,omitempty"`
}

// cursor writes the place as a cursor of the list; "" for the zero place.
func (p Place) cursor(list string) string {
	if p.IsZero() {
		return ""
	}
	raw, err := json.Marshal(cursor{list, p.At, p.No, p.ID})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// page checks a request's limit (0 = 50) and reads its cursor.
func page(limit int, from, list string) (int, Place, error) {
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > memory.MaxLimit {
		return 0, Place{}, memory.Invalid("limit", "is %d; expected 1 to %d", limit, memory.MaxLimit)
	}
	if from == "" {
		return limit, Place{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(from)
	var c cursor
	if err != nil || json.Unmarshal(raw, &c) != nil || c.List != list {
		return 0, Place{}, memory.Invalid("cursor", "is not a cursor of this list; give the next of the page before, or nothing")
	}
	return limit, Place{c.At, c.No, c.ID}, nil
}
