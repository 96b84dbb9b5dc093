// Command platen is a document generation server: Word templates and JSON in, documents out.
package main

import "platen/cli"

func main() { cli.Main() }
