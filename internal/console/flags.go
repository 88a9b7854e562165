package console

import "github.com/spf13/pflag"

// Optional adds a flag of a value that nil stands for where the flag is not given. add is the method of f that adds a
// flag of this type (f.IntVar); value is the default that help shows.
func Optional[T any](f *pflag.FlagSet, add func(to *T, name string, value T, usage string), to **T, name string, value T, usage string) {
	v := new(T)
	add(v, name, value, usage)
	afterSet(f, name, func() { *to = v })
}

// Names adds a flag of a list of words, which commas separate or which repeat it.
func Names[T ~string](f *pflag.FlagSet, to *[]T, name, usage string) {
	var words []string
	f.StringSliceVar(&words, name, nil, usage)
	afterSet(f, name, func() {
		*to = make([]T, len(words))
		for i, w := range words {
			(*to)[i] = T(w)
		}
	})
}

// afterSet calls then after each time that a flag is set.
func afterSet(f *pflag.FlagSet, name string, then func()) {
	flag := f.Lookup(name)
	flag.Value = hooked{flag.Value, then}
}

type hooked struct {
	pflag.Value
	then func()
}

// Set sets the value and calls the hook.
func (h hooked) Set(s string) error {
	err := h.Value.Set(s)
	h.then()
	return err
}
