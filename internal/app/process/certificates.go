package process

import (
	"crypto/tls"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/app/settings"
)

// renewWithin is how long before its end a certificate is warned of: automatic renewals come a month before it.
const renewWithin = 14 * 24 * time.Hour

// warnOfCertificates logs which certificates of the settings do not hold now, or end soon. They are used all the same:
// a deployment goes on for whoever does not verify them.
func warnOfCertificates(c settings.Config, log zerolog.Logger, now time.Time) {
	for _, f := range []struct{ name, cert, key string }{
		{settings.Prefix + "TLS_CERT", c.TLSCert, c.TLSKey}, {settings.Prefix + "HTTP_CERT", c.HTTPCert, c.HTTPKey},
	} {
		if f.cert == "" {
			continue
		}
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			continue // the settings were checked, and whoever uses the pair says what is wrong
		}
		says := ""
		switch from, until := pair.Leaf.NotBefore, pair.Leaf.NotAfter; {
		case until.Before(now):
			says = "the certificate has expired: whoever verifies it does not connect"
		case from.After(now):
			says = "the certificate does not hold yet: whoever verifies it does not connect"
		case until.Before(now.Add(renewWithin)):
			says = "the certificate ends soon: renew it"
		default:
			continue
		}
		log.Warn().Str("setting", f.name).Str("certificate", f.cert).Time("from", pair.Leaf.NotBefore).Time("until", pair.Leaf.NotAfter).Msg(says)
	}
}
