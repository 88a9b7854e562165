package memory

import "time"

// Disposition shapes how a bank reads its memory; each trait is 1 to 5, 3 is neutral.
type Disposition struct {
	Skepticism int `json:"skepticism"` // evidence needed, weight of contradiction
	Literalism int `json:"literalism"` // verbatim against paraphrase
	Empathy    int `json:"empathy"`    // prominence of feelings
}

// Validate refuses traits outside 1 to 5 with ErrInvalid.
func (d Disposition) Validate() error {
	for _, t := range []struct {
		name  string
		value int
	}{{"skepticism", d.Skepticism}, {"literalism", d.Literalism}, {"empathy", d.Empathy}} {
		if t.value < 1 || t.value > 5 {
			return Invalid("disposition."+t.name, "is %d; expected 1 to 5", t.value)
		}
	}
	return nil
}

// DefaultDisposition returns the disposition that is neutral in every trait.
func DefaultDisposition() Disposition { return Disposition{3, 3, 3} }

// WindowSettings are a bank's own window settings; nil means the deployment's.
type WindowSettings struct {
	TriggerEvery *int      `json:"trigger_every,omitempty"`
	WindowTokens *int      `json:"window_tokens,omitempty"`
	WindowSize   *int      `json:"window_size,omitempty"`
	RoleFilter   []Role    `json:"role_filter,omitempty"`
	IdleAfter    *Duration `json:"idle_after,omitempty"`
}

// Thresholds are a bank's own similarity thresholds; nil means the embedder's.
type Thresholds struct {
	Dedup    *float64 `json:"dedup,omitempty"`
	Cluster  *float64 `json:"cluster,omitempty"`
	Diameter *float64 `json:"diameter,omitempty"`
}

// Quotas limit what a bank may take in; zero means unlimited.
type Quotas struct {
	MessagesPerSecond float64 `json:"messages_per_second,omitempty"`
	Bytes             int64   `json:"bytes,omitempty"`
	Facts             int64   `json:"facts,omitempty"`
	TokensPerDay      int64   `json:"tokens_per_day,omitempty"` // of language models, prompt and completion, by the UTC day
}

// Bank is the profile of a bank.
type Bank struct {
	ID           BankID          `json:"id"`
	Name         string          `json:"name,omitempty"`
	Description  string          `json:"description,omitempty"`
	Background   string          `json:"background,omitempty"`
	Mission      string          `json:"mission,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Zone         string          `json:"zone,omitempty"` // of the IANA database, in which times without an offset are read; "" = UTC
	Disposition  Disposition     `json:"disposition"`
	Windows      *WindowSettings `json:"windows,omitempty"`
	Thresholds   *Thresholds     `json:"thresholds,omitempty"`
	Quotas       *Quotas         `json:"quotas,omitempty"`
	KeepRecalls  bool            `json:"keep_recalls,omitempty"` // the last recalls are kept for a while, in memory
	Created      time.Time       `json:"created"`
	Version      uint64          `json:"version"`
}

// BankUpdate changes the fields it names of a bank's profile.
type BankUpdate struct {
	Op           string          `json:"op,omitempty"`
	Create       bool            `json:"create,omitempty"` // 409 if the bank exists
	Name         *string         `json:"name,omitempty"`
	Description  *string         `json:"description,omitempty"`
	Background   *string         `json:"background,omitempty"`
	Mission      *string         `json:"mission,omitempty"`
	Instructions *string         `json:"instructions,omitempty"`
	Zone         *string         `json:"zone,omitempty"`
	Disposition  *Disposition    `json:"disposition,omitempty"`
	Windows      *WindowSettings `json:"windows,omitempty"`
	Thresholds   *Thresholds     `json:"thresholds,omitempty"`
	Quotas       *Quotas         `json:"quotas,omitempty"`
	KeepRecalls  *bool           `json:"keep_recalls,omitempty"`
	Wait         *Duration       `json:"wait,omitempty"`
}

// Location returns the bank's zone, UTC where none is set.
func (b Bank) Location() *time.Location {
	zone, err := time.LoadLocation(b.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// ReadsOnly reports whether the update names nothing to set.
func (u BankUpdate) ReadsOnly() bool {
	return !u.Create && u.Name == nil && u.Description == nil && u.Background == nil && u.Mission == nil &&
		u.Instructions == nil && u.Zone == nil && u.Disposition == nil && u.Windows == nil && u.Thresholds == nil && u.Quotas == nil && u.KeepRecalls == nil
}
