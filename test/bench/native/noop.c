/* A hook with nothing to say: it reads its event and ends. */
#ifdef BARE
#include "bare.h"
#else
#include <unistd.h>
static int hook(void);
int main(void) { return hook(); }
#endif

static char buffer[65536];

static int hook(void)
{
	while (read(0, buffer, sizeof buffer) > 0)
		;
	return 0;
}
