/* A client without a library: it starts a program, exchanges lines with it over
 * two pipes, and says how long each answer took.
 *
 *     client OPENING LINE PROGRAM [ARGUMENT...]
 *
 * OPENING and LINE are files. Each line of OPENING is sent once at the start and
 * answered once. After that each line COUNT on stdin makes the client send LINE
 * so many times, each time after the answer to the one before. It prints a line
 * of nanoseconds for each, and then "all NANOSECONDS", or "error TEXT". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int to, from; /* our ends of the program's stdin and stdout */

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *text)
{
	printf("error %s: %s\n", text, strerror(errno));
	exit(1);
}

static char *load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	struct stat s;
	if (!f || fstat(fileno(f), &s))
		fail(path);
	char *text = malloc((size_t)s.st_size + 1);
	*size = fread(text, 1, (size_t)s.st_size, f);
	fclose(f);
	return text;
}

/* ask sends a line and reads until one line has come back. */
static void ask(const char *line, size_t size)
{
	static char buffer[1 << 16];
	while (size > 0) {
		ssize_t n = write(to, line, size);
		if (n < 0 && errno != EINTR)
			fail("write");
		if (n > 0) {
			line += n;
			size -= (size_t)n;
		}
	}
	for (;;) {
		ssize_t n = read(from, buffer, sizeof buffer);
		if (n == 0)
			errno = EPIPE;
		if (n <= 0 && errno != EINTR)
			fail("read");
		if (n > 0 && buffer[n - 1] == '\n')
			return;
	}
}

static pid_t start(char **argv)
{
	int in[2], out[2];
	pid_t pid;
	posix_spawn_file_actions_t actions;
	if (pipe(in) || pipe(out))
		fail("pipe");
	fcntl(in[1], F_SETFD, FD_CLOEXEC);
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if ((errno = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ)))
		fail(argv[0]);
	close(in[0]);
	close(out[1]);
	to = in[1];
	from = out[0];
	return pid;
}

int main(int argc, char **argv)
{
	char command[64];
	size_t size, opening_size;
	int status;
	if (argc < 4)
		return 2;
	char *opening = load(argv[1], &opening_size), *line = load(argv[2], &size);
	pid_t pid = start(argv + 3);
	signal(SIGPIPE, SIG_IGN);
	for (char *end = opening + opening_size; opening < end;) {
		char *next = (char *)memchr(opening, '\n', (size_t)(end - opening)) + 1;
		ask(opening, (size_t)(next - opening));
		opening = next;
	}
	while (fgets(command, sizeof command, stdin)) {
		int count = atoi(command);
		int64_t *took = calloc((size_t)count + 1, sizeof *took), began = now();
		for (int i = 0; i < count; i++) {
			int64_t sent = now();
			ask(line, size);
			took[i] = now() - sent;
		}
		int64_t all = now() - began;
		for (int i = 0; i < count; i++)
			printf("%lld\n", (long long)took[i]);
		printf("all %lld\n", (long long)all);
		fflush(stdout);
		free(took);
	}
	close(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
