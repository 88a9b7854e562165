package chatproxy

import (
	"io"
	"net/http"
)

// Insert returns a body with a message before the last of the user's; last says that there is one.
func Insert(body []byte, text string) (out []byte, last bool, err error) {
	r, err := parse(body)
	if err != nil || r.last < 0 {
		return body, false, err
	}
	r.identify(r.session())
	out, err = r.with(text)
	return out, true, err
}

// TextOf returns the text of an answer that comes in pieces, "" for none.
func TextOf(header http.Header, body io.Reader) (text string, passed []byte, err error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(body)}
	listen(resp, func(s string) { text = s })
	passed, err = io.ReadAll(resp.Body)
	return text, passed, err
}
