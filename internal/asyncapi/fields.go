package asyncapi

import (
	"reflect"
	"slices"
	"strings"
)

// field is one member of a JSON object.
type field struct {
	reflect.StructField
	owner    string // the struct that declares it
	name     string // in JSON
	required bool   // always written
	nullable bool   // a pointer that is written as null
}

// fieldsOf lists the members encoding/json writes for a struct, those of
// embedded structs at their place; an outer member hides an embedded one of
// the same name.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			out = append(out, fieldsOf(f.Type)...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = slices.DeleteFunc(out, func(o field) bool { return o.name == name })
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		out = append(out, field{f, t.Name(), name, !optional, !optional && f.Type.Kind() == reflect.Pointer})
	}
	return out
}

// reach adds to seen the names of all structs a value of the type can hold.
func reach(t reflect.Type, seen map[string]bool) {
	switch t {
	case timeType, durationType, vectorType, rawType, judgeType:
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		reach(t.Elem(), seen)
	case reflect.Struct:
		if seen[componentName(t)] {
			return
		}
		seen[componentName(t)] = true
		for _, f := range fieldsOf(t) {
			reach(f.Type, seen)
		}
	}
}
