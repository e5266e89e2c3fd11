/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors and done records of the slots, reset, and the tick of each clock. Part of pto_mem.c,
 * included by it.
 */
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
    memset(g.feeder[slot].owed, 0, sizeof g.feeder[slot].owed);
  }
}

/* True when the next descriptor of the ring may be offered. */
static int offerable(int slot) {
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
  return g.cycle - f->since >= desc->gap;
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

/* A slot has accepted or retired a descriptor. */
static void progress(int slot) {
  g.feeder[slot].progress_cycle = g.feeder[slot].moved_cycle = g.cycle;
}

/* Looks for a slot that hangs: one with a descriptor, offered or accepted. Sets the clock at which
 * to look next; returns the TICK_ flags of a hang. */
static int __attribute__((noinline)) watchdog(void) {
  struct pto_mailbox *box = g.box;
  uint64_t limit = box->watchdog_clocks, moving = box->moving_clocks;
  int flags = 0;
  g.watch_limit = box->watchdog_clocks;
  g.watch_due = NEVER;
  if (!limit) return 0;
  for (int slot = 0; slot < PTO_SLOTS; slot++) {
    struct pto_slot *s = &box->slot[slot];
    struct feeder *f = &g.feeder[slot];
    if (s->offered == s->done || unit_flags.next != NEVER) progress(slot);
    uint64_t due = f->moved_cycle + limit;
    int moves = g.cycle < due;
    if (moving && f->progress_cycle + moving < due) due = f->progress_cycle + moving;
    if (g.cycle >= due) {
      if (!box->hang) {
        box->hang = moves ? 2 : 1;
        box->hang_cycle = g.cycle;
        fprintf(stderr, "pto: watchdog: %s accepted and retired nothing for %llu clocks, cycle %llu\n",
                slot_names[slot], (unsigned long long)(g.cycle - f->progress_cycle),
                (unsigned long long)g.cycle);
        fflush(stderr);
        flags = TICK_WAKE | TICK_STATE;
      }
      progress(slot);
      due = g.cycle + limit;
    }
    if (due < g.watch_due) g.watch_due = due;
  }
  return flags;
}

/* Once a clock, half a clock before the edge that it counts; `pins` has a bit for each slot with
 * descriptors from pins, `active` for each with activity. Returns the TICK_ flags. */
int pto_tick(int pins, int active) {
  struct pto_mailbox *box;
  int flags = 0;
  need_init();
  box = g.box;
  box->cycles = ++g.cycle;
  if (unlikely(g.cycle >= unit_flags.next)) {
    set_due_flags(g.cycle);
    for (int slot = 0; slot < PTO_SLOTS; slot++) progress(slot);
  }
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
    if (s->done != s->submitted && !(pins >> slot & 1) && offerable(slot)) flags |= 1 << slot;
    if ((active | flags) >> slot & 1) f->busy_cycle = g.cycle;
    if (!g.idle_clocks || g.cycle - f->busy_cycle <= g.idle_clocks) flags |= TICK_RUN << slot;
  }
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
  if (unlikely(box->stop != g.stopped)) {
    g.stopped = box->stop;
    box->wake_answer = box->wake_request;
    flags |= TICK_WAKE | TICK_STATE;
  }
  if (unlikely(g.cycle >= g.watch_due || box->watchdog_clocks != g.watch_limit))
    flags |= watchdog();
  return flags;
}

/* Pops the descriptor that pto_tick() flagged; returns its tag. */
int pto_desc_pop(int slot, uint32_t *words) {
  struct pto_slot *s = &g.box->slot[slot];
  const struct pto_desc *desc = &s->desc[s->offered % PTO_RING];
  memcpy(words, desc->words, sizeof desc->words);
  if (s->offered == s->done) progress(slot);
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
  progress(slot);
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
  uint8_t verdict[2] = {(uint8_t)status, (uint8_t)rule};
  list(slot, "done", tag, (uint64_t)addr, 2, 3, verdict);
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
  memcpy(record->owed, g.feeder[slot].owed, sizeof record->owed);
  memset(g.feeder[slot].owed, 0, sizeof record->owed);
  s->records++;
  s->done++;
  s->flag_reads = 0;
  s->moved_bytes = 0;
  event(slot, PTO_DONE);
  g.feeder[slot].done_cycle = g.cycle;
  progress(slot);
}

/* The access that waits longest when a done is offered, before or after pto_done() on its edge. */
void pto_owes(int slot, int access, int space, long long addr) {
  struct pto_slot *s = &g.box->slot[slot];
  uint64_t *owed = g.feeder[slot].owed;
  if (g.feeder[slot].done_cycle == g.cycle && s->records)
    owed = s->ring[(s->records - 1) % PTO_RING].owed;
  owed[access] = UINT64_C(1) << 63 | (uint64_t)(space & 0x7f) << 56 | (uint64_t)addr;
}

int pto_knob(int index) {
  need_init();
  if (index == PTO_KNOB_LOCAL_FAULTS) return g.local_faults;
  return (int)g.box->knobs[index & (PTO_KNOBS - 1)];
}
