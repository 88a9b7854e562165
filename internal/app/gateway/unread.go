package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// jsonRefusals is a listener whose connections refuse with a JSON body, as every other answer has, what cannot be read as an
// HTTP request at all. No handler sees such a request: net/http answers it in plain text, and often with no reason.
type jsonRefusals struct{ net.Listener }

func (l jsonRefusals) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return refusing{tcp}, nil
	}
	return c, nil
}

// refusing is a whole TCP connection: after a refusal net/http ends its own half first (CloseWrite), or who still sends a body
// would get a reset instead of the answer.
type refusing struct{ *net.TCPConn }

var _ interface{ CloseWrite() error } = refusing{} // net/http looks for it

// plainRefusal are all headers of an answer that net/http writes past the handler. An answer of a handler has more, a date at
// least.
var plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write replaces what net/http says of a request that it could not read. It writes that at once, and closes the connection.
func (c refusing) Write(p []byte) (int, error) {
	head, reason, refused := bytes.Cut(p, plainRefusal)
	status, isResponse := bytes.CutPrefix(head, []byte("HTTP/1.1 "))
	if !refused || !isResponse || bytes.Contains(head, []byte("\r\n")) {
		return c.TCPConn.Write(p)
	}
	number, _, _ := bytes.Cut(status, []byte(" "))
	code, err := strconv.Atoi(string(number))
	if err != nil {
		return c.TCPConn.Write(p)
	}
	message := string(reason)
	switch code {
	case http.StatusBadRequest:
		message = "this is no HTTP request that can be read (" + message + "); expected a path whose percent signs begin %00 to %FF, " +
			"one Host header, and headers as `Name: value`"
	case http.StatusRequestHeaderFieldsTooLarge:
		message = fmt.Sprintf("the headers are larger than %d bytes", maxHeader)
	}
	body, err := json.Marshal(wire.Fault{Error: wire.FaultDetail{Code: code, Message: message}})
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(c.TCPConn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		code, http.StatusText(code), len(body), body)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
