/* Reads a streamed answer of a model server: looks at its head, takes the chunks of its body apart, divides it into
 * events, scans the JSON of each, and says which events have content, when each arrived, and what the usage says.
 *
 *   read(reads, dialect, max_bytes) -> (status, first_ns, last_ns, count, gaps, entered, left, cached) | None
 *
 * `reads` are pairs of a time and the bytes that came then; the first one has the whole head. `entered`, `left` and
 * `cached` are tokens, -1 where nobody counted.
 *
 * None is said of whatever is not certain to be a complete answer without an error: the decoder in Python decides about
 * it. So there is no opinion here that is not also there, and every check is written so that doubt refuses.
 *
 * What keeps it inside of its memory: the body is copied into a buffer of our own that ends in zeros. No part of the
 * grammar takes a zero, so that whatever goes on byte by byte stops there at the latest, and MARGIN zeros are more than
 * any comparison looks at in one go. Nesting is counted, numbers have a most length, nothing is kept between calls.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char Byte;

#define MARGIN 16
#define MOST_NESTED 64
#define MOST_DIGITS 64       /* of a number; Python refuses some thousands */
#define MOST_COUNT_DIGITS 9  /* of a count: it has room in 32 bits */
#define MOST_HEAD 16384      /* bytes of a head; what is longer is left to others to judge */
#define MOST_SIZE_DIGITS 7   /* of a chunk */

/* ---- What is looked for: the fields that count, of each object that has some; all others are only checked. ---- */

typedef enum {
    TEXT,    /* a text; `mark` where it is not empty */
    COUNT,   /* a whole number from 0 on, into the place `mark` */
    TRUTH,   /* `mark` where it is true */
    ITEMS,   /* an array; `mark` where it is not empty */
    WORD,    /* a text that decides what the event is */
    NOTHING, /* null, or this is not certain */
    OBJECT,  /* `mark` where there is one */
    ONLY     /* an array of at most one object */
} Kind;

/* Marks of an event. */
enum { CONTENT = 1, FINISHED = 2, TOOL = 4, BLOCK = 8, USAGE = 16, START_USAGE = 32 };
/* Places of counts. */
enum { ENTERED, LEFT, CACHED, WRITTEN, INDEX, COUNTS };

typedef struct Key {
    const char *name;
    Py_ssize_t length;
    Kind kind;
    int mark;
    const struct Key *inside;
} Key;

#define KEY(name, kind, mark) {name, sizeof name - 1, kind, mark, NULL}
#define INSIDE(name, kind, mark, keys) {name, sizeof name - 1, kind, mark, keys}
#define LAST {NULL, 0, TEXT, 0, NULL}

typedef struct {
    int marks;
    const Byte *word;
    Py_ssize_t word_length;
    int64_t counts[COUNTS]; /* -1: not said */
} Event;

/* OpenAI's chats and older completions. */
static const Key prompt_details[] = {KEY("cached_tokens", COUNT, CACHED), LAST};
static const Key chat_usage[] = {
    KEY("prompt_tokens", COUNT, ENTERED), KEY("completion_tokens", COUNT, LEFT),
    INSIDE("prompt_tokens_details", OBJECT, 0, prompt_details), LAST};
static const Key chat_delta[] = {
    KEY("content", TEXT, CONTENT), KEY("reasoning_content", TEXT, CONTENT), KEY("reasoning", TEXT, CONTENT),
    KEY("refusal", TEXT, CONTENT), KEY("tool_calls", ITEMS, CONTENT), LAST};
static const Key chat_choice[] = {
    INSIDE("delta", OBJECT, 0, chat_delta), KEY("index", COUNT, INDEX), KEY("finish_reason", TEXT, FINISHED), LAST};
static const Key text_choice[] = {
    KEY("text", TEXT, CONTENT), KEY("index", COUNT, INDEX), KEY("finish_reason", TEXT, FINISHED), LAST};
#define CHOICE_EVENT(choice) \
    INSIDE("choices", ONLY, 0, choice), INSIDE("usage", OBJECT, 0, chat_usage), KEY("error", NOTHING, 0), \
    KEY("object", WORD, 0), LAST
static const Key chat_event[] = {CHOICE_EVENT(chat_choice)};
static const Key text_event[] = {CHOICE_EVENT(text_choice)};

/* Anthropic's messages. */
static const Key message_usage[] = {
    KEY("input_tokens", COUNT, ENTERED), KEY("output_tokens", COUNT, LEFT),
    KEY("cache_read_input_tokens", COUNT, CACHED), KEY("cache_creation_input_tokens", COUNT, WRITTEN), LAST};
static const Key message_delta[] = {
    KEY("text", TEXT, CONTENT), KEY("thinking", TEXT, CONTENT), KEY("partial_json", TEXT, CONTENT),
    KEY("type", TEXT, 0), LAST};
static const Key message_block[] = {
    KEY("type", WORD, TOOL), KEY("text", TEXT, BLOCK), KEY("thinking", TEXT, BLOCK), KEY("partial_json", TEXT, 0), LAST};
static const Key message_start[] = {INSIDE("usage", OBJECT, START_USAGE, message_usage), LAST};
static const Key message_event[] = {
    KEY("type", WORD, 0), INSIDE("delta", OBJECT, 0, message_delta), INSIDE("content_block", OBJECT, 0, message_block),
    INSIDE("message", OBJECT, 0, message_start), INSIDE("usage", OBJECT, USAGE, message_usage), LAST};

/* Ollama's lines. */
static const Key ollama_message[] = {
    KEY("content", TEXT, CONTENT), KEY("thinking", TEXT, CONTENT), KEY("tool_calls", ITEMS, CONTENT), LAST};
#define LINE_END \
    KEY("done", TRUTH, FINISHED), KEY("prompt_eval_count", COUNT, ENTERED), KEY("eval_count", COUNT, LEFT), \
    KEY("error", NOTHING, 0), LAST
static const Key ollama_line[] = {INSIDE("message", OBJECT, 0, ollama_message), LINE_END};
static const Key generated_line[] = {KEY("response", TEXT, CONTENT), KEY("thinking", TEXT, CONTENT), LINE_END};

/* ---- JSON. Each function takes the place where its part begins and returns the place after it, or NULL where that is
 * no JSON or not certain. A line end is no white space here: it ends the line that the JSON is in. ---- */

static const Byte *blanks(const Byte *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

static int hex_digit(Byte byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Four hex digits, or -1. */
static int code_unit(const Byte *at) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1; /* also at a zero: nothing behind it is looked at */
        value = value << 4 | digit;
    }
    return value;
}

/* After the backslash. Halves of a pair that stand alone are refused. */
static const Byte *escape(const Byte *at) {
    switch (*at) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return at + 1;
    case 'u': {
        int unit = code_unit(at + 1);
        if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return NULL;
        at += 5;
        if (unit < 0xD800 || unit > 0xDBFF) return at;
        if (at[0] != '\\' || at[1] != 'u') return NULL;
        unit = code_unit(at + 2);
        return unit >= 0xDC00 && unit <= 0xDFFF ? at + 6 : NULL;
    }
    default:
        return NULL;
    }
}

static int is_continued(Byte byte) { return (byte & 0xC0) == 0x80; }

/* One character of several bytes in UTF-8, in its shortest form. */
static const Byte *wide_character(const Byte *at) {
    Byte first = at[0];
    if (first < 0xC2 || first > 0xF4 || !is_continued(at[1])) return NULL;
    if (first < 0xE0) return at + 2;
    if (!is_continued(at[2])) return NULL;
    if (first < 0xF0) return (first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) ? NULL : at + 3;
    if (!is_continued(at[3]) || (first == 0xF0 && at[1] < 0x90) || (first == 0xF4 && at[1] > 0x8F)) return NULL;
    return at + 4;
}

#define EACH_BYTE(byte) (0x0101010101010101u * (byte))

/* Whether none of eight bytes is a quote, a backslash, a control character or part of a wide character. Borrowing from
 * the byte above can only make a word look special that has another special byte. */
static int are_plain(const Byte *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t special = word | (word - EACH_BYTE(0x20)) | ((word ^ EACH_BYTE('"')) - EACH_BYTE(1)) |
                       ((word ^ EACH_BYTE('\\')) - EACH_BYTE(1));
    return !(special & EACH_BYTE(0x80));
}

/* A text, after its opening quote. `*escaped` becomes 1 where its bytes are not its characters. */
static const Byte *text(const Byte *at, int *escaped) {
    for (;;) {
        while (are_plain(at)) at += 8;
        while (*at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') at++;
        if (*at == '"') return at + 1;
        if (*at == '\\') {
            *escaped = 1;
            at = escape(at + 1);
        } else {
            at = *at >= 0x80 ? wide_character(at) : NULL;
        }
        if (at == NULL) return NULL;
    }
}

static const Byte *digits(const Byte *at) {
    const Byte *begun = at;
    while (*at >= '0' && *at <= '9') at++;
    return at - begun > 0 && at - begun <= MOST_DIGITS ? at : NULL;
}

static const Byte *number(const Byte *at) {
    if (*at == '-') at++;
    if (*at == '0') at++;
    else if ((at = digits(at)) == NULL) return NULL;
    if (*at == '.' && (at = digits(at + 1)) == NULL) return NULL;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = digits(at);
    }
    return at;
}

static const Byte *literal(const Byte *at, const char *word, size_t length) {
    return memcmp(at, word, length) == 0 ? at + length : NULL; /* at most 5 bytes: within the margin */
}

static const Byte *object(const Byte *at, const Key *keys, Event *event, int depth);
static const Byte *value(const Byte *at, int depth);

/* An array, after its bracket; `*count` becomes the number of its values. */
static const Byte *array(const Byte *at, int depth, Py_ssize_t *count) {
    *count = 0;
    at = blanks(at);
    if (*at == ']') return at + 1;
    for (;;) {
        if ((at = value(blanks(at), depth)) == NULL) return NULL;
        ++*count;
        at = blanks(at);
        if (*at == ']') return at + 1;
        if (*at++ != ',') return NULL;
    }
}

/* Any value. */
static const Byte *value(const Byte *at, int depth) {
    int escaped;
    Py_ssize_t count;
    if (depth <= 0) return NULL;
    switch (*at) {
    case '"': return text(at + 1, &escaped);
    case '{': return object(at + 1, NULL, NULL, depth - 1);
    case '[': return array(at + 1, depth - 1, &count);
    case 't': return literal(at, "true", 4);
    case 'f': return literal(at, "false", 5);
    case 'n': return literal(at, "null", 4);
    default: return number(at);
    }
}

static const Byte *counted(const Byte *at, int64_t *count) {
    int64_t found = 0;
    const Byte *begun = at;
    if (*at == '0') at++;
    else
        for (; *at >= '0' && *at <= '9' && at - begun <= MOST_COUNT_DIGITS; at++) found = found * 10 + (*at - '0');
    /* a fraction or an exponent is no count, and refused by whatever comes after a value */
    if (at == begun || at - begun > MOST_COUNT_DIGITS) return NULL;
    *count = found;
    return at;
}

static int is_word(const Byte *word, Py_ssize_t length, const char *expected) {
    return length == (Py_ssize_t)strlen(expected) && memcmp(word, expected, (size_t)length) == 0;
}

static const Byte *only(const Byte *at, const Key *keys, Event *event, int depth) {
    at = blanks(at);
    if (*at == ']') return at + 1;
    if (*at != '{' || (at = object(at + 1, keys, event, depth)) == NULL) return NULL;
    at = blanks(at);
    return *at == ']' ? at + 1 : NULL;
}

/* The value of a field that counts. */
static const Byte *known_value(const Byte *at, const Key *key, Event *event, int depth) {
    int escaped = 0;
    Py_ssize_t count;
    const Byte *begun = at + 1;
    if (depth <= 0) return NULL;
    if (*at == 'n') return literal(at, "null", 4);
    switch (key->kind) {
    case TEXT:
        if (*at != '"' || (at = text(begun, &escaped)) == NULL) return NULL;
        if (at - begun > 1) event->marks |= key->mark;
        return at;
    case COUNT:
        return counted(at, &event->counts[key->mark]);
    case TRUTH:
        if (*at == 'f') return literal(at, "false", 5);
        event->marks |= key->mark;
        return literal(at, "true", 4);
    case ITEMS:
        if (*at != '[' || (at = array(begun, depth - 1, &count)) == NULL) return NULL;
        if (count > 0) event->marks |= key->mark;
        return at;
    case WORD:
        if (*at != '"' || (at = text(begun, &escaped)) == NULL || escaped) return NULL;
        if (key->mark == TOOL) {
            if (is_word(begun, at - 1 - begun, "tool_use")) event->marks |= TOOL;
        } else {
            event->word = begun;
            event->word_length = at - 1 - begun;
        }
        return at;
    case OBJECT:
        event->marks |= key->mark;
        return *at == '{' ? object(begun, key->inside, event, depth - 1) : NULL;
    case ONLY:
        return *at == '[' ? only(begun, key->inside, event, depth - 1) : NULL;
    default:
        return NULL;
    }
}

static const Key *find(const Key *keys, const Byte *name, Py_ssize_t length) {
    for (; keys->name != NULL; keys++)
        if (keys->length == length && memcmp(keys->name, name, (size_t)length) == 0) return keys;
    return NULL;
}

/* An object, after its brace. Without `keys` none of its fields counts. */
static const Byte *object(const Byte *at, const Key *keys, Event *event, int depth) {
    unsigned seen = 0;
    at = blanks(at);
    if (*at == '}') return at + 1;
    for (;;) {
        int escaped = 0;
        at = blanks(at);
        if (*at != '"') return NULL;
        const Byte *name = ++at;
        if ((at = text(at, &escaped)) == NULL) return NULL;
        Py_ssize_t length = at - 1 - name;
        at = blanks(at);
        if (*at++ != ':') return NULL;
        at = blanks(at);
        const Key *key = NULL;
        if (keys != NULL) {
            if (escaped) return NULL; /* it may be one of those that count */
            if ((key = find(keys, name, length)) != NULL) {
                if (seen & 1u << (key - keys)) return NULL; /* the second of one name would be the one that counts */
                seen |= 1u << (key - keys);
            }
        }
        at = key != NULL ? known_value(at, key, event, depth) : value(at, depth);
        if (at == NULL) return NULL;
        at = blanks(at);
        if (*at == '}') return at + 1;
        if (*at++ != ',') return NULL;
    }
}

/* ---- What the events of an answer say together. ---- */

typedef struct {
    int finished;
    int64_t entered, left, cached; /* -1: not said */
} Sums;

/* Each adds an event: 1 where it has content, 0 where it has none, -1 where that is not certain. */
typedef int (*Adder)(Sums *sums, const Event *event);

static int64_t at_least_none(int64_t count) { return count < 0 ? 0 : count; }

/* Some repeat a growing count in each event: the last one holds. */
static void take_counts(Sums *sums, const int64_t *counts) {
    if (counts[ENTERED] < 0 && counts[LEFT] < 0) return;
    sums->entered = at_least_none(counts[ENTERED]);
    sums->left = at_least_none(counts[LEFT]);
    sums->cached = at_least_none(counts[CACHED]);
}

static int add_chat(Sums *sums, const Event *event) {
    if (event->word != NULL && is_word(event->word, event->word_length, "error")) return -1;
    if (event->counts[INDEX] > 0) return -1;
    if (event->marks & FINISHED) sums->finished = 1;
    take_counts(sums, event->counts);
    return event->marks & CONTENT;
}

static int add_message(Sums *sums, const Event *event) {
    const int64_t *counts = event->counts;
    const Byte *word = event->word;
    Py_ssize_t length = event->word_length;
    int usage = 0;
    if (word == NULL || length == 0 || is_word(word, length, "error")) return -1;
    if ((event->marks & USAGE) && (event->marks & START_USAGE)) return -1; /* counted into the same places */
    if (is_word(word, length, "content_block_delta")) return event->marks & CONTENT;
    if (is_word(word, length, "content_block_start")) return (event->marks & (BLOCK | TOOL)) != 0;
    if (is_word(word, length, "message_stop")) sums->finished = 1;
    if (is_word(word, length, "message_delta")) usage = event->marks & USAGE;
    if (is_word(word, length, "message_start")) usage = event->marks & START_USAGE;
    if (!usage || (counts[ENTERED] < 0 && counts[LEFT] < 0)) return 0;
    if (sums->left < 0) sums->entered = sums->left = sums->cached = 0;
    if (counts[ENTERED] >= 0)
        sums->entered = counts[ENTERED] + at_least_none(counts[CACHED]) + at_least_none(counts[WRITTEN]);
    if (counts[LEFT] >= 0) sums->left = counts[LEFT];
    if (counts[CACHED] >= 0) sums->cached = counts[CACHED];
    return 0;
}

static int add_line(Sums *sums, const Event *event) {
    if (event->marks & FINISHED) {
        sums->finished = 1;
        take_counts(sums, event->counts);
    }
    return event->marks & CONTENT;
}

typedef struct {
    const Key *keys;
    Adder add;
    int lines;        /* each is a line of JSON, no server-sent event */
    const char *mark; /* an event that ends an answer and is no JSON */
    const char *types[4]; /* of its streams */
} Dialect;

#define EVENTS {"text/event-stream"}
#define LINES {"application/x-ndjson", "application/ndjson", "application/jsonl"}

/* In the order of SHAPES in shapes.py. */
static const Dialect dialects[] = {
    {chat_event, add_chat, 0, "[DONE]", EVENTS},
    {text_event, add_chat, 0, "[DONE]", EVENTS},
    {message_event, add_message, 0, NULL, EVENTS},
    {ollama_line, add_line, 1, NULL, LINES},
    {generated_line, add_line, 1, NULL, LINES},
};

/* ---- The head, which is read where it lies: every step looks for its end first. ---- */

typedef struct {
    int status;
    Py_ssize_t at, length; /* of the body; -1: it comes in chunks */
} Head;

/* Whether the bytes are the word, which is in lower case, in any case. */
static int is_name(const Byte *at, const Byte *end, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(end - at) != length) return 0;
    for (size_t i = 0; i < length; i++)
        if ((at[i] >= 'A' && at[i] <= 'Z' ? at[i] | 0x20 : at[i]) != (Byte)word[i]) return 0;
    return 1;
}

static int is_digit(Byte byte) { return byte >= '0' && byte <= '9'; }

static int is_token(Byte byte) {
    return is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
           (byte != 0 && strchr("!#$%&'*+.^_`|~-", byte) != NULL);
}

static int is_blank(Byte byte) { return byte == ' ' || byte == '\t'; }

/* One header from `at` to `end`; `*typed` becomes 1 where it is the type of the dialect's streams. 0: not certain. */
static int header(const Byte *at, const Byte *end, const Dialect *dialect, Head *head, int *typed) {
    const Byte *name = at, *colon;
    while (at < end && is_token(*at)) at++;
    if (at == name || at == end || *at != ':') return 0;
    colon = at++;
    while (at < end && is_blank(*at)) at++;
    while (end > at && is_blank(end[-1])) end--;
    if (is_name(name, colon, "content-encoding")) return 0;
    if (is_name(name, colon, "content-type")) {
        const Byte *semicolon = memchr(at, ';', (size_t)(end - at));
        if (semicolon != NULL) end = semicolon;
        while (end > at && is_blank(end[-1])) end--;
        for (const char *const *type = dialect->types; *type != NULL; type++)
            if (is_name(at, end, *type)) return !(*typed)++;
        return 0;
    }
    if (is_name(name, colon, "transfer-encoding")) {
        if (head->length != -2 || !is_name(at, end, "chunked")) return 0;
        head->length = -1;
    } else if (is_name(name, colon, "content-length")) {
        if (head->length != -2 || end == at || end - at > MOST_COUNT_DIGITS) return 0;
        for (head->length = 0; at < end; at++) {
            if (!is_digit(*at)) return 0;
            head->length = head->length * 10 + (*at - '0');
        }
    }
    return 1;
}

static int read_head(const Byte *data, Py_ssize_t size, const Dialect *dialect, Head *head) {
    const Byte *at = data, *end = data + size;
    int typed = 0;
    head->length = -2; /* not said */
    if (size < 13 || memcmp(at, "HTTP/1.1 2", 10) != 0 || !is_digit(at[10]) || !is_digit(at[11])) return 0;
    head->status = 200 + 10 * (at[10] - '0') + (at[11] - '0');
    if (head->status == 204 || (at[12] != ' ' && at[12] != '\r')) return 0;
    for (int line = 0;; line++) {
        const Byte *stop = memchr(at, '\r', (size_t)(end - at));
        if (stop == NULL || end - stop < 2 || stop[1] != '\n') return 0;
        if (stop == at && line > 0) break;
        if (memchr(at, '\n', (size_t)(stop - at)) != NULL) return 0;
        if (line > 0 && !header(at, stop, dialect, head, &typed)) return 0;
        at = stop + 2;
    }
    head->at = at + 2 - data;
    return typed && head->length != -2 && head->at <= MOST_HEAD;
}

/* ---- An answer: its reads, its body, its events. ---- */

typedef struct {
    Byte *body;          /* with MARGIN zeros behind it */
    Py_ssize_t size;
    Py_ssize_t count;    /* of reads */
    Py_ssize_t *ends;    /* where in the body each read ends */
    int64_t *times;      /* when each came */
    Py_ssize_t reading;  /* the read of the last event */
    const Dialect *dialect;
    Sums sums;
    Py_ssize_t contents; /* events with content */
    int64_t first, last;
    PyObject *gaps;
} Answer;

typedef enum { SIZE, SIZE_END, DATA, DATA_END, DATA_ENDED, LAST_END, LAST_ENDED, OVER } Framing;

/* Copies the data of chunks from `data` to the body. */
static int add_chunks(Answer *answer, const Byte *data, const Byte *end, Framing *state, Py_ssize_t *left, int *count) {
    while (data < end) {
        Byte byte = *data;
        switch (*state) {
        case SIZE: {
            int digit = hex_digit(byte);
            if (digit < 0) {
                if (byte != '\r' || *count == 0) return -1;
                *state = SIZE_END;
            } else {
                if (++*count > MOST_SIZE_DIGITS) return -1;
                *left = *left << 4 | digit;
            }
            break;
        }
        case SIZE_END:
            if (byte != '\n') return -1;
            *state = *left ? DATA : LAST_END;
            break;
        case DATA: {
            Py_ssize_t part = end - data < *left ? end - data : *left;
            memcpy(answer->body + answer->size, data, (size_t)part);
            answer->size += part;
            data += part;
            if ((*left -= part) == 0) *state = DATA_END;
            continue;
        }
        case DATA_END:
        case LAST_END:
            if (byte != '\r') return -1;
            ++*state;
            break;
        case DATA_ENDED:
            if (byte != '\n') return -1;
            *count = 0;
            *state = SIZE;
            break;
        case LAST_ENDED:
            if (byte != '\n') return -1;
            *state = OVER;
            break;
        default: /* bytes after the end */
            return -1;
        }
        data++;
    }
    return 0;
}

/* Copies the body out of the reads; -1 where it is not just as long as it says. */
static int gather(Answer *answer, PyObject *reads, Py_ssize_t at, Py_ssize_t length) {
    Framing state = SIZE;
    Py_ssize_t left = 0;
    int count = 0;
    for (Py_ssize_t i = 0; i < answer->count; i++) {
        PyObject *bytes = PyTuple_GET_ITEM(PyList_GET_ITEM(reads, i), 1);
        const Byte *data = (const Byte *)PyBytes_AS_STRING(bytes);
        Py_ssize_t size = PyBytes_GET_SIZE(bytes), skipped = at < size ? at : size;
        at -= skipped;
        if (length >= 0) {
            memcpy(answer->body + answer->size, data + skipped, (size_t)(size - skipped));
            answer->size += size - skipped;
        } else if (add_chunks(answer, data + skipped, data + size, &state, &left, &count) < 0) {
            return -1;
        }
        answer->ends[i] = answer->size;
    }
    memset(answer->body + answer->size, 0, MARGIN);
    return length >= 0 ? (answer->size == length ? 0 : -1) : (state == OVER ? 0 : -1);
}

/* An event is complete at `end` of the body. 0 where that is not certain, -1 where there is no memory. */
static int add_event(Answer *answer, const Event *event, Py_ssize_t end) {
    int content = answer->dialect->add(&answer->sums, event);
    if (content <= 0) return content == 0;
    while (answer->ends[answer->reading] < end) answer->reading++;
    int64_t time = answer->times[answer->reading];
    if (answer->contents++ == 0) {
        answer->first = time;
    } else {
        PyObject *gap = PyLong_FromLongLong((int64_t)((uint64_t)time - (uint64_t)answer->last));
        int added = gap == NULL ? -1 : PyList_Append(answer->gaps, gap);
        Py_XDECREF(gap);
        if (added < 0) return -1;
    }
    answer->last = time;
    return 1;
}

/* After a line end, or NULL where there is none. */
static const Byte *line_end(const Byte *at) {
    if (*at == '\r') at++; /* alone it is one as well, and left to others */
    return *at == '\n' ? at + 1 : NULL;
}

static const Byte *event_json(const Byte *at, const Dialect *dialect, Event *event) {
    *event = (Event){.counts = {-1, -1, -1, -1, -1}};
    if (*at != '{' || (at = object(at + 1, dialect->keys, event, MOST_NESTED)) == NULL) return NULL;
    return line_end(blanks(at));
}

static int read_lines(Answer *answer) {
    Event event;
    const Byte *at = answer->body, *end = at + answer->size;
    while (at < end) {
        if ((at = event_json(blanks(at), answer->dialect, &event)) == NULL) return 0;
        int added = add_event(answer, &event, at - answer->body);
        if (added <= 0) return added;
    }
    return 1;
}

#define BEGINS(at, text) (memcmp(at, text, sizeof text - 1) == 0) /* shorter than the margin */

/* A line that says nothing of the answer itself: a comment, an id, a time to wait or the name of an event. */
static const Byte *other_line(const Byte *at, const Byte *end) {
    if (BEGINS(at, "event:")) {
        const Byte *name = at + 6 + (at[6] == ' ');
        if (BEGINS(name, "error")) return NULL;
    } else if (*at != ':' && !BEGINS(at, "id:") && !BEGINS(at, "retry:")) {
        return NULL;
    }
    const Byte *newline = memchr(at, '\n', (size_t)(end - at));
    if (newline == NULL) return NULL;
    const Byte *back = memchr(at, '\r', (size_t)(newline - at));
    return back == NULL || back + 1 == newline ? newline + 1 : NULL;
}

static int read_events(Answer *answer) {
    Event event;
    int inside = 0, marked = 0;
    const Dialect *dialect = answer->dialect;
    const Byte *at = answer->body, *end = at + answer->size;
    while (at < end) {
        if (*at == '\n' || *at == '\r') {
            if ((at = line_end(at)) == NULL) return 0;
            if (inside && !marked) {
                int added = add_event(answer, &event, at - answer->body);
                if (added <= 0) return added;
            }
            inside = 0;
        } else if (BEGINS(at, "data:")) {
            if (inside || marked) return 0;
            inside = 1;
            at = blanks(at + 5);
            if (*at == '[' && dialect->mark != NULL) {
                size_t length = strlen(dialect->mark);
                if ((at = literal(at, dialect->mark, length)) == NULL || (at = line_end(blanks(at))) == NULL) return 0;
                marked = 1;
            } else if ((at = event_json(at, dialect, &event)) == NULL) {
                return 0;
            }
        } else if ((at = other_line(at, end)) == NULL) {
            return 0;
        }
    }
    if (marked) answer->sums.finished = 1;
    return !inside;
}

/* How many bytes the reads have; -1 where they are not what they should be. Notes their times. */
static Py_ssize_t look_at(PyObject *reads, Py_ssize_t count, int64_t *times) {
    Py_ssize_t total = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GET_ITEM(reads, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyBytes_Check(PyTuple_GET_ITEM(pair, 1)) ||
            !PyLong_Check(PyTuple_GET_ITEM(pair, 0))) {
            PyErr_SetString(PyExc_TypeError, "a read is a time and the bytes that came then");
            return -1;
        }
        times[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(pair, 0));
        if (times[i] == -1 && PyErr_Occurred()) return -1;
        Py_ssize_t size = PyBytes_GET_SIZE(PyTuple_GET_ITEM(pair, 1));
        if (size > PY_SSIZE_T_MAX / 2 - total) {
            PyErr_NoMemory();
            return -1;
        }
        total += size;
    }
    return total;
}

static PyObject *result(const Answer *answer, int status) {
    const Sums *sums = &answer->sums;
    return Py_BuildValue("iLLnOLLL", status, (long long)answer->first, (long long)answer->last, answer->contents, answer->gaps,
                         (long long)sums->entered, (long long)sums->left, (long long)sums->cached);
}

static PyObject *read_answer(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t given_count) {
    if (given_count != 3 || !PyList_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "read(reads, dialect, max_bytes)");
        return NULL;
    }
    PyObject *reads = given[0], *found = NULL;
    Py_ssize_t code = PyLong_AsSsize_t(given[1]), most = PyLong_AsSsize_t(given[2]);
    if (PyErr_Occurred()) return NULL;
    Answer answer = {.count = PyList_GET_SIZE(reads), .first = -1, .last = -1, .sums = {0, -1, -1, -1}};
    if (code < 0 || code >= (Py_ssize_t)(sizeof dialects / sizeof *dialects)) {
        PyErr_SetString(PyExc_ValueError, "no such dialect");
        return NULL;
    }
    answer.dialect = &dialects[code];
    answer.times = PyMem_Calloc((size_t)answer.count + 1, sizeof *answer.times); /* checks for overflow */
    answer.ends = PyMem_Calloc((size_t)answer.count + 1, sizeof *answer.ends);
    if (answer.times == NULL || answer.ends == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_ssize_t total = look_at(reads, answer.count, answer.times);
    if (total < 0) goto done;
    Head head;
    PyObject *first = answer.count ? PyTuple_GET_ITEM(PyList_GET_ITEM(reads, 0), 1) : NULL;
    if (total > most || first == NULL ||
        !read_head((const Byte *)PyBytes_AS_STRING(first), PyBytes_GET_SIZE(first), answer.dialect, &head)) {
        found = Py_NewRef(Py_None);
        goto done;
    }
    answer.body = PyMem_Malloc((size_t)total + MARGIN);
    if (answer.body == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    int certain = 0;
    if (gather(&answer, reads, head.at, head.length) == 0) { /* up to here nothing could have changed the reads */
        if ((answer.gaps = PyList_New(0)) == NULL) goto done;
        certain = answer.dialect->lines ? read_lines(&answer) : read_events(&answer);
    }
    if (certain >= 0) found = certain && answer.sums.finished ? result(&answer, head.status) : Py_NewRef(Py_None);
done:
    Py_XDECREF(answer.gaps);
    PyMem_Free(answer.body);
    PyMem_Free(answer.ends);
    PyMem_Free(answer.times);
    return found;
}

static PyMethodDef methods[] = {
    {"read", (PyCFunction)(void (*)(void))read_answer, METH_FASTCALL,
     "read(reads, dialect, max_bytes): what a streamed answer says, or None where that is not certain."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_stream_reader",
    .m_doc = "Reads streamed answers of model servers.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__stream_reader(void) { return PyModuleDef_Init(&definition); }
