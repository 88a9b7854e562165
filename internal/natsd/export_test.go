package natsd

// Space is what watches the free space of a server.
type Space = space

// NewSpace returns a Space that looks at what free returns, when it is told to; nil = at the disk.
func NewSpace(s *Server, dir string, floor uint64, free func() (uint64, error)) *Space {
	if free == nil {
		free = freeIn(dir)
	}
	s.space = &space{srv: s.srv, dir: dir, free: free, floor: floor}
	return s.space
}

// Look compares the free space with the floor.
func (s *space) Look() error { return s.look() }
