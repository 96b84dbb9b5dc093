package server

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// What is compressed for clients that accept gzip: answers that are text and larger than a packet. Contents of files are
// not: what is large among them is compressed already.
//
// Compressing tells an observer of the network how well a secret in an answer and something that he chose go together
// (BREACH). He has nothing to choose: no page can make a browser send requests with somebody else's access token, as it
// could with a cookie.
const minCompressed = 1400 // bytes

var compressedTypes = []string{"application/json", "text/html"}

// compressing wraps what answers requests.
func compressing(handler http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.MinSize(minCompressed),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes(compressedTypes))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(handler)
}
