/* The floor: what a machine needs at the least to run a program on a payload.
 * posix_spawn, two pipes, write, read to end of file, wait; nothing else.
 *
 * It reads commands on stdin, one a line:
 *     BURST GROUP THREADS PAYLOADFILE PROGRAM [ARGUMENT...]
 * Each of THREADS threads makes BURST samples one after the other. A sample
 * starts GROUP programs at once, writes the payload to each, and ends when all
 * of them have exited. The answer is a line of nanoseconds for each sample, and
 * then a line "all NANOSECONDS" for the whole burst, or "error TEXT". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

enum { MOST_GROUP = 16, MOST_THREADS = 16, MOST_WORDS = 32, LINE_SIZE = 16384 };

struct burst {
	int count, group;
	char **argv;
	const char *payload;
	size_t size;
	int64_t *took;
	int failed; /* errno */
};

static posix_spawnattr_t attributes;

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int make_pipe(int ends[2])
{
#ifdef __linux__
	return pipe2(ends, O_CLOEXEC) ? errno : 0;
#else
	if (pipe(ends))
		return errno;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return 0;
#endif
}

/* start starts one program and sets our ends of its stdin and stdout. */
static int start(char **argv, pid_t *pid, int *in, int *out)
{
	int input[2], output[2], e;
	posix_spawn_file_actions_t actions;
	if ((e = make_pipe(input)))
		return e;
	if ((e = make_pipe(output))) {
		close(input[0]);
		close(input[1]);
		return e;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input[0], 0);
	posix_spawn_file_actions_adddup2(&actions, output[1], 1);
	e = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(input[0]);
	close(output[1]);
	if (e) {
		close(input[1]);
		close(output[0]);
	}
	*in = input[1];
	*out = output[0];
	return e;
}

/* feed writes the payload. A program that does not read it is no error. */
static int feed(int in, const char *payload, size_t size)
{
	while (size > 0) {
		ssize_t n = write(in, payload, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EPIPE ? 0 : errno;
		payload += n;
		size -= (size_t)n;
	}
	return 0;
}

static int drain(int out)
{
	char buffer[65536];
	for (;;) {
		ssize_t n = read(out, buffer, sizeof buffer);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
	}
}

static int sample(const struct burst *b)
{
	pid_t pid[MOST_GROUP];
	int in[MOST_GROUP], out[MOST_GROUP], started, e = 0;
	for (started = 0; started < b->group; started++)
		if ((e = start(b->argv, &pid[started], &in[started], &out[started])))
			break;
	for (int i = 0; i < started; i++) {
		int failed = feed(in[i], b->payload, b->size);
		close(in[i]);
		e = e ? e : failed;
	}
	for (int i = 0; i < started; i++) {
		int status, failed = drain(out[i]);
		close(out[i]);
		while (waitpid(pid[i], &status, 0) < 0 && errno == EINTR)
			;
		if (!failed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
			failed = ECHILD;
		e = e ? e : failed;
	}
	return e;
}

static void *samples(void *argument)
{
	struct burst *b = argument;
	for (int i = 0; i < b->count && !b->failed; i++) {
		int64_t began = now();
		b->failed = sample(b);
		b->took[i] = now() - began;
	}
	return NULL;
}

static char *load(const char *path, size_t *size)
{
	int f = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	char *text = NULL;
	if (f < 0)
		return NULL;
	if (fstat(f, &s) == 0 && (text = malloc((size_t)s.st_size + 1))) {
		for (*size = 0; *size < (size_t)s.st_size;) {
			ssize_t n = read(f, text + *size, (size_t)s.st_size - *size);
			if (n <= 0)
				break;
			*size += (size_t)n;
		}
	}
	close(f);
	return text;
}

static void run(int count, int group, int threads, const char *file, char **argv)
{
	struct burst bursts[MOST_THREADS];
	pthread_t ids[MOST_THREADS];
	size_t size = 0;
	char *payload = load(file, &size);
	int failed = payload ? 0 : ENOENT;
	int64_t *took = calloc((size_t)count * (size_t)threads, sizeof *took);
	for (int i = 0; i < threads; i++)
		bursts[i] = (struct burst){count, group, argv, payload, size, took + (size_t)i * (size_t)count, failed};
	int64_t began = now();
	for (int i = 1; i < threads; i++)
		pthread_create(&ids[i], NULL, samples, &bursts[i]);
	samples(&bursts[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	int64_t all = now() - began;
	for (int i = 0; i < threads; i++)
		failed = failed ? failed : bursts[i].failed;
	if (failed)
		printf("error %s\n", strerror(failed));
	for (int i = 0; !failed && i < count * threads; i++)
		printf("%lld\n", (long long)took[i]);
	if (!failed)
		printf("all %lld\n", (long long)all);
	fflush(stdout);
	free(took);
	free(payload);
}

int main(void)
{
	static char line[LINE_SIZE];
	sigset_t defaults;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	while (fgets(line, sizeof line, stdin)) {
		char *words[MOST_WORDS + 1], *rest = line;
		int n = 0;
		while (n < MOST_WORDS && (words[n] = strtok_r(rest, " \n", &rest)))
			n++;
		words[n] = NULL;
		int count = n < 5 ? 0 : atoi(words[0]), group = n < 5 ? 0 : atoi(words[1]), threads = n < 5 ? 0 : atoi(words[2]);
		if (count < 1 || group < 1 || group > MOST_GROUP || threads < 1 || threads > MOST_THREADS) {
			printf("error not a command\n");
			fflush(stdout);
			continue;
		}
		run(count, group, threads, words[3], words + 4);
	}
	return 0;
}
