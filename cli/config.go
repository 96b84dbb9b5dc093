package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"platen/docgen"
	"platen/server"
)

// location says where a server keeps its data. Commands that work beside a running server need no more.
type location struct {
	Data     string          `default:"platen-data" env:"PLATEN_DATA" group:"Storage" help:"Folder of everything the server keeps. platen serve and platen user create create it; other commands need it to exist."`
	Database string          `env:"PLATEN_DATABASE" placeholder:"URL" group:"Storage" help:"PostgreSQL database, postgres://user:password@host/name. Without it the database is SQLite, in the data folder."`
	File     kong.ConfigFlag `name:"config" env:"PLATEN_CONFIG" placeholder:"FILE" group:"Storage" help:"File with settings: a line for each, as platen config prints them."`
}

// Validate is called by kong when everything is read.
func (l *location) Validate() error {
	u, err := url.Parse(l.Database) // a socket stands in the parameter host, which may hold a path
	if l.Database != "" && (err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" && u.Query().Get("host") == "") {
		return errors.New("--database must be the URL of a PostgreSQL database, postgres://user:password@host/name")
	}
	return nil
}

// config is every setting of a server. It is the one table from which flags, environment variables and the keys of the
// configuration file come: --listen is PLATEN_LISTEN in the environment and listen in the file. A flag goes before the
// environment, and that before the file.
type config struct {
	location

	Blobs         string     `env:"PLATEN_BLOBS" placeholder:"URL" group:"Storage" help:"Where the contents of files are kept, file:///some/folder. Without it, in blobs in the data folder."`
	MinFree       sizeOrNone `default:"512MiB" env:"PLATEN_MIN_FREE" group:"Storage" help:"Free disk space to keep (default 512MiB). With less on any disk of the server, /readyz is 503, and uploads and batches are rejected; none turns this off."`
	UserBytes     sizeOrNone `default:"none" env:"PLATEN_USER_BYTES" group:"Storage" help:"Bytes that one user may store, past versions and trash included (default none: no limit). PUT /users/{id} sets space_amount for a single user."`
	UserFiles     int64      `default:"0" env:"PLATEN_USER_FILES" group:"Storage" help:"Files that one user may store, trash included (default 0: no limit)."`
	DatabaseConns int        `default:"0" env:"PLATEN_DATABASE_CONNS" group:"Storage" help:"Connections to PostgreSQL; 0 for pool_max_conns in its URL, or else 16."`

	StoragePolicies storagePolicies `name:"storage-policy" env:"PLATEN_STORAGE_POLICY" placeholder:"NAME=URL,…" group:"Storage" help:"Other places that the contents of archives can be kept in, each with a name, as in cold=file:///mnt/cold."`
	ArchiveDelete   bool            `default:"true" negatable:"" env:"PLATEN_ARCHIVE_DELETE" group:"Storage" help:"Whether archives can be deleted that are empty."`

	Listen         string   `default:"127.0.0.1:8080" env:"PLATEN_LISTEN" group:"Serving" help:"Address to listen on; port 0 takes a free one."`
	BaseURL        string   `env:"PLATEN_BASE_URL" placeholder:"URL" group:"Serving" help:"Where clients reach the server, without the /2.0. Without it, the address listened on."`
	InternalListen string   `env:"PLATEN_INTERNAL_LISTEN" placeholder:"ADDRESS" group:"Serving" help:"Address for /metrics, /docs, and the OpenAPI documents, such as 127.0.0.1:9090. They are then not served at --listen. The health checks are served at both."`
	TrustedProxies networks `env:"PLATEN_TRUSTED_PROXIES" placeholder:"CIDR,…" group:"Serving" help:"Networks of reverse proxies whose X-Forwarded-For names the client, such as 10.0.0.0/8. Rate limits and logs then use the client's address instead of the proxy's."`
	MaxConnections int      `default:"0" env:"PLATEN_MAX_CONNECTIONS" group:"Serving" help:"Connections at a time; one address may have a quarter of them, a trusted proxy all. 0 for one per 512 KiB of the server's memory, from 256 to 4096."`
	Compat         string   `default:"" enum:",box" env:"PLATEN_COMPAT" group:"Serving" help:"Clients to bear with that do not keep all of the interface: box for the SDKs of Box."`

	RateRequests int `default:"1000" env:"PLATEN_RATE_REQUESTS" group:"Rate limits" help:"Requests a minute of one user; -1 for no limit."`
	RateUploads  int `default:"240" env:"PLATEN_RATE_UPLOADS" group:"Rate limits" help:"Uploads a minute of one user; -1 for no limit."`
	RateGuests   int `default:"300" env:"PLATEN_RATE_GUESTS" group:"Rate limits" help:"Requests a minute of one address without a valid token; -1 for no limit."`

	MaxDocuments int      `default:"10000" env:"PLATEN_MAX_DOCUMENTS" group:"Limits" help:"Documents of one batch."`
	MaxInput     byteSize `default:"5MiB" env:"PLATEN_MAX_INPUT" group:"Limits" help:"Data of one document."`
	MaxBatch     byteSize `default:"64MiB" env:"PLATEN_MAX_BATCH" group:"Limits" help:"Body of one batch request."`
	MaxUpload    byteSize `default:"5GiB" env:"PLATEN_MAX_UPLOAD" group:"Limits" help:"One uploaded file."`
	MaxTemplate  byteSize `default:"100MiB" env:"PLATEN_MAX_TEMPLATE" group:"Limits" help:"One file used as a template."`

	budgetFlags  `embed:""`
	DocumentTime time.Duration `default:"1m" env:"PLATEN_DOCUMENT_TIME" group:"Budgets of a document" help:"Maximum time to generate one document, without its conversion to PDF; 0 for no limit."`

	TemplateTime time.Duration `default:"1m" env:"PLATEN_TEMPLATE_TIME" group:"Limits" help:"Maximum time to compile one template; 0 for no limit."`

	webhookConfig   `embed:""`
	retentionConfig `embed:""`
	pdfConfig       `embed:""`

	Workers       int           `default:"0" env:"PLATEN_WORKERS" group:"Generation" help:"Tasks worked at the same time; 0 for eight a core. Most wait for the disk."`
	Memory        memorySize    `default:"auto" env:"PLATEN_MEMORY" group:"Generation" help:"Memory for the server and its LibreOffice processes together, such as 4GiB; auto for what the control group allows or the machine has."`
	TemplateCache memorySize    `default:"auto" env:"PLATEN_TEMPLATE_CACHE" group:"Generation" help:"Memory for compiled templates, such as 256MiB; auto for an eighth of the server's memory, at most 256MiB."`
	PictureHosts  pictureHosts  `env:"PLATEN_PICTURE_HOSTS" placeholder:"HOST,…" group:"Generation" help:"Hosts that pictures may be fetched from which data names by address, such as img.example.com or *.example.com. Without it, none are fetched."`
	Drain         time.Duration `default:"30s" env:"PLATEN_DRAIN" group:"Generation" help:"How long stopping waits for requests, and then for tasks."`

	DefaultMissing  string `default:"" enum:",tag,blank,error" env:"PLATEN_DEFAULT_MISSING" group:"Generation" help:"What becomes of a value that the data lacks, when neither a batch nor its template says: tag, blank, or error (default tag)."`
	DefaultLocale   string `env:"PLATEN_DEFAULT_LOCALE" placeholder:"LOCALE" group:"Generation" help:"Language of numbers, dates, and words, when neither a batch nor its template says, such as de-CH (default en)."`
	DefaultTimeZone string `env:"PLATEN_DEFAULT_TIME_ZONE" placeholder:"ZONE" group:"Generation" help:"Time zone that times are shown in, when neither a batch nor its template says, such as Europe/Paris. Without it, each time is shown in its own."`

	OTLPEndpoint string `name:"otlp-endpoint" env:"PLATEN_OTLP_ENDPOINT" placeholder:"URL" group:"Log" help:"Collector of OpenTelemetry traces, by OTLP over HTTP, such as http://127.0.0.1:4318. Without it, and without the OTEL_EXPORTER_OTLP_ENDPOINT variable, no traces are recorded."`
	LogFormat    string `default:"text" enum:"text,json" env:"PLATEN_LOG_FORMAT" group:"Log" help:"text or json."`
	LogLevel     string `default:"info" enum:"debug,info,warn,error" env:"PLATEN_LOG_LEVEL" group:"Log" help:"debug, info, warn or error."`
}

// Validate is called by kong when everything is read. It reports all that is wrong.
func (c *config) Validate() error {
	problems := []error{c.location.Validate()}
	atLeast := func(name string, value, least int) {
		if value < least {
			problems = append(problems, fmt.Errorf("--%s must be at least %d, not %d", name, least, value))
		}
	}
	if c.UserFiles < 0 {
		problems = append(problems, fmt.Errorf("--user-files must be at least 0, not %d", c.UserFiles))
	}
	atLeast("workers", c.Workers, 0)
	atLeast("max-connections", c.MaxConnections, 0)
	atLeast("max-documents", c.MaxDocuments, 1)
	atLeast("database-conns", c.DatabaseConns, 0)
	for name, rate := range map[string]int{"requests": c.RateRequests, "uploads": c.RateUploads, "guests": c.RateGuests} {
		if rate == 0 || rate < -1 {
			problems = append(problems, fmt.Errorf("--rate-%s must be at least 1, or -1 for no limit, not %d", name, rate))
		}
	}
	if c.Drain < 0 {
		problems = append(problems, fmt.Errorf("--drain must not be negative, it is %v", c.Drain))
	}
	if c.OTLPEndpoint != "" && !isHTTP(c.OTLPEndpoint) {
		problems = append(problems, fmt.Errorf("--otlp-endpoint must be an http or https URL, not %q", c.OTLPEndpoint))
	}
	if c.BaseURL != "" && !isHTTP(c.BaseURL) {
		problems = append(problems, fmt.Errorf("--base-url must be an http or https URL, not %q", c.BaseURL))
	}
	if c.TemplateTime < 0 {
		problems = append(problems, fmt.Errorf("--template-time must not be negative, it is %v; 0 is no limit", c.TemplateTime))
	}
	for _, problem := range c.defaults().Problems() {
		problems = append(problems, fmt.Errorf("--default-%s: %s", strings.ReplaceAll(problem.Name, "_", "-"), problem.Message))
	}
	problems = append(problems, c.budgetFlags.problems(c.DocumentTime)...)
	return errors.Join(append(problems, append(c.webhookConfig.problems(), c.pdfConfig.Validate())...)...)
}

func (c *config) defaults() docgen.Defaults {
	return docgen.Defaults{Missing: c.DefaultMissing, Locale: c.DefaultLocale, TimeZone: c.DefaultTimeZone}
}

func (c *config) limits() docgen.Limits {
	return docgen.Limits{
		Documents: c.MaxDocuments, InputBytes: int(c.MaxInput), BatchBytes: int64(c.MaxBatch),
		UploadBytes: int64(c.MaxUpload), TemplateBytes: int64(c.MaxTemplate), Pending: c.WebhookMaxPending,
	}
}

func (c *config) rateLimits() server.RateLimits {
	return server.RateLimits{Requests: c.RateRequests, Uploads: c.RateUploads, Guests: c.RateGuests}
}

// byteSize is a number of bytes, written as 1048576, 1024KiB or 1MiB.
type byteSize int64

// sizeUnits are from large to small, so that the first that divides a size is the one to write it in.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (b *byteSize) UnmarshalText(text []byte) error {
	digits, factor := string(text), int64(1)
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(digits, unit.name); ok {
			digits, factor = strings.TrimSpace(number), unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > (1<<62)/factor {
		return fmt.Errorf("%q is no size: write it as 500000, 512KiB, 64MiB or 5GiB", text)
	}
	*b = byteSize(n * factor)
	return nil
}

func (b byteSize) String() string {
	for _, unit := range sizeUnits[:3] {
		if int64(b)%unit.bytes == 0 {
			return strconv.FormatInt(int64(b)/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// configFile holds the settings of a configuration file by the names of their flags.
type configFile map[string]string

// readConfigFile reads a file of lines like "listen = 127.0.0.1:8080". What follows a # at the start of a line, or one
// with a blank on each side, is a comment.
func readConfigFile(r io.Reader) (kong.Resolver, error) {
	settings := configFile{}
	var problems []error
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		text, _, _ := strings.Cut(scanner.Text(), " # ")
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if _, twice := settings[name]; !ok || name == "" || twice {
			problems = append(problems, fmt.Errorf("configuration file, line %d: want NAME = VALUE, each name once, not %q", line, text))
			continue
		}
		settings[name] = strings.TrimSpace(value)
	}
	return settings, errors.Join(append(problems, scanner.Err())...)
}

// Validate reports the names in the file that no setting has.
func (f configFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && isSetting(flag) {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for name := range f {
		if !known[name] {
			err = errors.Join(err, fmt.Errorf("configuration file: there is no setting %q; platen config lists them", name))
		}
	}
	return err
}

// Resolve gives the value of a flag that neither the command line nor the environment sets.
func (f configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := f[flag.Name]
	if _, set := environment(flag); !ok || set || !isSetting(flag) {
		return nil, nil
	}
	return value, nil
}

// isSetting tells whether a flag is a setting of the server, and not one of a single command.
func isSetting(flag *kong.Flag) bool { return len(flag.Envs) > 0 && flag.Name != "config" }

// environment returns the environment variable that sets a flag, if one does.
func environment(flag *kong.Flag) (name string, set bool) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return name, true
		}
	}
	return "", false
}

type configCmd struct {
	config `embed:""`
}

// Run prints every setting with where its value comes from, in the form of a configuration file.
func (c *configCmd) Run(command *kong.Context, s *streams) error {
	for _, flag := range command.Selected().Flags {
		if !isSetting(flag) {
			continue
		}
		value := redact(fmt.Sprint(flag.Target.Interface()))
		line := strings.TrimSpace(flag.Name + " = " + value)
		if value == "" {
			line = "# " + line
		}
		fmt.Fprintf(s.out, "%-40s # %s\n", line, source(command, flag))
	}
	return nil
}

// source says where the value of a flag comes from.
func source(command *kong.Context, flag *kong.Flag) string {
	for _, path := range command.Path {
		if path.Flag == flag && path.Resolved {
			return "configuration file"
		}
		if path.Flag == flag {
			return "command line"
		}
	}
	if name, set := environment(flag); set {
		return name
	}
	return "default"
}

// redact hides the password of a URL.
func redact(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return value
	}
	return u.Redacted()
}
