// Package cli is the command line: one command per file, the configuration they share, and in serve.go the only place
// where the parts of Platen are put together.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"platen/docgen"
	"platen/generate"
)

// Exit codes, for scripts.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2 // the command line or the configuration is wrong; nothing was done
	exitIncomplete = 3 // the documents are written, but in some of them tags found no data
)

const description = "Platen generates documents: Word templates and JSON in, documents out."

// commands is the command line as kong reads it.
type commands struct {
	Quickstart quickstartCmd `cmd:"" help:"Start a server, generate 100 example invoices with it, and say what to try next."`
	Serve      serveCmd      `cmd:"" help:"Run the server."`
	User       struct {
		Create     userCreateCmd     `cmd:"" help:"Make a user and print its id."`
		List       userListCmd       `cmd:"" help:"List users."`
		Show       userShowCmd       `cmd:"" help:"Show a user."`
		Update     userUpdateCmd     `cmd:"" help:"Change the name, login, role, or status of a user."`
		Erase      userEraseCmd      `cmd:"" help:"Erase all personal data of a user, for good. Without --yes, print what would be erased."`
		Deactivate userDeactivateCmd `cmd:"" help:"Refuse all tokens of a user from now on. What the user owns stays."`
		Activate   userActivateCmd   `cmd:"" help:"Undo deactivate."`
	} `cmd:"" help:"Users of the server."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Make an access token for a user and print it. It works while the server runs."`
		List   tokenListCmd   `cmd:"" help:"List access and refresh tokens that can be used. The tokens themselves are not kept, and never shown again."`
		Revoke tokenRevokeCmd `cmd:"" help:"Revoke tokens by their ids. They are refused from the next request on."`
	} `cmd:"" help:"Access tokens for the API."`
	Audit auditCmd `cmd:"" help:"Print the audit log: who did what, as whom, and from where."`
	App   struct {
		Create appCreateCmd `cmd:"" help:"Make an application and print its client id and secret, which is shown this once."`
		List   appListCmd   `cmd:"" help:"List the applications."`
		Config appConfigCmd `cmd:"" help:"Make a key pair for an application and print the JSON file that client libraries read, with the private key, which is shown this once."`
		Secret appSecretCmd `cmd:"" help:"Give an application another secret and print it. The one before is refused from then on."`
		Key    struct {
			Add    appKeyAddCmd    `cmd:"" help:"Let an application sign with the private key of a public key, and print the key's id."`
			Remove appKeyRemoveCmd `cmd:"" help:"End the use of a key."`
		} `cmd:"" help:"Public keys of an application."`
		Delete appDeleteCmd `cmd:"" help:"End an application, with all its tokens and keys."`
	} `cmd:"" help:"Applications: programs that get access tokens by themselves (OAuth 2.0)."`
	Webhooks webhooksCmds `cmd:"" help:"Webhooks, for those who receive them."`
	Render   renderCmd    `cmd:"" help:"Make documents from a template and JSON, without a server."`
	Convert  convertCmd   `cmd:"" help:"Make PDFs of Word documents, many at once."`
	Tags     tagsCmd      `cmd:"" help:"List the tags of a template, or what is wrong with it."`
	Check    checkCmd     `cmd:"" help:"Say what is wrong with a template, and with data for it, before a document is made."`
	Schema   schemaCmd    `cmd:"" help:"Print what data a template needs, as JSON Schema; check data against it; compare two versions."`
	Sample   sampleCmd    `cmd:"" help:"Print sample data for a template."`
	Doctor   doctorCmd    `cmd:"" help:"Say what a server or PDFs need and is not there, and what to do."`
	Backup   backupCmd    `cmd:"" help:"Copy the embedded database and all contents to a folder, beside a server that works, and verify the copy."`
	Restore  restoreCmd   `cmd:"" help:"Copy a backup to a new data folder and verify it."`
	Verify   verifyCmd    `cmd:"" help:"Check all stored contents and rows: damaged, missing, orphaned, inconsistent."`
	Config   configCmd    `cmd:"" help:"Print the configuration in force, as a configuration file."`
	Version  versionCmd   `cmd:"" help:"Print the version."`
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command that the arguments of the process name, and ends the process with its exit code.
func Main() {
	generate.Worker(os.Args)
	workAsEngine()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from then on a second signal ends the process at once
	code := run(ctx, os.Args[1:], &streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run runs one command and returns its exit code. Asked for help it prints it and ends the process.
func run(ctx context.Context, args []string, s *streams) int {
	parser, err := kong.New(&commands{},
		kong.Name("platen"),
		kong.Description(description),
		kong.Writers(s.out, s.err),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
		kong.Configuration(readConfigFile),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return report(s, err)
	}
	command, err := parser.Parse(joinNegative(args))
	if err != nil {
		return report(s, &usageError{err})
	}
	command.BindTo(docgen.WithOrigin(ctx, commandOrigin(command)), (*context.Context)(nil))
	return report(s, command.Run())
}

// commandOrigin says for the audit log which command acts, and whose account of the machine runs it.
func commandOrigin(command *kong.Context) docgen.Origin {
	by := "uid " + strconv.Itoa(os.Getuid())
	if account, err := user.Current(); err == nil {
		by = account.Username
	}
	return docgen.Origin{Agent: fmt.Sprintf("platen %s (run by %s)", command.Command(), by)}
}

var (
	longFlag = regexp.MustCompile(`^--[a-z][a-z0-9-]*$`)
	negative = regexp.MustCompile(`^-[0-9.]`)
)

// joinNegative writes "--flag -1" as "--flag=-1": kong would take -1 for a flag. No flag of ours is a digit.
func joinNegative(args []string) []string {
	var joined []string
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...)
		}
		if last := len(joined) - 1; last >= 0 && negative.MatchString(arg) && longFlag.MatchString(joined[last]) {
			joined[last] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}

// usageError is an error in the command line or the configuration.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// errIncomplete ends a command that has said itself what its documents lack.
var errIncomplete = errors.New("tags found no data")

// errReported ends a command that has said itself what went wrong.
var errReported = errors.New("reported already")

// report tells a person how a command ended, and returns the exit code for it.
func report(s *streams, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errIncomplete):
		return exitIncomplete
	case errors.Is(err, errReported):
		return exitFailed
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintf(s.err, "platen: %s\n", explain(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintln(s.err, "Try: platen --help, or platen COMMAND --help")
		return exitUsage
	}
	return exitFailed
}

// explain says what went wrong; of a failure of the service everything that is wrong, one thing a line.
func explain(err error) string {
	failure, ok := errors.AsType[*docgen.Error](err)
	if !ok {
		return err.Error()
	}
	if len(failure.Problems) == 0 {
		return failure.Message
	}
	lines := make([]string, len(failure.Problems))
	for i, problem := range failure.Problems {
		lines[i] = problem.Message
	}
	return strings.Join(lines, "\n        ")
}
