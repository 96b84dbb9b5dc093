/* The floor of a conversion: LibreOffice's own time to load a document and save it as a PDF, in a warm process, in C.
 *
 * floor PROGRAM-FOLDER PROFILE-URL reads lines "DOCUMENT-URL PDF-URL" and answers each with milliseconds.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The places of functions in the tables of LibreOfficeKit.h. */
struct document { void **functions; };
struct office { void **functions; };
typedef struct office *(*hook)(const char *program, const char *profile);
typedef struct document *(*load)(struct office *, const char *url, const char *options);
typedef int (*save)(struct document *, const char *url, const char *format, const char *options);
typedef void (*destroy)(struct document *);

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
	char library[4096], line[8192];
	if (argc != 3) return 2;
	snprintf(library, sizeof library, "%s/libmergedlo.so", argv[1]);
	void *handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
	if (!handle) { fprintf(stderr, "%s\n", dlerror()); return 1; }
	struct office *office = ((hook)dlsym(handle, "libreofficekit_hook_2"))(argv[1], argv[2]);
	if (!office) return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		char *in = strtok(line, " \n"), *out = strtok(NULL, " \n");
		double begun = now();
		struct document *d = ((load)office->functions[4])(office, in, "Batch=true");
		if (!d || !((save)d->functions[2])(d, out, "pdf", NULL)) { puts("failed"); fflush(stdout); continue; }
		((destroy)d->functions[1])(d);
		printf("%.3f\n", now() - begun);
		fflush(stdout);
	}
	_exit(0);
}
