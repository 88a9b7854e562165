package process

import "runtime/debug"

// Version is the release this program is built from.
const Version = "0.1.0"

// Revision is the commit the program was built from, "" where it is not known.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
