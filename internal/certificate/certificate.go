// Package certificate serves a TLS certificate from files that are renewed while they are in use.
package certificate

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// lookEvery is how often the files of a certificate are looked at, at most.
const lookEvery = time.Second

// File is a certificate and its key in two files. It is safe for concurrent use.
type File struct {
	cert, key string // files
	log       zerolog.Logger

	mu      sync.Mutex
	pair    tls.Certificate
	written time.Time // of the file of the pair
	refused time.Time // of the file that was last found not to hold a pair
	looked  time.Time
}

// Read reads a certificate and its key.
func Read(cert, key string, log zerolog.Logger) (*File, error) {
	c := &File{cert: cert, key: key, log: log, looked: time.Now()}
	info, err := os.Stat(cert)
	if err != nil {
		return nil, err
	}
	c.written = info.ModTime()
	if c.pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
		return nil, err
	}
	return c, nil
}

// Get returns the certificate, read again if its file was written since; it is what tls.Config.GetCertificate asks for.
// One that cannot be read, or does not fit its key (yet), is logged once, and the one before stays in use. The error is
// always nil.
func (c *File) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		c.looked = time.Now()
		c.renew()
	}
	pair := c.pair
	return &pair, nil
}

func (c *File) renew() {
	info, err := os.Stat(c.cert)
	if err == nil && info.ModTime().Equal(c.written) {
		return
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	switch {
	case err == nil:
		c.pair, c.written = pair, info.ModTime()
		c.log.Info().Str("certificate", c.cert).Time("until", pair.Leaf.NotAfter).Msg("the certificate was renewed")
	case info == nil || !info.ModTime().Equal(c.refused):
		c.log.Warn().Err(err).Str("certificate", c.cert).Msg("the certificate cannot be renewed; the one before stays in use")
		if info != nil {
			c.refused = info.ModTime()
		}
	}
}
