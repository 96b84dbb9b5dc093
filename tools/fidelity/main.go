// Command fidelity compares the pages of two PDFs, as package fidelitytest measures them:
//
//	go run ./tools/fidelity A.pdf B.pdf
//
// It prints the score, the pages that differ most, and the first differences. It exits with status 0 if the pages are the
// same, 1 if they differ, and 2 if it could not compare them.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"platen/pdf/fidelitytest"
)

const worstPages = 5 // in the output

// Exit statuses.
const (
	same = iota
	different
	failed
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := compare(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func compare(ctx context.Context, paths []string, out, errs io.Writer) (status int) {
	if len(paths) != 2 {
		fmt.Fprintln(errs, "usage: fidelity A.pdf B.pdf")
		return failed
	}
	score, err := fidelitytest.Compare(ctx, paths[0], paths[1])
	if err != nil {
		fmt.Fprintln(errs, "fidelity:", err)
		return failed
	}
	fmt.Fprintln(out, score)
	if score.Same() {
		return same
	}
	for _, p := range worst(score.Pages) {
		fmt.Fprintf(out, "page %d: SSIM %.4f, %d pixels differ, %d words moved\n", p.Number, p.SSIM, p.Pixels, p.Moved)
	}
	fmt.Fprintln(out, score.Difference())
	return different
}

// worst returns the least similar pages.
func worst(pages []fidelitytest.Page) []fidelitytest.Page {
	pages = slices.Clone(pages)
	slices.SortStableFunc(pages, func(p, q fidelitytest.Page) int { return cmp.Compare(p.SSIM, q.SSIM) })
	return pages[:min(len(pages), worstPages)]
}
