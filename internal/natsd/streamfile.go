package natsd

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// damagedSuffix is what the name of a damaged file of settings ends with when it was put aside.
const damagedSuffix = ".damaged"

// streamFiles are the files in which the server has the settings of one stream or consumer. It writes them one after the
// other, and leaves a stream out when it starts if one does not fit the other: whoever makes the stream anew gets its
// events, under another time of creation and without its metadata. It believes what a consumer is said to be, under
// whatever name.
type streamFiles struct {
	dir  string // of the stream or consumer
	key  string // of the checksum
	copy string // of the settings; "" = there is none
	sync bool   // what is written is synced to disk
}

// eachStream calls f for the files of every stream, and then of its consumers, in the directory of a server.
func eachStream(dir string, sync bool, f func(streamFiles) error) error {
	found, err := filepath.Glob(filepath.Join(glob.Replace(dir), server.JetStreamStoreDir, "*", "streams", "*"))
	if err != nil {
		return fmt.Errorf("nats: streams in %s: %w", dir, err)
	}
	var errs []error
	for _, d := range found {
		name, account := filepath.Base(d), filepath.Base(filepath.Dir(filepath.Dir(d)))
		if strings.HasPrefix(name, ".") { // it is being deleted
			continue
		}
		errs = append(errs, f(streamFiles{dir: d, key: name, copy: filepath.Join(dir, "settings", account, name+".json"), sync: sync}))
		consumers, err := os.ReadDir(filepath.Join(d, "obs"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("nats: consumers of %s: %w", name, err))
		}
		for _, c := range consumers {
			errs = append(errs, f(streamFiles{dir: filepath.Join(d, "obs", c.Name()), key: name + "/" + c.Name(), sync: sync}))
		}
	}
	return errors.Join(errs...)
}

// glob takes the meaning from the characters of a directory that filepath.Match knows.
var glob = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// KeepSettings copies the settings of every stream to a place beside the streams, from where Start brings them back if it
// finds them damaged. Start does it too; call it after streams were made.
func (s *Server) KeepSettings() error { return eachStream(s.dir, s.sync, streamFiles.keep) }

// keep copies the settings of a stream unless they are damaged, or being written at this moment.
func (f streamFiles) keep() error {
	if f.copy == "" {
		return nil
	}
	raw, whole, err := f.read()
	if err != nil || !whole {
		return err
	}
	if had, err := os.ReadFile(f.copy); err == nil && bytes.Equal(had, raw) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.copy), 0o750); err != nil {
		return fmt.Errorf("nats: keep the settings of %s: %w", f.key, err)
	}
	return f.write(f.copy, raw)
}

// mend makes the settings whole where they are not: from their copy, else as they are if they can be read. Others are put
// aside, so that the stream or consumer can be made anew with what its files hold. Settings that are not there are none.
func (f streamFiles) mend(log zerolog.Logger) error {
	raw, whole, err := f.read()
	if err != nil || whole || raw == nil {
		return err
	}
	log = log.With().Str("stage", "nats").Str("stream", f.key).Int("bytes", len(raw)).Logger()
	if had, err := os.ReadFile(f.copy); f.copy != "" && err == nil && f.names(had) {
		log.Warn().Msg("the settings of a stream are damaged; they are brought back from their copy, and the stream has its events")
		return errors.Join(f.write(f.meta(), had), f.write(f.sum(), f.checksum(had)))
	}
	if f.names(raw) {
		log.Warn().Msg("settings of the broker and their checksum differ; the checksum is written anew")
		return f.write(f.sum(), f.checksum(raw))
	}
	log.Error().Str("file", f.meta()+damagedSuffix).
		Msg("settings of the broker are damaged and there is no copy of them; they are put aside, and the stream or consumer is made anew with what its files hold")
	if err := os.Rename(f.meta(), f.meta()+damagedSuffix); err != nil {
		return fmt.Errorf("nats: put the settings of %s aside: %w", f.key, err)
	}
	return nil
}

func (f streamFiles) meta() string { return filepath.Join(f.dir, server.JetStreamMetaFile) }
func (f streamFiles) sum() string  { return filepath.Join(f.dir, server.JetStreamMetaFileSum) }

// read returns the settings, not nil if there are any, and whether they are what the server wrote. Encrypted ones, which
// Eunoe never writes, are nil.
func (f streamFiles) read() (raw []byte, whole bool, err error) {
	if _, err := os.Stat(filepath.Join(f.dir, server.JetStreamMetaFileKey)); err == nil {
		return nil, false, nil
	}
	raw, err = os.ReadFile(f.meta())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("nats: settings of %s: %w", f.key, err)
	}
	sum, err := os.ReadFile(f.sum())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("nats: settings of %s: %w", f.key, err)
	}
	return raw, bytes.Equal(sum, f.checksum(raw)) && f.names(raw), nil
}

// names reports whether settings can be read and are those of this stream or consumer.
func (f streamFiles) names(raw []byte) bool {
	var s struct {
		Name    string `json:"name"`
		Durable string `json:"durable_name"` // of a consumer
	}
	err, name := json.Unmarshal(raw, &s), filepath.Base(f.dir)
	return err == nil && s.Name == name && (s.Durable == "" || s.Durable == name)
}

// checksum returns what the server writes beside settings.
func (f streamFiles) checksum(raw []byte) []byte {
	key := sha256.Sum256([]byte(f.key))
	sum := highwayhash.Sum64(raw, key[:])
	return hex.AppendEncode(nil, binary.LittleEndian.AppendUint64(nil, sum))
}

// write replaces a file of settings by a rename.
func (f streamFiles) write(path string, data []byte) error {
	if err := replaceFile(path, ".new", data, f.sync); err != nil {
		return fmt.Errorf("nats: settings of %s: %w", f.key, err)
	}
	return nil
}

// replaceFile writes a file under its name and a suffix, and then renames it.
func replaceFile(path, suffix string, data []byte, sync bool) error {
	tmp, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if sync {
		err = errors.Join(err, tmp.Sync())
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+suffix, path); err != nil || !sync {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
