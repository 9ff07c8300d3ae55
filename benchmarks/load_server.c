/* A server that costs as little as possible: the judge of how many requests a load generator sends.
 *
 *   load_server PORT TOKENS VARY
 *
 * One thread, epoll. Every request (a head that ends in an empty line, and a body of Content-Length bytes) is answered
 * with the same chat completion as server-sent events, one HTTP chunk for each of TOKENS tokens, in one write. With
 * VARY = 1 every answer has an id of its own in each of its events, as a model server's has; with VARY = 2 its tokens
 * are its own, too. GET /stats answers with the number of requests, the CPU time in microseconds and the wall time in
 * nanoseconds (CLOCK_MONOTONIC) instead. The first line of output is the port.
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
#define MOST_IDS 512
#define ID_DIGITS 12

typedef struct {
    char *data;
    size_t used;
} Input;

static Input inputs[MOST_FDS];
static char answer[1 << 20];
static size_t answer_size;
static size_t ids[MOST_IDS], tokens_at[MOST_IDS];
static int id_count, token_count, vary;
static unsigned long requests;

static void add(const char *text, size_t size) {
    memcpy(answer + answer_size, text, size);
    answer_size += size;
}

/* One event in a chunk of its own; remembers where its id is. */
static void add_event(const char *rest) {
    char event[1024], line[32];
    const char *start = "data: {\"id\":\"chatcmpl-000000000000\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
                        "\"model\":\"canned\",";
    int size = snprintf(event, sizeof event, "%s%s\n\n", start, rest);
    int line_size = snprintf(line, sizeof line, "%x\r\n", size);
    add(line, (size_t)line_size);
    if (id_count < MOST_IDS) ids[id_count++] = answer_size + strlen("data: {\"id\":\"chatcmpl-");
    add(event, (size_t)size);
    add("\r\n", 2);
}

static void build(int tokens) {
    const char *head = "HTTP/1.1 200 OK\r\nserver: canned\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
                       "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
    char rest[512];
    add(head, strlen(head));
    add_event("\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}");
    for (int i = 0; i < tokens; i++) {
        snprintf(rest, sizeof rest, "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"finish_reason\":null}]}", i);
        add_event(rest);
        const char *word = memmem(answer + ids[id_count - 1], answer_size - ids[id_count - 1], " word", 5);
        if (token_count < MOST_IDS) tokens_at[token_count++] = (size_t)(word - answer) + 1;
    }
    add_event("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}");
    snprintf(rest, sizeof rest,
             "\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d,\"total_tokens\":%d}}", tokens, tokens + 8);
    add_event(rest);
    add("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n", 24);
}

static void renumber(void) {
    char digits[32];
    snprintf(digits, sizeof digits, "%0*lu", ID_DIGITS, requests);
    for (int i = 0; i < id_count; i++) memcpy(answer + ids[i], digits, ID_DIGITS);
    for (int i = 0; vary > 1 && i < token_count; i++)
        for (int j = 0; j < 4; j++) answer[tokens_at[i] + (size_t)j] = (char)('a' + (digits[ID_DIGITS - 1 - j] - '0' + i) % 26);
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
            if (vary) renumber();
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

int main(int count, char **words) {
    if (count < 4) return 2;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(words[1]))};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    vary = atoi(words[3]);
    build(atoi(words[2]));
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
