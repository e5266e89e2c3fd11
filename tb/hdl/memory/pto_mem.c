/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated memories (spec/README.md, "Memories") and the mailbox, inside the simulator.
 *
 * Verilog calls backends: DPI functions, or with PTO_VPI defined the system functions $pto_* of
 * Icarus. Python opens the same library with ctypes and accesses memories and mailbox in place.
 * GM is a sparse mapping of 2^40 bytes: a page exists once it was touched, and is then filled
 * with the background. Compiles as C and as C++ (Verilator's makefiles do the latter); needs a
 * little-endian host and 64-bit addresses.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pto_mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
 * reported. TICK_STATE requests the state of every slot; TICK_FAULTS says that local writes
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
static const char *const space_names[PTO_SPACES] = { "gm", "ub0", "ub1", "l1", "l0c", "bt", "fb", "l0" };
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
  uint64_t clear_bytes; /* as in the mailbox, for the next done record */
  uint64_t clear_cycle; /* of that clear */
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
  int local_faults;   /* slots with local writes that may fail */
  int counted_faults; /* whether they do depends on earlier words */
  int gm_pins;        /* GM is a memory in Python with faults of its own */
  int watch;          /* slots that have had an error since they were idle */
  uint64_t error_cycle[PTO_SLOTS];      /* of that error */
  struct queue answers[PTO_SLOTS][READ_PORTS]; /* errors not yet returned to the engine */
  uint32_t stall_totals[PTO_SLOTS][PTO_CHANNELS];
  uint64_t cycle;
  uint64_t progress_cycle; /* in which a descriptor was accepted or retired */
  uint64_t moved_cycle;    /* in which a beat was granted */
  int aim;                 /* slot * PTO_CHANNELS + channel of the events to count, or -1 */
  uint32_t aim_left, aim_sets;
  uint64_t aim_due;     /* cycle in which Python is woken, or NEVER */
  uint32_t idle_clocks; /* for which an idle slot keeps its clock; 0: always */
  struct writer writer[PTO_SLOTS];
  struct feeder feeder[PTO_SLOTS];
  struct { uint64_t hash; int slot; uint32_t count; } kinds[KINDS];
  int kind_count, lines;
} g;

#ifdef __cplusplus
extern "C" {
#endif

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

static void pto_init(void);

/* An error found by a checker or a backend; `a` and `b` are values of `text`. */
void pto_error(int slot, const char *text, long long a, long long b) {
  char line[PTO_ERROR_TEXT];
  if (unlikely(!g.ready)) pto_init();
  g.box->errors++;
  if (!fresh(slot, text)) return;
  snprintf(line, sizeof line, "%s: %s (0x%llx, 0x%llx) at %llu ns, cycle %llu",
           slot >= 0 && slot < PTO_SLOTS ? slot_names[slot] : "harness", text, a, b,
           (unsigned long long)(g.cycle * CLOCK_NS + CLOCK_NS / 2), (unsigned long long)g.cycle);
  report(line);
}

/* --- mappings --------------------------------------------------------------------------------- */

static void *map_sparse(const char *what, uint64_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    char line[PTO_ERROR_TEXT];
    snprintf(line, sizeof line,
             "the kernel refuses the sparse mapping of %s (%llu MiB of address space): %s. Set "
             "vm.overcommit_memory to 0 or 1, or lift the limit on address space "
             "(ulimit -v unlimited).",
             what, (unsigned long long)(bytes >> 20), strerror(errno));
    refuse(line);
  }
  /* Scattered bytes must not cost a huge page each. */
  madvise(at, bytes, MADV_NOHUGEPAGE);
  return at;
}

static void map_mailbox(void) {
  const char *path = getenv("PTO_MAILBOX");
  size_t bytes = sizeof(struct pto_mailbox);
  if (path == NULL || *path == 0) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) refuse("no memory for the mailbox");
    g.box = (struct pto_mailbox *)at;
    g.box->magic = PTO_MAGIC;
    g.box->version = PTO_VERSION;
    g.box->size = (uint32_t)bytes;
  } else {
    struct stat info;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0) {
      fprintf(stderr, "pto: PTO_MAILBOX=%s cannot be opened: %s\n", path, strerror(errno));
      _exit(EXIT_REFUSED);
    }
    void *at = MAP_FAILED;
    if ((size_t)info.st_size == bytes)
      at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    g.box = at == MAP_FAILED ? NULL : (struct pto_mailbox *)at;
    if (!g.box || g.box->magic != PTO_MAGIC || g.box->version != PTO_VERSION ||
        g.box->size != bytes) {
      fprintf(stderr,
              "pto: PTO_MAILBOX=%s is no mailbox of version %u (%zu bytes); create it with "
              "tb.harness.mailbox.MailboxReader.create\n",
              path, PTO_VERSION, bytes);
      _exit(EXIT_REFUSED);
    }
  }
  struct pto_mailbox *box = g.box;
  box->pid = (uint32_t)getpid();
  box->knobs[PTO_KNOB_AXI_READ_LATENCY] = 1;
  box->knobs[PTO_KNOB_AXI_WRITE_LATENCY] = 1;
  box->knobs[PTO_KNOB_LOCAL_READ_LATENCY] = 1;
  box->knobs[PTO_KNOB_SEED] = 1;
  box->knobs[PTO_KNOB_MAX_OUTSTANDING] = 64;
  box->knobs[PTO_KNOB_IDLE_CLOCKS] = 64;
  box->gm_limit = sizes[PTO_GM];
  box->knob_version = 1; /* the first tick loads the defaults */
}

static void init_queue(struct queue *q, size_t item) {
  q->item = item;
  q->capacity = 64;
  q->items = (char *)malloc(item * q->capacity);
  if (!q->items) refuse("out of memory");
}

static void fill_local(int space);
static void start_flags(void);

static void pto_init(void) {
  g.ready = 1; /* first: an error below must not re-enter */
  map_mailbox();
  for (int space = 0; space < PTO_SPACES; space++) {
    g.base[space] = (uint8_t *)map_sparse(space_names[space], sizes[space]);
    g.stamps[space] = (uint64_t *)map_sparse("write stamps", (sizes[space] >> GRANULE_BITS) * 8);
    g.constant[space] = -1;
  }
  g.page_state = (uint8_t *)map_sparse("page states", sizes[PTO_GM] >> PAGE_BITS);
  g.seed = 1;
  g.aim = -1;
  g.aim_due = NEVER;
  for (int space = PTO_GM + 1; space < PTO_SPACES; space++) fill_local(space);
  start_flags();
  for (int slot = 0; slot < PTO_SLOTS; slot++) {
    init_queue(&g.writer[slot].bursts, sizeof(struct burst));
    init_queue(&g.writer[slot].beats, sizeof(struct beat));
    init_queue(&g.writer[slot].credits, sizeof(struct credit));
    init_queue(&g.writer[slot].errors, sizeof(struct pending));
    for (int port = 0; port < READ_PORTS; port++)
      init_queue(&g.answers[slot][port], sizeof(struct pending));
    g.feeder[slot].clear_bytes = PTO_NO_CLEAR;
  }
}

static inline void need_init(void) {
  if (unlikely(!g.ready)) pto_init();
}

#include "pto_events.h"

/* --- background ------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t z) { /* splitmix64's finalizer */
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Fills `words` 8-byte words that start at `addr`, a multiple of 8. */
static void random_words(int space, uint64_t addr, uint64_t words, uint64_t *out) {
  const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t state = mix(g.seed ^ mix((uint64_t)space + 1)) + (addr >> 3) * golden;
  for (uint64_t i = 0; i < words; i++) {
    out[i] = mix(state);
    state += golden;
  }
}

void pto_mem_background(int space, uint64_t addr, uint64_t length, uint8_t *out) {
  uint64_t word;
  need_init();
  if (g.constant[space] >= 0) {
    memset(out, g.constant[space], length);
    return;
  }
  while (length && ((addr & 7) || length < 8)) {
    uint64_t offset = addr & 7, part = 8 - offset < length ? 8 - offset : length;
    random_words(space, addr - offset, 1, &word);
    memcpy(out, (const uint8_t *)&word + offset, part);
    addr += part, out += part, length -= part;
  }
  while (length >= 8) {
    uint64_t chunk[PAGE / 8], words = length / 8 < PAGE / 8 ? length / 8 : PAGE / 8;
    random_words(space, addr, words, chunk);
    memcpy(out, chunk, words * 8);
    addr += words * 8, out += words * 8, length -= words * 8;
  }
  if (length) {
    random_words(space, addr, 1, &word);
    memcpy(out, &word, length);
  }
}

static void fill_local(int space) { pto_mem_background(space, 0, sizes[space], g.base[space]); }

static void __attribute__((noinline)) fill_page(uint64_t page) {
  if (g.constant[PTO_GM] >= 0) {
    memset(g.base[PTO_GM] + (page << PAGE_BITS), g.constant[PTO_GM], PAGE);
  } else {
    random_words(PTO_GM, page << PAGE_BITS, PAGE / 8,
                 (uint64_t *)(void *)(g.base[PTO_GM] + (page << PAGE_BITS)));
  }
  g.page_state[page] |= 1;
}

static inline void touch(uint64_t addr) {
  uint64_t page = addr >> PAGE_BITS;
  if (unlikely(!g.page_state[page])) fill_page(page);
}

static void __attribute__((noinline)) note_dirty(uint64_t page) {
  if (g.dirty_count == g.dirty_capacity) {
    g.dirty_capacity = g.dirty_capacity ? g.dirty_capacity * 2 : 1024;
    g.dirty = (uint64_t *)realloc(g.dirty, g.dirty_capacity * sizeof *g.dirty);
    if (!g.dirty) refuse("out of memory");
  }
  g.dirty[g.dirty_count++] = page;
  g.page_state[page] |= 2;
}

#include "pto_flags.h"

/* --- Python's side ---------------------------------------------------------------------------- */

void *pto_mailbox(void) {
  need_init();
  return g.box;
}

void *pto_mem_base(int space) {
  need_init();
  return g.base[space];
}

uint64_t pto_mem_size(int space) { return sizes[space]; }

/* Touches every page of a range; returns how many were new. */
uint64_t pto_mem_ensure(int space, uint64_t addr, uint64_t length) {
  uint64_t filled = 0;
  need_init();
  if (space != PTO_GM || length == 0) return 0;
  for (uint64_t page = addr >> PAGE_BITS; page <= (addr + length - 1) >> PAGE_BITS; page++)
    if (!g.page_state[page]) fill_page(page), filled++;
  return filled;
}

static void empty(void *at, uint64_t bytes) {
  if (madvise(at, bytes, MADV_DONTNEED) != 0) refuse("madvise(MADV_DONTNEED) failed");
}

static void restart(int space) {
  empty(g.stamps[space], (sizes[space] >> GRANULE_BITS) * 8);
  if (space != PTO_GM) {
    fill_local(space);
    /* No complemented bytes remain. */
    if (space == PTO_L0C) {
      memset(unit_flags.complemented, 0, sizeof unit_flags.complemented);
      set_due_flags(NEVER);
      forget_agains();
    }
    return;
  }
  empty(g.base[PTO_GM], sizes[PTO_GM]);
  empty(g.page_state, sizes[PTO_GM] >> PAGE_BITS);
  g.dirty_count = 0;
}

/* Gives every memory the random background of `seed`; contents and stamps are forgotten. */
void pto_mem_seed(uint64_t seed) {
  need_init();
  g.seed = seed;
  for (int space = 0; space < PTO_SPACES; space++) {
    g.constant[space] = -1;
    restart(space);
  }
  start_flags();
}

/* Gives one memory a constant background; its contents and stamps are forgotten. */
void pto_mem_constant(int space, int byte) {
  need_init();
  g.constant[space] = byte & 0xff;
  restart(space);
}

uint64_t pto_mem_dirty(const uint64_t **pages) {
  need_init();
  *pages = g.dirty;
  return g.dirty_count;
}

/* cycle << 3 | slot + 1 of the last backend write to the granule of `addr`; 0 for none. */
uint64_t pto_mem_stamp(int space, uint64_t addr) {
  need_init();
  return g.stamps[space][addr >> GRANULE_BITS];
}

struct layout {
  const char *name;
  uint64_t offset, size;
};

#define FIELD(type, field) \
  { #type "." #field, offsetof(struct type, field), sizeof(((struct type *)0)->field) }

static const struct layout layouts[] = {
  { "pto_mailbox", 0, sizeof(struct pto_mailbox) },
  { "pto_slot", 0, sizeof(struct pto_slot) },
  { "pto_desc", 0, sizeof(struct pto_desc) },
  { "pto_done", 0, sizeof(struct pto_done) },
  { "pto_fault", 0, sizeof(struct pto_fault) },
  { "pto_hit", 0, sizeof(struct pto_hit) },
  { "pto_late", 0, sizeof(struct pto_late) },
  { "pto_aim", 0, sizeof(struct pto_aim) },
  FIELD(pto_desc, words), FIELD(pto_desc, tag), FIELD(pto_desc, gap), FIELD(pto_desc, wait_done),
  FIELD(pto_done, tag), FIELD(pto_done, status), FIELD(pto_done, rule), FIELD(pto_done, pad),
  FIELD(pto_done, addr), FIELD(pto_done, accept_cycle), FIELD(pto_done, done_cycle),
  FIELD(pto_done, written_bytes), FIELD(pto_done, clear_bytes), FIELD(pto_done, spare),
  FIELD(pto_fault, enable), FIELD(pto_fault, space), FIELD(pto_fault, kind),
  FIELD(pto_fault, sides), FIELD(pto_fault, addr), FIELD(pto_fault, length),
  FIELD(pto_fault, slots), FIELD(pto_fault, nth), FIELD(pto_fault, hits), FIELD(pto_fault, sets),
  FIELD(pto_hit, cycle), FIELD(pto_hit, addr), FIELD(pto_hit, slot), FIELD(pto_hit, side),
  FIELD(pto_hit, kind), FIELD(pto_hit, fault), FIELD(pto_hit, space), FIELD(pto_hit, pad),
  FIELD(pto_late, cycle), FIELD(pto_late, addr), FIELD(pto_late, slot), FIELD(pto_late, side),
  FIELD(pto_late, beats), FIELD(pto_late, pad),
  FIELD(pto_aim, slot), FIELD(pto_aim, channel), FIELD(pto_aim, count), FIELD(pto_aim, delay),
  FIELD(pto_aim, sets), FIELD(pto_aim, met),
  FIELD(pto_slot, submitted), FIELD(pto_slot, polled), FIELD(pto_slot, offered),
  FIELD(pto_slot, accepted), FIELD(pto_slot, done), FIELD(pto_slot, records),
  FIELD(pto_slot, dropped), FIELD(pto_slot, written_bytes), FIELD(pto_slot, moved_bytes), FIELD(pto_slot, stalls),
  FIELD(pto_slot, last),
  FIELD(pto_slot, state_cycle), FIELD(pto_slot, accept_cycle), FIELD(pto_slot, flag_cycle),
  FIELD(pto_slot, flag_addr), FIELD(pto_slot, flag_mask), FIELD(pto_slot, flag_word),
  FIELD(pto_slot, flag_reads), FIELD(pto_slot, pad), FIELD(pto_slot, pins),
  FIELD(pto_slot, waits), FIELD(pto_slot, open),
  FIELD(pto_slot, desc), FIELD(pto_slot, ring),
  FIELD(pto_mailbox, magic), FIELD(pto_mailbox, version), FIELD(pto_mailbox, size),
  FIELD(pto_mailbox, pid), FIELD(pto_mailbox, slots), FIELD(pto_mailbox, cycles),
  FIELD(pto_mailbox, heartbeat), FIELD(pto_mailbox, checked), FIELD(pto_mailbox, mismatches),
  FIELD(pto_mailbox, wake_at), FIELD(pto_mailbox, wake_request),
  FIELD(pto_mailbox, wake_answer), FIELD(pto_mailbox, watchdog_clocks),
  FIELD(pto_mailbox, hang), FIELD(pto_mailbox, hang_cycle), FIELD(pto_mailbox, knob_version),
  FIELD(pto_mailbox, knob_answer), FIELD(pto_mailbox, knobs), FIELD(pto_mailbox, faults),
  FIELD(pto_mailbox, gm_limit), FIELD(pto_mailbox, aim), FIELD(pto_mailbox, reset_cycle),
  FIELD(pto_mailbox, hits), FIELD(pto_mailbox, hit_records),
  FIELD(pto_mailbox, hits_polled), FIELD(pto_mailbox, hit), FIELD(pto_mailbox, late_bursts),
  FIELD(pto_mailbox, late_records), FIELD(pto_mailbox, late_polled), FIELD(pto_mailbox, late),
  FIELD(pto_mailbox, errors), FIELD(pto_mailbox, error_records),
  FIELD(pto_mailbox, errors_polled), FIELD(pto_mailbox, error_text), FIELD(pto_mailbox, slot),
};

/* Entry `index` of the layout table; 0 past its end. */
int pto_layout(int index, const char **name, uint64_t *offset, uint64_t *size) {
  if (index < 0 || (size_t)index >= sizeof layouts / sizeof *layouts) return 0;
  *name = layouts[index].name;
  *offset = layouts[index].offset;
  *size = layouts[index].size;
  return 1;
}

/* --- queues ----------------------------------------------------------------------------------- */

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

#include "pto_faults.h"

/* --- words ------------------------------------------------------------------------------------ */

static inline uint64_t all_lanes(int bytes) {
  return bytes == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bytes) - 1;
}

/* Writes the strobed bytes of a word that lies inside its space and stamps its granules. */
static inline void store(int space, int slot, uint64_t addr, int bytes, uint64_t strobe,
                         const void *data) {
  uint8_t *at = g.base[space] + addr;
  const uint8_t *from = (const uint8_t *)data;
  uint64_t stamp = g.cycle << 3 | (uint64_t)(slot + 1);
  uint64_t *stamps = g.stamps[space] + (addr >> GRANULE_BITS);
  if (likely(strobe == all_lanes(bytes))) {
    memcpy(at, from, (size_t)bytes);
    stamps[0] = stamp;
    if (bytes == 64) stamps[1] = stamp;
    return;
  }
  for (int lane = 0; lane < bytes; lane += 8) {
    uint64_t enables = (strobe >> lane) & 0xff, old, fresh_, mask;
    if (!enables) continue;
    /* Spread bit i to byte i, then to all its bits. */
    mask = ((enables * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201));
    mask = ((mask + UINT64_C(0x7f7f7f7f7f7f7f7f)) | mask) & UINT64_C(0x8080808080808080);
    mask = (mask >> 7) * 0xff;
    memcpy(&old, at + lane, 8);
    memcpy(&fresh_, from + lane, 8);
    old = (old & ~mask) | (fresh_ & mask);
    memcpy(at + lane, &old, 8);
    stamps[lane >> GRANULE_BITS] = stamp;
  }
}

static void poison(void *data, int bytes) { memset(data, 0xde, (size_t)bytes); }

/* A beat of a slot was granted: progress, though no descriptor retires. */
static inline void moved(int slot, int bytes) {
  g.moved_cycle = g.cycle;
  g.box->slot[slot].moved_bytes += (uint64_t)bytes;
}

/* Response to a failing beat of GM; past `gm_limit` there is no fault. */
static int response(const struct live *fault) {
  return fault && fault->set.kind == PTO_FAULT_SLVERR ? RESP_SLVERR : RESP_DECERR;
}

/* Reads one beat of GM; returns the response. */
int pto_gm_read(int slot, long long addr_, int bytes, uint32_t *data) {
  uint64_t addr = (uint64_t)addr_ & ~(uint64_t)(bytes - 1);
  need_init();
  moved(slot, bytes);
  event(slot, PTO_R);
  const struct live *fault = NULL;
  if (unlikely(addr + (uint64_t)bytes > g.box->gm_limit) ||
      (unlikely(g.fault_count) && (fault = faulty(slot, PORT_R, PTO_GM, addr, bytes)) != NULL)) {
    poison(data, bytes);
    wait_for(&g.answers[slot][PORT_R], PTO_GM, addr, fault);
    return response(fault);
  }
  touch(addr);
  memcpy(data, g.base[PTO_GM] + addr, (size_t)bytes);
  return RESP_OKAY;
}

/* Writes one beat of GM; returns the response. A beat that fails changes nothing. */
int pto_gm_write(int slot, long long addr_, int bytes, unsigned long long strobe,
                 const uint32_t *data) {
  uint64_t addr = (uint64_t)addr_ & ~(uint64_t)(bytes - 1);
  need_init();
  moved(slot, bytes);
  const struct live *fault = NULL;
  if (unlikely(addr + (uint64_t)bytes > g.box->gm_limit) ||
      (unlikely(g.fault_count) && (fault = faulty(slot, PORT_W, PTO_GM, addr, bytes)) != NULL)) {
    if (g.gm_pins) return RESP_OKAY;
    wait_for(&g.writer[slot].errors, PTO_GM, addr, fault);
    g.writer[slot].failed++;
    return response(fault);
  }
  if (!strobe) return RESP_OKAY;
  touch(addr);
  if (unlikely(!(g.page_state[addr >> PAGE_BITS] & 2))) note_dirty(addr >> PAGE_BITS);
  store(PTO_GM, slot, addr, bytes, strobe, data);
  return RESP_OKAY;
}

/* True when a word lies between two segments; the end of the last is the size of the memory. */
static int in_hole(int space, uint64_t end) {
  if (space == PTO_FB) return ((end - 1) & FB_OFFSET) >= FB_SEGMENT;
  if (space == PTO_L0) return ((end - 1) & L0_OFFSET) >= l0_segments[(end - 1) >> L0_SHIFT];
  return 0;
}

static int outside(int slot, int space, uint64_t addr, int bytes, const char *text) {
  uint64_t end = addr + (uint64_t)bytes; /* words do not cross the end of a segment */
  if (space <= PTO_GM || space >= PTO_SPACES) return 1; /* the checkers report it */
  if (likely(end <= sizes[space]) && likely(!in_hole(space, end))) return 0;
  pto_error(slot, text, space, (long long)addr);
  return 1;
}

/* Reads one word of an on-chip memory by port src, or par; returns 1 for an error. */
int pto_local_read(int slot, int par, int space, int addr_, int bytes, uint32_t *data) {
  uint64_t addr = (uint32_t)addr_ & ~(uint32_t)(bytes - 1);
  enum port port = par ? PORT_PAR : PORT_SRC;
  const struct live *fault = NULL;
  need_init();
  moved(slot, bytes);
  event(slot, par ? PTO_PAR : PTO_SRC);
  if (outside(slot, space, addr, bytes,
              par ? "PAR-OUTSIDE: read outside of the memory (space, address)"
                  : "SRC-OUTSIDE: read outside of the memory (space, address)") ||
      (unlikely(g.fault_count) && (fault = faulty(slot, port, space, addr, bytes)) != NULL)) {
    poison(data, bytes);
    wait_for(&g.answers[slot][port], space, addr, fault);
    return 1;
  }
  memcpy(data, g.base[space] + addr, (size_t)bytes);
  return 0;
}

static void credit(int slot, uint64_t bytes) {
  struct pto_slot *s = &g.box->slot[slot];
  s->written_bytes += bytes;
  /* A write on the edge of a done handshake counts for that done, in either order of calls. */
  if (unlikely(g.feeder[slot].done_cycle == g.cycle && s->records))
    s->ring[(s->records - 1) % PTO_RING].written_bytes = s->written_bytes;
  if (unlikely(g.feeder[slot].clear_cycle == g.cycle &&
               g.feeder[slot].clear_bytes != PTO_NO_CLEAR))
    g.feeder[slot].clear_bytes = s->written_bytes; /* the same for a clear */
}

/* Writes one word of an on-chip memory; returns 1 for an error, which changes nothing. */
int pto_local_write(int slot, int space, int addr_, int bytes, unsigned long long strobe,
                    const uint32_t *data) {
  uint64_t addr = (uint32_t)addr_ & ~(uint32_t)(bytes - 1);
  const struct live *fault = NULL;
  need_init();
  moved(slot, bytes);
  event(slot, PTO_DST);
  if (outside(slot, space, addr, bytes,
              "DST-OUTSIDE: write outside of the memory (space, address)") ||
      (unlikely(g.fault_count) && (fault = faulty(slot, PORT_DST, space, addr, bytes)) != NULL)) {
    struct pending error = error_of(space, addr, fault);
    log_hit(slot, PTO_WRITE, &error, g.cycle);
    return 1;
  }
  store(space, slot, addr, bytes, strobe, data);
  credit(slot, (uint64_t)__builtin_popcountll(strobe));
  return 0;
}

/* True when an injected fault fails a local write on the next edge; evaluated again at TICK_FAULTS
 * (`fresh_` only changes then). */
int pto_local_fault(int slot, int fresh_, int space, int addr_, int bytes) {
  uint64_t addr = (uint32_t)addr_ & ~(uint32_t)(bytes - 1);
  (void)fresh_;
  for (int i = 0; i < g.fault_count; i++)
    if (meets(&g.faults[i], slot, PTO_WRITE, space, addr, bytes) &&
        decide(&g.faults[i], slot * PORTS + PORT_DST))
      return 1;
  return 0;
}

/* --- AXI writes: data may come before their address ------------------------------------------- */

/* Writes the next beat of the oldest burst; returns 0, or 1 + response when it was the last. */
static int write_beat(int slot, int bytes, uint64_t strobe, const void *data) {
  struct writer *w = &g.writer[slot];
  struct burst *burst = (struct burst *)queue_front(&w->bursts);
  uint64_t addr = (burst->addr & ~(uint64_t)(bytes - 1)) + (uint64_t)w->index * (uint64_t)bytes;
  int resp = pto_gm_write(slot, (long long)addr, bytes, strobe, (const uint32_t *)data);
  if (unlikely(resp) && !w->resp) w->resp = resp;
  w->bytes += (uint64_t)__builtin_popcountll(strobe);
  if (++w->index < burst->beats) return 0;
  resp = w->resp;
  struct credit *credit_ = (struct credit *)queue_push(&w->credits);
  credit_->bytes = w->bytes;
  credit_->errors = w->failed;
  queue_pop(&w->bursts);
  w->bytes = 0;
  w->failed = 0;
  w->index = 0;
  w->resp = RESP_OKAY;
  return 1 + resp;
}

/* Takes an AW; returns 0, or 1 + response when all data of this burst came before. */
int pto_axi_aw(int slot, long long addr, int len, int bytes) {
  struct writer *w = &g.writer[slot];
  need_init();
  event(slot, PTO_AW);
  struct burst *burst = (struct burst *)queue_push(&w->bursts);
  burst->addr = (uint64_t)addr;
  burst->beats = (uint32_t)(len & 0xff) + 1;
  while (w->beats.count && w->bursts.count) {
    struct beat beat;
    memcpy(&beat, queue_front(&w->beats), sizeof beat);
    queue_pop(&w->beats);
    int done = write_beat(slot, bytes, beat.strobe, beat.data);
    if (done) return done; /* early data never belong to more than one known burst */
  }
  return 0;
}

/* Takes a W; returns 0, or 1 + response when it completes a burst. */
int pto_axi_w(int slot, int bytes, unsigned long long strobe, const uint32_t *data) {
  struct writer *w = &g.writer[slot];
  need_init();
  event(slot, PTO_W);
  if (likely(w->bursts.count)) return write_beat(slot, bytes, strobe, data);
  struct beat *beat = (struct beat *)queue_push(&w->beats);
  beat->strobe = strobe;
  memcpy(beat->data, data, (size_t)bytes);
  return 0;
}

/* The engine took a B: the bytes of that burst count as written, and their errors as returned. */
void pto_axi_b(int slot) {
  struct writer *w = &g.writer[slot];
  event(slot, PTO_B);
  if (!w->credits.count) return;
  struct credit *done = (struct credit *)queue_front(&w->credits);
  credit(slot, done->bytes);
  for (; unlikely(done->errors) && w->errors.count; done->errors--) {
    log_hit(slot, PTO_WRITE, (const struct pending *)queue_front(&w->errors), g.cycle);
    queue_pop(&w->errors);
  }
  queue_pop(&w->credits);
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* Sets the slots with an engine, before the first clock; bit 4: GM is a memory in Python. */
void pto_start(int slots) {
  need_init();
  g.box->slots = (uint32_t)slots & ((1u << PTO_SLOTS) - 1);
  g.gm_pins = slots >> PTO_SLOTS & 1;
}

/* The engines were reset: work in progress and in the rings is discarded. */
void pto_reset(int slots) {
  need_init();
  g.kind_count = 0;
  g.box->reset_cycle = g.cycle;
  remove_aim();
  for (int slot = 0; slot < PTO_SLOTS; slot++) {
    struct pto_slot *s = &g.box->slot[slot];
    struct writer *w = &g.writer[slot];
    if (!(slots >> slot & 1)) continue;
    s->dropped += s->submitted - s->done;
    s->done = s->offered = s->accepted = s->submitted;
    w->bursts.count = w->beats.count = w->credits.count = w->errors.count = 0;
    for (int port = 0; port < READ_PORTS; port++) g.answers[slot][port].count = 0;
    g.watch &= ~(1 << slot);
    s->flag_reads = 0;
    w->bytes = 0;
    w->failed = 0;
    w->index = 0;
    w->resp = RESP_OKAY;
    g.feeder[slot].seen = 0;
    g.feeder[slot].busy_cycle = g.cycle;
    g.feeder[slot].clear_bytes = PTO_NO_CLEAR;
  }
}

/* True when the next descriptor of the ring may be offered. */
static int offerable(int slot, int *waiting_for_gap) {
  struct pto_slot *s = &g.box->slot[slot];
  struct feeder *f = &g.feeder[slot];
  if (s->offered >= s->submitted) return 0;
  const struct pto_desc *desc = &s->desc[s->offered % PTO_RING];
  for (int other = 0; other < PTO_SLOTS; other++) {
    uint32_t want = desc->wait_done[other];
    if (want && (int32_t)((uint32_t)g.box->slot[other].done - want) < 0) return 0;
  }
  if (likely(!desc->gap)) return 1;
  if (s->accepted < s->offered) return 0; /* the gap counts from the accept before */
  if (f->seen != s->offered + 1) {
    f->seen = s->offered + 1;
    f->since = g.cycle - 1; /* the edge of the accept */
  }
  if (g.cycle - f->since >= desc->gap) return 1;
  *waiting_for_gap = 1;
  return 0;
}

/* Copies the faults; one that was not set again continues its counts. */
static void load_faults(void) {
  struct live old[PTO_FAULTS];
  int count = g.fault_count;
  memcpy(old, g.faults, sizeof old);
  g.fault_count = g.local_faults = g.counted_faults = 0;
  for (int i = 0; i < PTO_FAULTS; i++) {
    const struct pto_fault *set = &g.box->faults[i];
    if (!set->enable || (g.gm_pins && set->space == PTO_GM)) continue;
    struct live *fault = &g.faults[g.fault_count++];
    memset(fault, 0, sizeof *fault);
    fault->fired = UINT64_MAX;
    for (int k = 0; k < count; k++)
      if (old[k].index == (uint32_t)i && old[k].set.sets == set->sets) *fault = old[k];
    fault->set = *set;
    fault->index = (uint32_t)i;
    if (set->space == PTO_GM || !(set->sides >> PTO_WRITE & 1)) continue;
    g.local_faults |= (int)set->slots;
    g.counted_faults |= set->nth != 0;
  }
}

/* Receives the state of a slot. Part 0: pins; clocks for which each channel waits, in
 * the order of enum pto_channel; from word 12 on open read bursts, their beats, open words of src,
 * those of par and, 16 bits higher, of flag. Part 1: clocks in which each channel was stalled. */
void pto_state(int slot, int part, const uint32_t *words) {
  struct pto_slot *s = &g.box->slot[slot];
  struct writer *w = &g.writer[slot];
  if (part == 1) {
    for (int i = 0; i <= PTO_DONE; i++) {
      s->stalls[i] += words[i] - g.stall_totals[slot][i];
      g.stall_totals[slot][i] = words[i];
    }
    return;
  }
  uint32_t owed = 0;
  for (size_t i = 0; i < w->bursts.count; i++)
    owed += ((struct burst *)queue_at(&w->bursts, i))->beats;
  s->state_cycle = g.cycle;
  s->accept_cycle = s->accepted > s->done ? g.feeder[slot].accept_cycle[s->done % PTO_RING] : 0;
  s->pins = words[0];
  memcpy(s->waits, words + 1, (PTO_DESC + 1) * sizeof *words);
  s->open[PTO_OPEN_READS] = words[12];
  s->open[PTO_OPEN_READ_BEATS] = words[13];
  s->open[PTO_OPEN_WRITES] = (uint32_t)(w->bursts.count + w->credits.count);
  s->open[PTO_OPEN_WRITE_BEATS] = owed - w->index;
  s->open[PTO_OPEN_EARLY_BEATS] = (uint32_t)w->beats.count;
  s->open[PTO_OPEN_RESPONSES] = (uint32_t)w->credits.count;
  s->open[PTO_OPEN_SRC] = words[14];
  s->open[PTO_OPEN_PAR] = words[15] & 0xffff;
  s->open[PTO_OPEN_FLAG] = words[15] >> 16;
}

/* The slots to report late bursts of: those with an error and work in progress. */
static int __attribute__((noinline)) watched(void) {
  for (int slot = 0; slot < PTO_SLOTS; slot++)
    if (g.box->slot[slot].accepted == g.box->slot[slot].done) g.watch &= ~(1 << slot);
  return g.watch << TICK_WATCH_BIT;
}

/* Once a clock, half a clock before the edge that it counts; `pins` has a bit for each slot with
 * descriptors from pins, `active` for each with activity. Returns the TICK_ flags. */
int pto_tick(int pins, int active) {
  struct pto_mailbox *box;
  int flags = 0, work = 0, gap = 0;
  need_init();
  box = g.box;
  box->cycles = ++g.cycle;
  if (unlikely(g.cycle >= unit_flags.next)) set_due_flags(g.cycle);
  if (unlikely(box->knob_version != box->knob_answer)) {
    box->knob_answer = box->knob_version;
    load_faults();
    load_aim();
    g.idle_clocks = box->knobs[PTO_KNOB_IDLE_CLOCKS];
    flags |= TICK_KNOBS | TICK_STATE | TICK_FAULTS;
    active = ~0; /* the modules of a slot load them at its clock */
  }
  if (unlikely(g.counted_faults)) flags |= TICK_FAULTS;
  if (unlikely(g.watch)) flags |= watched();
  if (unlikely(!(g.cycle & (STATE_CLOCKS - 1)))) flags |= TICK_STATE;
  active |= pins;
  for (int slot = 0; slot < PTO_SLOTS; slot++) {
    struct pto_slot *s = &box->slot[slot];
    struct feeder *f = &g.feeder[slot];
    if (s->done != s->submitted) {
      work = 1;
      if (!(pins >> slot & 1) && offerable(slot, &gap)) flags |= 1 << slot;
    }
    if ((active | flags) >> slot & 1) f->busy_cycle = g.cycle;
    if (!g.idle_clocks || g.cycle - f->busy_cycle <= g.idle_clocks) flags |= TICK_RUN << slot;
  }
  if (!work || gap || unit_flags.next != NEVER) g.progress_cycle = g.cycle;
  if (box->wake_request != box->wake_answer) {
    int all = 1;
    for (int slot = 0; slot < PTO_SLOTS; slot++) all &= box->slot[slot].done >= box->wake_at[slot];
    if (all) {
      box->wake_answer = box->wake_request;
      flags |= TICK_WAKE | TICK_STATE;
    }
  }
  if (unlikely(g.cycle >= g.aim_due)) {
    g.aim_due = NEVER;
    box->aim.met = g.aim_sets;
    box->wake_answer = box->wake_request; /* this is the change that was requested */
    flags |= TICK_WAKE | TICK_STATE;
  }
  uint64_t stuck = g.cycle - g.progress_cycle, limit = box->watchdog_clocks;
  if (unlikely(limit && stuck >= limit &&
               (g.cycle - g.moved_cycle >= limit || stuck >= limit * PTO_MOVING))) {
    g.progress_cycle = g.cycle;
    if (!box->hang) {
      box->hang = g.cycle - g.moved_cycle >= limit ? 1 : 2;
      box->hang_cycle = g.cycle;
      fprintf(stderr, "pto: watchdog: nothing accepted or retired for %llu clocks, cycle %llu\n",
              (unsigned long long)stuck, (unsigned long long)g.cycle);
      fflush(stderr);
      flags |= TICK_WAKE | TICK_STATE;
    }
  }
  return flags;
}

/* Pops the descriptor that pto_tick() flagged; returns its tag. */
int pto_desc_pop(int slot, uint32_t *words) {
  struct pto_slot *s = &g.box->slot[slot];
  const struct pto_desc *desc = &s->desc[s->offered % PTO_RING];
  memcpy(words, desc->words, sizeof desc->words);
  s->offered++;
  return (int)desc->tag;
}

/* A descriptor that came from the ring was accepted. */
void pto_desc_accept(int slot) {
  struct pto_slot *s = &g.box->slot[slot];
  g.feeder[slot].accept_cycle[s->accepted % PTO_RING] = g.cycle;
  s->accepted++;
  s->moved_bytes = 0;
  event(slot, PTO_DESC);
  g.progress_cycle = g.cycle;
}

/* A descriptor from pins was accepted: it enters the ring like the others. */
void pto_desc_pins(int slot, int tag, const uint32_t *words) {
  struct pto_slot *s = &g.box->slot[slot];
  struct pto_desc *desc = &s->desc[s->offered % PTO_RING];
  if (s->submitted != s->offered)
    pto_error(slot, "DESC-MIXED: descriptors both in the ring and by pins (submitted, offered)",
              (long long)s->submitted, (long long)s->offered);
  memset(desc, 0, sizeof *desc);
  memcpy(desc->words, words, sizeof desc->words);
  desc->tag = (uint32_t)tag;
  s->submitted++;
  s->offered++;
  pto_desc_accept(slot);
}

void pto_done(int slot, int tag, int status, int rule, long long addr) {
  struct pto_slot *s = &g.box->slot[slot];
  struct pto_done *record = &s->ring[s->records % PTO_RING];
  if (unlikely(s->done == s->accepted)) return; /* of no descriptor: the checkers report it */
  record->tag = (uint32_t)tag;
  record->status = (uint32_t)status;
  record->rule = (uint32_t)rule;
  record->pad = 0;
  record->addr = (uint64_t)addr;
  record->accept_cycle = g.feeder[slot].accept_cycle[s->done % PTO_RING];
  record->done_cycle = g.cycle;
  record->written_bytes = s->written_bytes;
  record->clear_bytes = g.feeder[slot].clear_bytes;
  g.feeder[slot].clear_bytes = PTO_NO_CLEAR;
  s->records++;
  s->done++;
  s->flag_reads = 0;
  s->moved_bytes = 0;
  event(slot, PTO_DONE);
  g.feeder[slot].done_cycle = g.cycle;
  g.progress_cycle = g.cycle;
}

int pto_knob(int index) {
  need_init();
  if (index == PTO_KNOB_LOCAL_FAULTS) return g.local_faults;
  return (int)g.box->knobs[index & (PTO_KNOBS - 1)];
}

#ifdef __cplusplus
}
#endif

#ifdef PTO_VPI
#include "pto_vpi.h"
#endif
