package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// DamageError says where a state file cannot be read.
type DamageError struct {
	Path   string
	Offset int64
	Err    error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("state file %s is damaged at byte %d: %v; it was left as it is, move it away to start with an empty ruleset",
		e.Path, e.Offset, e.Err)
}

// Unwrap gives the reason.
func (e *DamageError) Unwrap() error { return e.Err }

var errForeign = errors.New("this is no state file")

// file is what is known of the file that was read.
type file struct {
	info     os.FileInfo // nil: there was none
	head     [headSize]byte
	schema   *fileSchema
	snapshot int64  // end of the snapshot
	end      int64  // end of the last whole record
	records  int    // of the journal
	folded   uint64 // transactions that the snapshot holds
}

// load brings the state up to date with the file. It reads only what was
// appended if the file is the one it knows.
func (s *Store) load() error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.forget()
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if s.isKnown(f) && info.Size() >= s.file.end {
		return s.readJournal(f, info)
	}
	return s.readAll(f, info)
}

// headSize is the size of the beginning of a file that no other file has: the
// magic and the record of its identity.
const (
	identitySize = 16
	headSize     = len(magic) + headerSize + identitySize
)

// isKnown tells whether a file is the one that was read. Inodes do not tell,
// since a file that took the place of another may get its number.
func (s *Store) isKnown(f *os.File) bool {
	if s.file.info == nil {
		return false
	}
	var head [headSize]byte
	_, err := f.ReadAt(head[:], 0)
	return err == nil && head == s.file.head
}

// readAll reads a file from its beginning.
func (s *Store) readAll(f *os.File, info os.FileInfo) error {
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return err
	}
	return s.parse(data, info)
}

// parse reads the whole content of a file, which must not change afterwards.
func (s *Store) parse(data []byte, info os.FileInfo) error {
	s.forget()
	if len(data) == 0 {
		return nil
	}
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return &DamageError{s.path, 0, errForeign}
	}
	at := int64(len(magic))
	content, err := s.head(data, &at, recordIdentity)
	if err != nil {
		return err
	}
	if len(content) != identitySize {
		return &DamageError{s.path, int64(len(magic)), fmt.Errorf("an identity of %d bytes", len(content))}
	}
	if content, err = s.head(data, &at, recordSchema); err != nil {
		return err
	}
	start := at
	schema, err := readSchema(content)
	if err != nil {
		return &DamageError{s.path, int64(headSize), fmt.Errorf("schema: %w", err)}
	}
	if content, err = s.head(data, &at, recordSnapshot); err != nil {
		return err
	}
	state, err := readSnapshot(content, schema, s.now())
	if err != nil {
		return &DamageError{s.path, start, fmt.Errorf("snapshot: %w", err)}
	}
	s.state = *state
	s.file = file{info: info, head: [headSize]byte(data), schema: schema, snapshot: at, end: at, folded: state.Sequence}
	return s.replay(data[at:])
}

// head reads one of the records that begin a file. These were written before
// the file got its name, so that none can be torn.
func (s *Store) head(data []byte, at *int64, want recordKind) ([]byte, error) {
	var kind recordKind
	var content []byte
	size, err := 0, errTorn
	if rest := data[*at:]; len(rest) > 0 {
		kind, content, size, err = nextRecord(rest)
	}
	if err == nil && kind != want {
		err = fmt.Errorf("a record of kind %d where %d belongs", kind, want)
	}
	if err != nil {
		return nil, &DamageError{s.path, *at, err}
	}
	*at += int64(size)
	return content, nil
}

// readJournal reads what was appended to the file since the last time.
func (s *Store) readJournal(f *os.File, info os.FileInfo) error {
	more := info.Size() - s.file.end
	if more == 0 {
		return nil
	}
	data := make([]byte, more)
	if _, err := f.ReadAt(data, s.file.end); err != nil {
		return err
	}
	return s.replay(data)
}

// replay applies the records of the journal that data holds.
func (s *Store) replay(data []byte) error {
	for len(data) > 0 {
		kind, content, size, err := nextRecord(data)
		if errors.Is(err, errTorn) {
			return nil // never confirmed
		}
		if err == nil {
			err = s.state.replay(kind, content, s.file.schema, s.follow)
		}
		if err != nil {
			damage := &DamageError{s.path, s.file.end, err}
			s.forget()
			return damage
		}
		data = data[size:]
		s.file.end += int64(size)
		s.file.records++
	}
	return nil
}

// append writes a record at the end of the journal and syncs it. Where that
// fails, the file is cut back to what it was.
func (s *Store) append(record []byte) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(s.file.end); err != nil {
		return err
	}
	if _, err = f.WriteAt(record, s.file.end); err == nil {
		err = syncFile(f)
	}
	if err != nil {
		return errors.Join(err, f.Truncate(s.file.end))
	}
	s.file.end += int64(len(record))
	s.file.records++
	return nil
}

// appendHead writes what a new file begins with: the magic, an identity that
// no other file has, and the schema.
func appendHead(b []byte) []byte {
	var identity [identitySize]byte
	rand.Read(identity[:]) // never fails
	b = appendRecord(append(b, magic...), recordIdentity, identity[:])
	return appendRecord(b, recordSchema, ownSchema().text)
}

// rewrite replaces the file by one that holds a state and possibly a record of
// the journal.
func (s *Store) rewrite(state *State, record []byte) error {
	data := appendHead(nil)
	data = appendRecord(data, recordSnapshot, appendSnapshot(nil, state, s.now()))
	snapshot := int64(len(data))
	data = append(data, record...)
	info, err := replaceFile(s.path, data)
	if err != nil {
		return err
	}
	schema, err := readSchema(ownSchema().text)
	if err != nil {
		return err
	}
	s.file = file{info: info, head: [headSize]byte(data), schema: schema, snapshot: snapshot, end: int64(len(data)), folded: state.Sequence}
	if len(record) > 0 {
		s.file.records = 1
	}
	return nil
}

// replaceFile writes a file so that after a crash its name leads to the old
// content or to the new.
func replaceFile(path string, data []byte) (os.FileInfo, error) {
	name := path + ".new"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return info, syncDir(filepath.Dir(path))
}
