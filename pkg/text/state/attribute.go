package state

import "strings"

// The attributes that have a form of their own. Others are called as the sentence calls them: "favourite colour".
const (
	Residence     = "residence"
	Employer      = "employer"
	Job           = "job"
	MaritalStatus = "marital status"
	Age           = "age"
	Diet          = "diet"
	Vehicle       = "vehicle"
	Name          = "name"
)

// CountPrefix begins the name of an attribute that counts things. The stems of their words follow: "number of cat".
const CountPrefix = "number of "

// DeniedPrefix begins a value that holds no longer: "not paris".
const DeniedPrefix = "not "

// Attribute returns the one spelling of an attribute's name: lower case, single spaces, British "favourite", and one
// name for synonyms.
func Attribute(name string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "favorite", "favourite")), " ")
	switch name {
	case "e-mail", "email address", "e-mail address":
		return "email"
	case "phone":
		return "phone number"
	case "timezone":
		return "time zone"
	case "home address":
		return "address"
	case "hometown":
		return "home town"
	}
	return name
}
