/* A process that leaves its session, starts a copy of itself and ends, on and on
 * for four seconds: at no moment is it where one looked for it. */
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec began, now;
	clock_gettime(CLOCK_MONOTONIC, &began);
	do {
		if (fork() != 0)
			_exit(0);
		setsid();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - began.tv_sec <= 4);
	return 0;
}
