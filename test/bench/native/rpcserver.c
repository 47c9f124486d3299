/* A server of MCP, or with ACP an agent, without a library: it answers each request with the
 * same result, which serves for all that are sent, and each notification with one of its own.
 * All requests have the id 7. */
#ifdef BARE
#include "bare.h"
#else
#include <unistd.h>
static int hook(void);
int main(void) { return hook(); }
#endif

static char buffer[65536];

#ifdef ACP
#define RESULT "\"protocolVersion\":1,\"sessionId\":\"s\",\"stopReason\":\"end_turn\""
#define NEWS "session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}}"
#else
#define RESULT "\"content\":[{\"type\":\"text\",\"text\":\"done\"}]"
#define NEWS "notifications/progress\",\"params\":{\"progressToken\":7,\"progress\":1}"
#endif
static const char result[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{" RESULT "}}\n";
static const char news[] = "{\"jsonrpc\":\"2.0\",\"method\":\"" NEWS "}\n";

/* isRequest looks for the member id where the client of the benchmark writes it. */
static int isRequest(long length)
{
	static const char key[] = "{\"jsonrpc\":\"2.0\",\"id\"";
	for (long i = 0; i < (long)sizeof key - 1; i++)
		if (i >= length || buffer[i] != key[i])
			return 0;
	return 1;
}

static int hook(void)
{
	long length = 0;
	for (;;) {
		long n = read(0, buffer + length, sizeof buffer - (unsigned long)length);
		if (n <= 0)
			return 0;
		length += n;
		if (buffer[length - 1] != '\n')
			continue;
		if (isRequest(length))
			(void)!write(1, result, sizeof result - 1);
		else
			(void)!write(1, news, sizeof news - 1);
		length = 0;
	}
}
