/* SPDX-License-Identifier: Apache-2.0
 *
 * Injected errors of memories: the words that touch a fault of the mailbox, the log of erroneous
 * responses to engines, and bursts that began long after one. Part of pto_mem.c, included by it.
 */
/* True when `fault` fails the next word of a port. The n-th word is exact if one port touches the
 * fault. Ports that touch it on one clock count together and fail together, so that the order of
 * calls does not matter; dst_err_o can be known before the edge for this reason. */
static int decide(const struct live *fault, int port) {
  uint64_t before = fault->before;
  int fired = fault->fired != UINT64_MAX;
  if (!fault->set.nth) return 1;
  if (fault->clock == g.cycle) {
    before += fault->own[port];
    if (fault->fired == g.cycle) fired = fault->fired_by >> port & 1;
  } else {
    before += fault->now;
  }
  return !fired && before + 1 >= fault->set.nth;
}

static void count_word(struct live *fault, int port, int fails) {
  if (!fault->set.nth) return;
  if (fault->clock != g.cycle) {
    fault->clock = g.cycle;
    fault->before += fault->now;
    fault->now = 0;
    memset(fault->own, 0, sizeof fault->own);
  }
  fault->now++;
  fault->own[port]++;
  if (!fails) return;
  if (fault->fired != g.cycle) fault->fired_by = 0;
  fault->fired = g.cycle;
  fault->fired_by |= 1u << port;
}

static int meets(const struct live *fault, int slot, int side, int space, uint64_t addr,
                 int bytes) {
  return (int)fault->set.space == space && addr < fault->set.addr + fault->set.length &&
         fault->set.addr < addr + (uint64_t)bytes && fault->set.slots >> slot & 1 &&
         fault->set.sides >> side & 1;
}

/* The first fault that fails a word, or NULL; every fault that the word touches counts it. */
static const struct live *__attribute__((noinline))
faulty(int slot, enum port where, int space, uint64_t addr, int bytes) {
  int port = slot * PORTS + (int)where, side = where > PORT_R ? PTO_WRITE : PTO_READ;
  const struct live *first = NULL;
  for (int i = 0; i < g.fault_count; i++) {
    struct live *fault = &g.faults[i];
    if (!meets(fault, slot, side, space, addr, bytes)) continue;
    int fails = decide(fault, port);
    if (fails && !first) first = fault;
    count_word(fault, port, fails);
  }
  return first;
}

/* An error was returned to the engine. */
static void log_hit(int slot, int side, const struct pending *error, uint64_t cycle) {
  struct pto_mailbox *box = g.box;
  box->hits++;
  if (error->fault < PTO_FAULTS) box->faults[error->fault].hits++;
  event(slot, PTO_FAILED);
  if (!(g.watch >> slot & 1)) {
    g.watch |= 1 << slot;
    g.error_cycle[slot] = cycle;
  }
  if (box->hit_records - box->hits_polled >= PTO_HITS) return;
  struct pto_hit *hit = &box->hit[box->hit_records % PTO_HITS];
  hit->cycle = cycle;
  hit->addr = error->addr;
  hit->slot = (uint32_t)slot;
  hit->side = (uint32_t)side;
  hit->kind = error->kind;
  hit->fault = error->fault;
  hit->space = error->space;
  hit->pad = 0;
  box->hit_records++;
}

static struct pending error_of(int space, uint64_t addr, const struct live *fault) {
  struct pending error;
  error.addr = addr;
  error.space = (uint32_t)space;
  error.kind = fault ? fault->set.kind
                     : (uint32_t)(space == PTO_GM ? PTO_FAULT_DECERR : PTO_FAULT_LOCAL);
  error.fault = fault ? fault->index : PTO_NO_FAULT;
  return error;
}

/* Keeps an error until the engine has its response. */
static void wait_for(struct queue *q, int space, uint64_t addr, const struct live *fault) {
  *(struct pending *)queue_push(q) = error_of(space, addr, fault);
}

/* The engine has the response of a read that failed, by src (0), par (1) or R (2). */
void pto_hit(int slot, int port) {
  struct queue *q = &g.answers[slot][port];
  if (!q->count) return;
  log_hit(slot, PTO_READ, (const struct pending *)queue_front(q), g.cycle);
  queue_pop(q);
}

/* The same for a memory in Python; `cycle` 0 is the clock under way. */
void pto_note_hit(int slot, int side, int space, unsigned long long addr, int kind,
                  unsigned int fault, unsigned long long cycle) {
  struct pending error;
  need_init();
  error.addr = addr;
  error.space = (uint32_t)space;
  error.kind = (uint32_t)kind;
  error.fault = fault;
  log_hit(slot, side, &error, cycle ? cycle : g.cycle);
}

/* A burst was taken after its VALID waited; called for slots with an error only. */
void pto_late_burst(int slot, int side, long long addr, int len, int waited) {
  struct pto_mailbox *box = g.box;
  uint64_t rose = g.cycle - (uint32_t)waited;
  if (!(g.watch >> slot & 1) || rose <= g.error_cycle[slot] + PTO_GRACE) return;
  box->late_bursts++;
  if (box->late_records - box->late_polled >= PTO_LATE) return;
  struct pto_late *late = &box->late[box->late_records % PTO_LATE];
  late->cycle = rose;
  late->addr = (uint64_t)addr;
  late->slot = (uint32_t)slot;
  late->side = (uint32_t)side;
  late->beats = (uint32_t)(len & 0xff) + 1;
  late->pad = 0;
  box->late_records++;
}
