/* SPDX-License-Identifier: Apache-2.0
 *
 * Constants, state, errors and queues, for all parts of pto_mem.c.
 */
#define PAGE 4096u
#define PAGE_BITS 12
#define GRANULE_BITS 5
#define WORD_MAX 64 /* bytes of the widest bus word */
#define REPEATS 8   /* messages of one kind and slot between two resets */
#define KINDS 256
#define STDERR_LINES 64
#define CLOCK_NS 10 /* pto_harness.v */
#define NEVER UINT64_MAX
#define EXIT_REFUSED 3

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { RESP_OKAY = 0, RESP_SLVERR = 2, RESP_DECERR = 3 };

/* Flags that pto_tick() returns; bits 0 to 3: a slot's next descriptor may be offered, bits
 * 6 to 9 the slot has the next edge of the clock, bits 12 to 15: late bursts of the slot are to be
 * reported. TICK_STATE requests the state of every slot; TICK_FAULTS means that local writes
 * may fail where they did not before. */
enum {
  TICK_WAKE = 1 << 4,
  TICK_KNOBS = 1 << 5,
  TICK_RUN = 1 << 6,
  TICK_STATE = 1 << 10,
  TICK_FAULTS = 1 << 11,
  TICK_WATCH_BIT = 12
};

#define STATE_CLOCKS 4096 /* between two states of the slots, at most; 2^k */

/* Ports of words: each in order, at most one response a clock. */
enum port { PORT_SRC, PORT_PAR, PORT_R, PORT_DST, PORT_W, PORTS };
#define READ_PORTS (PORT_R + 1)

static const uint64_t sizes[PTO_SPACES] = {
  UINT64_C(1) << 40, 262144, 262144, 524288, 262144, 4096, 0x11000, 0x61000
};
/* FB has two segments: address bits 16 and up are the number, the others the offset. */
#define FB_OFFSET 0xffff
#define FB_SEGMENT 4096
/* L0 has four, by bits 17 and up: data of both operands, then their scales. */
#define L0_SHIFT 17
#define L0_OFFSET 0x1ffff
static const uint64_t l0_segments[] = { 65536, 65536, 4096, 4096 };
static const char *const space_names[PTO_SPACES] = {
  "gm", "ub0", "ub1", "l1", "l0c", "bt", "fb", "l0"
};
static const char *const slot_names[PTO_SLOTS] = { "mte1", "mte2", "mte3", "fix" };

struct beat {
  uint64_t strobe;
  uint8_t data[WORD_MAX];
};

struct burst {
  uint64_t addr;
  uint32_t beats;
};

/* A ring that grows: bursts without their data, data without their burst, bytes without their B. */
struct queue {
  char *items;
  size_t item, capacity, head, count;
};

struct credit {
  uint64_t bytes;
  uint32_t errors; /* of its beats, in `errors` of the writer */
};

/* An error before the handshake of its response. */
struct pending {
  uint64_t addr;
  uint32_t space, kind, fault;
};

struct writer {
  struct queue bursts, beats, credits, errors;
  uint32_t failed; /* beats of the burst under way */
  uint64_t bytes;  /* strobed bytes of the burst under way */
  uint32_t index;  /* its next beat */
  int resp;        /* its worst response so far */
};

struct feeder {
  uint64_t seen;  /* ring index for which `since` holds, plus one */
  uint64_t since; /* cycle from which the gap is counted */
  uint64_t accept_cycle[PTO_RING];
  uint64_t done_cycle; /* of the newest done record */
  uint64_t busy_cycle; /* the last in which the slot was not idle */
  uint64_t progress_cycle; /* in which it accepted or retired a descriptor; see watchdog() */
  uint64_t moved_cycle;    /* the same, or in which a beat was granted */
  uint64_t clear_bytes; /* as in the mailbox, for the next done record */
  uint64_t clear_cycle; /* of that clear */
  uint64_t owed[PTO_ACCESSES]; /* as in the mailbox, for the next done record */
};

/* A fault in use. Words that touch it on one clock are not distinguished: see decide(). */
struct live {
  struct pto_fault set;
  uint32_t index;
  uint64_t clock;                        /* of the newest word that touched it */
  uint64_t before;                       /* words that touched it on earlier clocks */
  uint32_t now;                          /* and on that one */
  uint32_t own[PTO_SLOTS * PORTS];       /* the latter by port */
  uint64_t fired;                        /* clock in which the n-th one failed, or UINT64_MAX */
  uint32_t fired_by;                     /* the ports with a failed word then */
};

static struct {
  int ready;
  struct pto_mailbox *box;
  uint8_t *base[PTO_SPACES];
  uint64_t *stamps[PTO_SPACES]; /* one for each granule: cycle << 3 | slot + 1, 0 for none */
  uint8_t *page_state;          /* of GM: 1 filled, 2 in the dirty list */
  uint64_t seed;
  int constant[PTO_SPACES]; /* background byte, or -1 for random */
  uint64_t *dirty;
  uint64_t dirty_count, dirty_capacity;
  struct live faults[PTO_FAULTS]; /* in the order of their indices */
  int fault_count;
  FILE *events; /* of PTO_EVENTS, or NULL */
  int local_faults;   /* slots with local writes that may fail */
  int counted_faults; /* whether they do depends on earlier words */
  int gm_pins;        /* GM is a memory in Python with faults of its own */
  int watch;          /* slots that have had an error since they were idle */
  uint64_t error_cycle[PTO_SLOTS];      /* of that error */
  struct queue answers[PTO_SLOTS][READ_PORTS]; /* errors not yet returned to the engine */
  uint32_t stall_totals[PTO_SLOTS][PTO_CHANNELS];
  uint64_t cycle;
  uint64_t watch_due;      /* clock in which a slot may hang */
  uint32_t watch_limit;    /* the mailbox's watchdog_clocks then */
  uint32_t stopped;        /* the request to end that Python was woken for */
  int aim;                 /* slot * PTO_CHANNELS + channel of the events to count, or -1 */
  uint32_t aim_left, aim_sets;
  uint64_t aim_due;     /* cycle in which Python is woken, or NEVER */
  uint32_t idle_clocks; /* for which an idle slot keeps its clock; 0: always */
  struct writer writer[PTO_SLOTS];
  struct feeder feeder[PTO_SLOTS];
  struct { uint64_t hash; int slot; uint32_t count; } kinds[KINDS];
  int kind_count, lines;
} g;

/* --- start ------------------------------------------------------------------------------------ */

static void pto_init(void);

static inline void need_init(void) {
  if (unlikely(!g.ready)) pto_init();
}

/* --- errors ----------------------------------------------------------------------------------- */

static void report(const char *text) {
  struct pto_mailbox *box = g.box;
  if (box && box->error_records - box->errors_polled < PTO_ERRORS) {
    char *line = box->error_text[box->error_records % PTO_ERRORS];
    snprintf(line, PTO_ERROR_TEXT, "%s", text);
    box->error_records++;
  }
  if (g.lines < STDERR_LINES) {
    g.lines++;
    fprintf(stderr, "pto: %s\n", text);
    fflush(stderr);
  }
}

static void __attribute__((noreturn)) refuse(const char *text) {
  report(text);
  if (g.box) g.box->errors++;
  _exit(EXIT_REFUSED); /* not exit(): the caller may be Python */
}

/* True while a kind of message of a slot is still to be printed. */
static int fresh(int slot, const char *text) {
  uint64_t hash = UINT64_C(1469598103934665603);
  for (const char *c = text; *c; c++) hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
  for (int i = 0; i < g.kind_count; i++)
    if (g.kinds[i].hash == hash && g.kinds[i].slot == slot) return ++g.kinds[i].count <= REPEATS;
  if (g.kind_count == KINDS) return 0;
  g.kinds[g.kind_count].hash = hash;
  g.kinds[g.kind_count].slot = slot;
  g.kinds[g.kind_count++].count = 1;
  return 1;
}

/* An error found by a checker or a backend; `a` and `b` are values of `text`. */
void pto_error(int slot, const char *text, long long a, long long b) {
  char line[PTO_ERROR_TEXT];
  need_init();
  g.box->errors++;
  if (!fresh(slot, text)) return;
  snprintf(line, sizeof line, "%s: %s (0x%llx, 0x%llx) at %llu ns, cycle %llu",
           slot >= 0 && slot < PTO_SLOTS ? slot_names[slot] : "harness", text, a, b,
           (unsigned long long)(g.cycle * CLOCK_NS + CLOCK_NS / 2), (unsigned long long)g.cycle);
  report(line);
}

/* --- queues ----------------------------------------------------------------------------------- */

static void init_queue(struct queue *q, size_t item) {
  q->item = item;
  q->capacity = 64;
  q->items = (char *)malloc(item * q->capacity);
  if (!q->items) refuse("out of memory");
}

static void *queue_push(struct queue *q) {
  if (q->count == q->capacity) {
    char *items = (char *)malloc(q->item * q->capacity * 2);
    if (!items) refuse("out of memory");
    for (size_t i = 0; i < q->count; i++)
      memcpy(items + i * q->item, q->items + (q->head + i) % q->capacity * q->item, q->item);
    free(q->items);
    q->items = items;
    q->head = 0;
    q->capacity *= 2;
  }
  return q->items + (q->head + q->count++) % q->capacity * q->item;
}

static void *queue_front(struct queue *q) { return q->items + q->head * q->item; }

static void *queue_at(struct queue *q, size_t index) {
  return q->items + (q->head + index) % q->capacity * q->item;
}

static void queue_pop(struct queue *q) {
  q->head = (q->head + 1) % q->capacity;
  q->count--;
}
