// Command platen is a document generation server. It turns Word templates and JSON into Word and PDF documents.
package main

import "platen/cli"

func main() { cli.Main() }
