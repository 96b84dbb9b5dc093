package finish

import (
	"crypto/aes"
	"crypto/cipher"
)

// openWith reads the cross-reference table of a PDF. The PDF may be encrypted as by [Encrypt], with this user
// password.
func openWith(data []byte, password string) (*file, error) {
	f, err := openAny(data)
	if err != nil {
		return nil, err
	}
	at := f.trailer.get("Encrypt")
	if at == nil {
		return f, nil
	}
	d, err := f.dict(at)
	if err != nil {
		return nil, err
	}
	key, err := f.unlock(d, password)
	if err != nil {
		return nil, err
	}
	f.key = cipherOf(key)
	f.sealed, _ = at.(ref)
	return f, nil
}

// unlock returns the file encryption key (algorithm 2.A) for a user password.
func (f *file) unlock(d dict, password string) ([]byte, error) {
	if err := f.isOurWay(d); err != nil {
		return nil, err
	}
	u, _ := d.get("U").(str)
	ue, _ := d.get("UE").(str)
	perms, _ := d.get("Perms").(str)
	if len(u) != 48 || len(ue) != 32 || len(perms) != aes.BlockSize {
		return nil, broken("it is encrypted but lacks the data to check a password")
	}
	prepared, err := preparePassword(password)
	if err != nil {
		return nil, err
	}
	key := make([]byte, len(ue))
	nothing := make([]byte, aes.BlockSize)
	cipher.NewCBCDecrypter(cipherOf(hashPassword(prepared, []byte(u[40:]), nil)), nothing).CryptBlocks(key, []byte(ue))
	check := make([]byte, aes.BlockSize)
	cipherOf(key).Decrypt(check, []byte(perms))
	if string(check[9:12]) != "adb" { // algorithm 13
		return nil, broken("it is encrypted with another password")
	}
	return key, nil
}

// isOurWay checks that a file uses the encryption of keys.dict.
func (f *file) isOurWay(d dict) error {
	filters, err := f.dict(d.get("CF"))
	if err != nil {
		return err
	}
	filter, err := f.dict(filters.get("StdCF"))
	if err != nil {
		return err
	}
	ours := (&keys{}).dict()
	known := filter.get("CFM") == name("AESV3") && d.get("EncryptMetadata") != keyword("false")
	for _, key := range []name{"Filter", "V", "R", "StmF", "StrF"} {
		known = known && d.get(key) == ours.get(key)
	}
	if !known {
		return broken("it is encrypted with an unsupported algorithm")
	}
	return nil
}

// unseal returns the decrypted copy of an object.
func (f *file) unseal(o object) (object, error) {
	var err error
	switch o := o.(type) {
	case str:
		plain, err := f.unsealBytes([]byte(o))
		return str(plain), err
	case array:
		a := make(array, len(o))
		for i := range o {
			if a[i], err = f.unseal(o[i]); err != nil {
				return nil, err
			}
		}
		return a, nil
	case dict:
		return f.unsealDict(o)
	case stream:
		d, err := f.unsealDict(o.dict)
		if err != nil {
			return nil, err
		}
		raw, err := f.unsealBytes(o.raw)
		return stream{d, raw}, err
	}
	return o, nil
}

func (f *file) unsealDict(old dict) (dict, error) {
	d := make(dict, len(old))
	for i, e := range old {
		value, err := f.unseal(e.value)
		if err != nil {
			return nil, err
		}
		d[i] = entry{e.key, value}
	}
	return d, nil
}

// unsealBytes reverses keys.seal.
func (f *file) unsealBytes(sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	if len(sealed) < 2*aes.BlockSize || len(sealed)%aes.BlockSize != 0 {
		return nil, broken("encrypted data has an invalid length")
	}
	plain := make([]byte, len(sealed)-aes.BlockSize)
	cipher.NewCBCDecrypter(f.key, sealed[:aes.BlockSize]).CryptBlocks(plain, sealed[aes.BlockSize:])
	pad := int(plain[len(plain)-1])
	if pad < 1 || pad > aes.BlockSize {
		return nil, broken("encrypted data cannot be decrypted")
	}
	return plain[:len(plain)-pad], nil
}
