package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenSSL reads the private key of a pair with its passphrase, derives the public key from it, and recognizes the
// encryption.
func TestKeyPair(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	pair, err := newKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "private.pem")
	if err := os.WriteFile(file, pair.private, 0o600); err != nil {
		t.Fatal(err)
	}
	public, err := exec.CommandContext(t.Context(), openssl, "pkey", "-in", file, "-passin", "pass:"+pair.passphrase, "-pubout").Output()
	if err != nil || !bytes.Equal(public, pair.public) {
		t.Errorf("the public key in the private one: %v\n%s\nwant\n%s", err, public, pair.public)
	}
	if out, err := exec.CommandContext(t.Context(), openssl, "pkey", "-in", file, "-passin", "pass:wrong").CombinedOutput(); err == nil {
		t.Errorf("a wrong passphrase opens the private key:\n%s", out)
	}
	parts, err := exec.CommandContext(t.Context(), openssl, "asn1parse", "-in", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PBES2", "PBKDF2", "hmacWithSHA256", "aes-256-cbc", "INTEGER           :0186A0"} {
		if !strings.Contains(string(parts), want) {
			t.Errorf("the private key has no %s:\n%s", want, parts)
		}
	}
}
