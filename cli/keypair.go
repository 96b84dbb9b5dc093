package cli

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"

	"github.com/youmark/pkcs8"
)

// keyPair is a new pair of RSA keys in PEM format. The private key is encrypted, because client libraries expect a passphrase.
type keyPair struct {
	public, private []byte
	passphrase      string
}

const keyBits = 2048

func newKeyPair() (keyPair, error) {
	pair := keyPair{passphrase: rand.Text()}
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return pair, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return pair, err
	}
	pair.public = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	private, err := pkcs8.MarshalPrivateKey(key, []byte(pair.passphrase), &keyEncryption)
	pair.private = pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: private})
	return pair, err
}

// keyEncryption is the encryption of a private key: PBES2 (RFC 8018), with AES-256 in CBC mode and a key derived by PBKDF2 with
// HMAC-SHA-256.
var keyEncryption = pkcs8.Opts{
	Cipher:  pkcs8.AES256CBC,
	KDFOpts: pkcs8.PBKDF2Opts{SaltSize: 16, IterationCount: 100_000, HMACHash: crypto.SHA256},
}
