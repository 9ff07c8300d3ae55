/* A model server that nobody tuned the client to: the events of several servers, counted by this one.
 *
 *   load_server PORT TOKENS SHAPE
 *
 * One thread, epoll, answers in one write, one HTTP chunk for each event: the role, TOKENS tokens, the finish, the usage
 * and [DONE] (16 tokens are 19 events and the mark). Every answer has its own id, creation time and text. SHAPE is one of
 *
 *   plain      ordinary chunks: role, created, id, usage chunk, [DONE]
 *   logprobs   the same with logprobs, system_fingerprint and usage: null in each event, and a request id in the head
 *   escapes    the same as plain, with escapes and characters of several bytes in the text
 *   crlf       lines that end in CRLF, with an id line before each event and a comment in between
 *   reasoning  every delta names its fields, most of them null; growing usage in each event; reasoning first
 *   tools      the answer is a tool call whose arguments come piece by piece
 *   together   all events in one HTTP chunk
 *   named      an event line and a comment in each event, lines that end in CRLF, blanks between the parts of the JSON
 *   long       two thousand characters in each event
 *
 * GET /stats answers with the number of requests, the CPU time in microseconds and the wall time in nanoseconds
 * (CLOCK_MONOTONIC) instead. The first line of output is the port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM 65536
#define MOST_EVENTS 512
#define MOST_FDS 65536
#define MOST_MARKS 4096
#define DIGITS 10

#define MOST_EVENT 8192

enum { PLAIN, LOGPROBS, ESCAPES, CRLF, REASONING, TOOLS, TOGETHER, NAMED, LONG, SHAPES };
static const char *names[] = {"plain", "logprobs", "escapes", "crlf", "reasoning", "tools", "together", "named", "long"};

typedef struct {
    char *data;
    size_t used;
} Input;

static Input inputs[MOST_FDS];
static char answer[1 << 20], body[1 << 20];
static size_t answer_size, body_size;
static size_t ids[MOST_MARKS], words[MOST_MARKS];
static int id_count, word_count, shape;
static unsigned long requests;

static void add(const char *text, size_t size) {
    memcpy(answer + answer_size, text, size);
    answer_size += size;
}

static void add_chunk(const char *data, size_t size) {
    char line[32];
    add(line, (size_t)snprintf(line, sizeof line, "%zx\r\n", size));
    add(data, size);
    add("\r\n", 2);
}

/* A blank after each comma and colon outside of texts, as Python's json writes it. */
static void add_blanks(const char *data, char *spaced) {
    int inside = 0;
    for (; *data; data++) {
        *spaced++ = *data;
        if (*data == '"') inside = !inside;
        if (!inside && (*data == ',' || *data == ':')) *spaced++ = ' ';
    }
    *spaced = 0;
}

/* One event in a chunk of its own, or added to the one chunk of all. */
static void add_event(const char *data) {
    static int number;
    char event[MOST_EVENT], spaced[MOST_EVENT];
    const char *end = shape == CRLF || shape == NAMED ? "\r\n" : "\n";
    int size = 0;
    if (shape == NAMED) {
        add_blanks(data, spaced);
        data = spaced;
        size = snprintf(event, sizeof event, "event: message%s: %d%s", end, number, end);
    }
    if (shape == CRLF) size = snprintf(event, sizeof event, "%sid: %d%s", number == 4 ? ": ping\r\n\r\n" : "", number, end);
    number++;
    size += snprintf(event + size, sizeof event - (size_t)size, "data: %s%s%s", data, end, end);
    if (shape == TOGETHER) {
        memcpy(body + body_size, event, (size_t)size);
        body_size += (size_t)size;
    } else {
        add_chunk(event, (size_t)size);
    }
}

static void add_delta(const char *delta, const char *finish, int done) {
    char event[MOST_EVENT], usage[128] = "";
    const char *more = shape == LOGPROBS ? ",\"system_fingerprint\":\"fp_44709d6fcb\",\"service_tier\":\"default\",\"usage\":null" : "";
    if (shape == REASONING)
        snprintf(usage, sizeof usage, ",\"usage\":{\"prompt_tokens\":8,\"total_tokens\":%d,\"completion_tokens\":%d}", done + 8, done);
    snprintf(event, sizeof event,
             "{\"id\":\"chatcmpl-@@@@@@@@@@\",\"object\":\"chat.completion.chunk\",\"created\":@@@@@@@@@@,\"model\":\"foreign-7b\""
             "%s,\"choices\":[{\"index\":0,\"delta\":{%s}%s,\"finish_reason\":%s}]%s}",
             more, delta, shape == LOGPROBS ? ",\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-0.31,\"bytes\":[97],\"top_logprobs\":[]}]}" : shape == PLAIN ? "" : ",\"logprobs\":null",
             finish, usage);
    add_event(event);
}

static void add_token(int i, int tokens) {
    char delta[MOST_EVENT / 2];
    if (shape == LONG)
        snprintf(delta, sizeof delta, "\"content\":\" ####%02000d\"", i);
    else if (shape == ESCAPES)
        snprintf(delta, sizeof delta, "\"content\":\" #### \\\"quoted\\\"\\n\\u00e9 \xc3\xb6\xf0\x9d\x84\x9e\"");
    else if (shape == REASONING)
        snprintf(delta, sizeof delta, "\"role\":null,\"content\":%s,\"reasoning_content\":%s,\"tool_calls\":null",
                 i < tokens / 2 ? "null" : "\" ####\"", i < tokens / 2 ? "\" ####\"" : "null");
    else if (shape == TOOLS)
        snprintf(delta, sizeof delta,
                 "\"tool_calls\":[{\"index\":0,\"id\":%s,\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":\"\\\"####\\\"\"}}]",
                 i ? "null" : "\"call_1\"", i ? "null" : "\"find\"");
    else
        snprintf(delta, sizeof delta, "\"content\":\" ####\"");
    add_delta(delta, "null", i + 1);
}

static void mark(void) {
    for (size_t at = 0; at < answer_size; at++) {
        if (answer[at] == '@' && id_count < MOST_MARKS) ids[id_count++] = at, at += DIGITS - 1;
        if (answer[at] == '#' && word_count < MOST_MARKS) words[word_count++] = at, at += 3;
    }
}

static void build(int tokens) {
    const char *head = "HTTP/1.1 200 OK\r\ndate: Mon, 16 Nov 2026 11:00:00 GMT\r\nserver: uvicorn\r\ncontent-type: text/event-stream; "
                       "charset=utf-8\r\ncache-control: no-cache\r\n";
    char usage[256];
    add(head, strlen(head));
    if (shape == LOGPROBS) add("x-request-id: req-@@@@@@@@@@\r\n", 30);
    if (shape == CRLF) add("connection: keep-alive\r\n", 24);
    add("transfer-encoding: chunked\r\n\r\n", 30);
    add_delta("\"role\":\"assistant\",\"content\":\"\"", "null", 0);
    for (int i = 0; i < tokens; i++) add_token(i, tokens);
    add_delta("", shape == TOOLS ? "\"tool_calls\"" : "\"stop\"", tokens);
    snprintf(usage, sizeof usage,
             "{\"id\":\"chatcmpl-@@@@@@@@@@\",\"object\":\"chat.completion.chunk\",\"created\":@@@@@@@@@@,\"model\":\"foreign-7b\",\"choices\":[],"
             "\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d,\"total_tokens\":%d}}", tokens, tokens + 8);
    add_event(usage);
    add_event("[DONE]");
    if (shape == TOGETHER) add_chunk(body, body_size);
    add("0\r\n\r\n", 5);
    mark();
}

/* An id, a time and a text that no other answer has. */
static void renumber(void) {
    char digits[32];
    snprintf(digits, sizeof digits, "%0*lu", DIGITS, 1700000000UL + requests);
    for (int i = 0; i < id_count; i++) memcpy(answer + ids[i], digits, DIGITS);
    unsigned long word = requests * 2654435761UL;
    for (int i = 0; i < word_count; i++) {
        word = word * 6364136223846793005UL + 1442695040888963407UL;
        for (int j = 0; j < 4; j++) answer[words[i] + (size_t)j] = (char)('a' + (word >> (33 + 5 * j)) % 26);
    }
}
static int send_stats(int fd) {
    char body[256], whole[512];
    struct rusage usage;
    struct timespec now;
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    long cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    int size = snprintf(body, sizeof body, "{\"requests\": %lu, \"cpu_us\": %ld, \"now_ns\": %ld}", requests, cpu_us,
                        now.tv_sec * 1000000000L + now.tv_nsec);
    int all = snprintf(whole, sizeof whole,
                       "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", size, body);
    return write(fd, whole, (size_t)all) == all ? 0 : -1;
}

/* The size of the first complete request in the input, or 0. */
static size_t complete(const char *data, size_t used) {
    const char *end = memmem(data, used, "\r\n\r\n", 4);
    if (end == NULL) return 0;
    size_t head = (size_t)(end - data) + 4, body = 0;
    for (const char *line = data; line < end;) {
        if (strncasecmp(line, "content-length:", 15) == 0) body = strtoul(line + 15, NULL, 10);
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL) break;
        line = next + 1;
    }
    return used >= head + body ? head + body : 0;
}

/* Answers what is complete; -1 ends the connection. */
static int serve(int fd, Input *input) {
    ssize_t got = read(fd, input->data + input->used, ROOM - input->used);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return -1;
    if (got < 0) return 0;
    input->used += (size_t)got;
    size_t size;
    while ((size = complete(input->data, input->used)) > 0) {
        if (strncmp(input->data, "GET /stats", 10) == 0) {
            if (send_stats(fd) < 0) return -1;
        } else {
            requests++;
            renumber();
            size_t sent = 0;
            while (sent < answer_size) {
                ssize_t n = write(fd, answer + sent, answer_size - sent);
                if (n < 0 && errno != EAGAIN) return -1;
                if (n > 0) sent += (size_t)n;
            }
        }
        input->used -= size;
        memmove(input->data, input->data + size, input->used);
    }
    return input->used == ROOM ? -1 : 0;
}

static void accept_all(int listener, int poll) {
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MOST_FDS) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (inputs[fd].data == NULL) inputs[fd].data = malloc(ROOM);
        inputs[fd].used = 0;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    }
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1]))};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (shape = 0; shape < SHAPES && strcmp(names[shape], arguments[3]); shape++) {}
    if (shape == SHAPES) return 2;
    build(atoi(arguments[2]));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4096) < 0) return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event first = {.events = EPOLLIN, .data.fd = listener}, events[MOST_EVENTS];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &first);
    for (;;) {
        int ready = epoll_wait(poll, events, MOST_EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_all(listener, poll);
            } else if (serve(fd, &inputs[fd]) < 0) {
                close(fd);
            }
        }
    }
}
