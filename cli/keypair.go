package cli

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
)

// keyPair is a new pair of RSA keys in PEM; the private one is encrypted, because client libraries want a passphrase.
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
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, err
	}
	private, err = encryptKey(private, pair.passphrase)
	pair.private = pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: private})
	return pair, err
}

// How a private key is encrypted: PBES2 of RFC 8018, by AES-256 in CBC mode with a key made by PBKDF2 and HMAC-SHA-256.
var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidHMACSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidAES256CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

const keyIterations = 100_000

type (
	// encryptedKey is an EncryptedPrivateKeyInfo of RFC 5958.
	encryptedKey struct {
		Algorithm pbes2
		Data      []byte
	}
	pbes2 struct {
		ID     asn1.ObjectIdentifier
		Params pbes2Params
	}
	pbes2Params struct {
		KDF    pbkdf2Algorithm
		Cipher cipherAlgorithm
	}
	pbkdf2Algorithm struct {
		ID     asn1.ObjectIdentifier
		Params pbkdf2Params
	}
	pbkdf2Params struct {
		Salt       []byte
		Iterations int
		PRF        pkix.AlgorithmIdentifier
	}
	cipherAlgorithm struct {
		ID asn1.ObjectIdentifier
		IV []byte
	}
)

// encryptKey encrypts a private key in the form of PKCS #8.
func encryptKey(der []byte, passphrase string) ([]byte, error) {
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	rand.Read(salt) // never fails, see crypto/rand
	rand.Read(iv)
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, keyIterations, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	fill := aes.BlockSize - len(der)%aes.BlockSize
	data := append(bytes.Clone(der), bytes.Repeat([]byte{byte(fill)}, fill)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
	prf := pkix.AlgorithmIdentifier{Algorithm: oidHMACSHA256, Parameters: asn1.NullRawValue}
	return asn1.Marshal(encryptedKey{Data: data, Algorithm: pbes2{ID: oidPBES2, Params: pbes2Params{
		KDF:    pbkdf2Algorithm{ID: oidPBKDF2, Params: pbkdf2Params{Salt: salt, Iterations: keyIterations, PRF: prf}},
		Cipher: cipherAlgorithm{ID: oidAES256CBC, IV: iv},
	}}})
}
