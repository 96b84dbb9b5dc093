package finish

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
)

// Protection configures the encryption of a PDF.
type Protection struct {
	UserPassword  string // opens the PDF with the permissions; if empty, no password is needed
	OwnerPassword string // opens the PDF with all permissions; if empty, no password does
	Permissions   Permissions
}

// Permissions are what users who open a PDF with the user password may do. Programs are trusted to respect them; only
// the password keeps a PDF secret. Text extraction for accessibility is no longer a permission: ISO 32000-2 always
// allows it.
type Permissions struct {
	Print      bool
	PrintDraft bool // only in low quality; included in Print
	Copy       bool // text and images
	Change     bool // the content, in ways not listed here
	Comment    bool // includes FillForms
	FillForms  bool
	Assemble   bool // insert, remove, and rotate pages, and set bookmarks
}

// AllPermissions returns all permissions, for a PDF that only needs a password to open.
func AllPermissions() Permissions {
	return Permissions{Print: true, PrintDraft: true, Copy: true, Change: true, Comment: true, FillForms: true, Assemble: true}
}

// Encrypt returns a PDF encrypted with AES-256 as in PDF 2.0 (ISO 32000-2, 7.6: V 5, R 6). Acrobat X and later and
// all current readers support it. Passwords may contain any Unicode text that SASLprep allows. A PDF/A cannot be
// encrypted: the error is an ErrArchive.
func Encrypt(pdf []byte, protection Protection) ([]byte, error) {
	keys, err := protection.keys()
	if err != nil {
		return nil, err
	}
	f, err := open(pdf)
	if err != nil {
		return nil, err
	}
	if err := f.allow("encryption"); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Grow(len(pdf) + len(pdf)/8 + 4096)
	w, err := newWriter(&out, "%PDF-"+f.version("1.7"))
	if err != nil {
		return nil, err
	}
	trailer, err := carryAll(f, w, keys)
	if err != nil {
		return nil, err
	}
	if err := w.finish(trailer); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// carryAll writes an encrypted copy of all objects of a file, and returns its trailer.
func carryAll(f *file, w *writer, keys *keys) (dict, error) {
	encryption, err := w.encrypt(keys)
	if err != nil {
		return nil, err
	}
	c := newCopier(f, w)
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	c.change[root] = withExtension
	trailer, err := carryObjects(f, c)
	if err != nil {
		return nil, err
	}
	return trailer.with("ID", newID(f.id(), f.data)).with("Encrypt", encryption), nil
}

// carryObjects writes a copy of all objects of a file, and returns its trailer without an ID.
func carryObjects(f *file, c *copier) (dict, error) {
	trailer := dict{}
	for _, key := range []name{"Root", "Info"} {
		old, ok := f.trailer.get(key).(ref)
		if !ok {
			continue
		}
		value, err := c.refer(old)
		if err != nil {
			return nil, err
		}
		trailer = trailer.with(key, value)
	}
	return trailer, c.carry()
}

// withExtension adds Adobe's extension level 8 to a catalog, which declares that the PDF goes beyond PDF 1.7. PDF 2.0
// took its encryption from that extension.
func withExtension(catalog dict) dict {
	extensions, _ := catalog.get("Extensions").(dict)
	adobe := dict{{"BaseVersion", name("1.7")}, {"ExtensionLevel", number("8")}}
	return catalog.with("Extensions", extensions.with("ADBE", adobe))
}

// keys are the file encryption key of a PDF, and the entries of its encryption dictionary (ISO 32000-2, tables 20 and
// 21).
type keys struct {
	block         cipher.Block
	u, ue, o, oe  []byte
	perms         []byte
	permissionSet int32
}

func (p Protection) keys() (*keys, error) {
	user, err := preparePassword(p.UserPassword)
	if err != nil {
		return nil, err
	}
	owner, err := preparePassword(p.OwnerPassword)
	if err != nil {
		return nil, err
	}
	if len(owner) > 0 && bytes.Equal(owner, user) {
		return nil, errors.New("the two passwords are the same: everyone who opens the PDF would have all permissions")
	}
	key := random(32)
	k := &keys{permissionSet: p.Permissions.bits()}
	k.u, k.ue = wrap(key, user, nil)
	if len(owner) > 0 {
		k.o, k.oe = wrap(key, owner, k.u)
	} else { // matches no password, and needs no hashing
		k.o, k.oe = random(len(k.u)), random(len(k.ue))
	}
	k.block = cipherOf(key)
	k.perms = k.sealPermissions()
	return k, nil
}

// bits returns the permissions as the integer of table 22.
func (p Permissions) bits() int32 {
	const reserved = ^int32(0xfff) | 0xc0 // always 1, like bit 10, for accessibility
	set := reserved | 1<<9
	for _, allow := range []struct {
		is  bool
		bit int
	}{
		{p.Print || p.PrintDraft, 3}, {p.Print, 12}, {p.Copy, 5}, {p.Change, 4}, {p.Comment, 6}, {p.FillForms || p.Comment, 9}, {p.Assemble, 11},
	} {
		if allow.is {
			set |= 1 << (allow.bit - 1)
		}
	}
	return set
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func cipherOf(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has an invalid length
	}
	return block
}

// wrap returns the validation data for a password, and the file's key encrypted with it (algorithms 8 and 9). For the
// owner password, u is the validation data of the user password.
func wrap(key, password, u []byte) (check, wrapped []byte) {
	salts := random(16)
	check = append(hashPassword(password, salts[:8], u), salts...)
	wrapped = make([]byte, len(key))
	cipher.NewCBCEncrypter(cipherOf(hashPassword(password, salts[8:], u)), make([]byte, aes.BlockSize)).CryptBlocks(wrapped, key)
	return check, wrapped
}

// hashPassword implements algorithm 2.B.
func hashPassword(password, salt, u []byte) []byte {
	first := sha256.Sum256(bytes.Join([][]byte{password, salt, u}, nil))
	k := first[:]
	var e []byte
	for round := 1; ; round++ {
		e = e[:0]
		for range 64 {
			e = append(append(append(e, password...), k...), u...)
		}
		cipher.NewCBCEncrypter(cipherOf(k[:16]), k[16:32]).CryptBlocks(e, e)
		// The algorithm takes the first 16 bytes as a number modulo 3. Because 256 mod 3 is 1, the sum of the bytes
		// has the same remainder.
		sum := 0
		for _, b := range e[:16] {
			sum += int(b)
		}
		switch sum % 3 {
		case 0:
			next := sha256.Sum256(e)
			k = next[:]
		case 1:
			next := sha512.Sum384(e)
			k = next[:]
		case 2:
			next := sha512.Sum512(e)
			k = next[:]
		}
		if round >= 64 && int(e[len(e)-1]) <= round-32 {
			return k[:32]
		}
	}
}

// sealPermissions implements algorithm 10: an encrypted copy of the permissions, so that changes are detected.
func (k *keys) sealPermissions() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(k.permissionSet))
	b = append(b, "\xff\xff\xff\xffTadb"...)
	b = append(b, random(4)...)
	k.block.Encrypt(b, b)
	return b
}

// seal encrypts a string or a stream (algorithm 1.A).
func (k *keys) seal(plain []byte) []byte {
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	sealed := make([]byte, aes.BlockSize+len(plain)+pad)
	copy(sealed, random(aes.BlockSize))
	body := sealed[aes.BlockSize:]
	copy(body, plain)
	for i := len(plain); i < len(body); i++ {
		body[i] = byte(pad)
	}
	cipher.NewCBCEncrypter(k.block, sealed[:aes.BlockSize]).CryptBlocks(body, body)
	return sealed
}

func (k *keys) dict() dict {
	filter := dict{{"AuthEvent", name("DocOpen")}, {"CFM", name("AESV3")}, {"Length", number("32")}}
	return dict{
		{"Filter", name("Standard")}, {"V", number("5")}, {"R", number("6")}, {"Length", number("256")},
		{"CF", dict{{"StdCF", filter}}}, {"StmF", name("StdCF")}, {"StrF", name("StdCF")}, {"EncryptMetadata", keyword("true")},
		{"P", integerOf(int(k.permissionSet))}, {"Perms", str(k.perms)},
		{"U", str(k.u)}, {"UE", str(k.ue)}, {"O", str(k.o)}, {"OE", str(k.oe)},
	}
}
