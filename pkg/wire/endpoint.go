package wire

import "reflect"

// Role says who may use an endpoint.
type Role int

const (
	// Bot may use the endpoints of its own bank: <prefix>.<bank>.<name>.
	Bot Role = iota
	// Operator may use those of every bank, and the ones under <prefix>.admin.
	Operator
)

// Endpoint is one entry of the table: a request subject with the types of its request and reply. Its zero Role is Bot.
type Endpoint[Request, Reply any] struct {
	Name    string // the last token of the subject
	Role    Role
	Summary string // one sentence, in the imperative
	// RequestName and ReplyName are the names of the schemas; "" = the name of the Go type.
	RequestName, ReplyName string
	// Streams says that a request with stream: true gets any number of Delta before its reply.
	Streams bool
	// Example is a request and the reply that it could get.
	Example Example[Request, Reply]
}

// Example shows a request of an endpoint and its reply.
type Example[Request, Reply any] struct {
	Request Request
	Reply   Reply
}

// Body is what one side sends: the name of its schema, its Go type and an example.
type Body struct {
	Name    string
	Type    reflect.Type
	Example any
}

// Description is an Endpoint without its type parameters, for what is made from the whole table: permissions, the
// metadata of the service, the AsyncAPI document.
type Description struct {
	Name    string
	Role    Role
	Summary string
	Streams bool
	Request Body
	Reply   Body
}

// Writes reports whether the endpoint changes a bank: its request then can name an op, by which a repeat is known.
func (d Description) Writes() bool {
	_, yes := d.Request.Type.FieldByName("Op")
	return yes
}

// Describe returns the entry without its type parameters.
func (e Endpoint[Request, Reply]) Describe() Description {
	return Description{
		Name: e.Name, Role: e.Role, Summary: e.Summary, Streams: e.Streams,
		Request: body(e.RequestName, e.Example.Request), Reply: body(e.ReplyName, e.Example.Reply),
	}
}

func body[T any](name string, example T) Body {
	t := reflect.TypeFor[T]()
	if name == "" {
		name = t.Name()
	}
	return Body{Name: name, Type: t, Example: example}
}

// Subject returns the request subject under a prefix, with {bank} in the place of the bank.
func (d Description) Subject(prefix string) string {
	if d.Role == Operator {
		return prefix + ".admin." + d.Name
	}
	return prefix + ".{bank}." + d.Name
}

// Metadata is what the service tells of the endpoint in `nats micro info`: the schemas of request and reply.
func (d Description) Metadata() map[string]string {
	return map[string]string{"request": d.Request.Name, "reply": d.Reply.Name, "schema": "eunoe/" + d.Request.Name}
}
