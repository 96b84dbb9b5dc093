package server

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Responses that are text and larger than a packet are compressed for clients that accept gzip. File contents are not: large ones are
// mostly compressed already.
//
// Compression can reveal a secret in a response to an observer who can inject text into it (BREACH). That is not possible here: no page
// can make a browser send requests with another user's access token, as it could with a cookie.
const minCompressed = 1400 // bytes

var compressedTypes = []string{"application/json", "text/html"}

// compressing wraps a handler to compress its responses.
func compressing(handler http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.MinSize(minCompressed),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes(compressedTypes))
	if err != nil {
		panic(err) // impossible: the options are constants
	}
	return wrap(handler)
}
