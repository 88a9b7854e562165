package settings

// ExtractionSettings bound what extraction with a language model costs.
type ExtractionSettings struct {
	TokenBudget int     `env:"TOKEN_BUDGET" envDefault:"0" doc:"tokens of language models that a bank may take on one UTC day; 0 is no bound"`
	Novelty     bool    `env:"NOVELTY" envDefault:"false" doc:"a window in which nothing new is said is not put to the model"`
	Topics      int     `env:"TOPICS" envDefault:"0" doc:"tokens of messages after which the next turn of the topic starts another call; 0 is one call for a window"`
	Compress    float64 `env:"COMPRESS" envDefault:"0" doc:"share of its tokens that a message keeps in the prompt of extraction; 0 is all"`
}

func (s ExtractionSettings) check(wrong func(name, format string, args ...any)) {
	if s.TokenBudget < 0 {
		wrong("TOKEN_BUDGET", "%d must not be negative; 0 is no bound", s.TokenBudget)
	}
	if s.Topics != 0 && (s.Topics < 64 || s.Topics > 1000000) {
		wrong("TOPICS", "%d is out of range; expected 64 to 1000000 tokens, or 0 for off", s.Topics)
	}
	if !(s.Compress >= 0 && s.Compress <= 1) {
		wrong("COMPRESS", "%v is no share; expected 0 to 1", s.Compress)
	}
}
