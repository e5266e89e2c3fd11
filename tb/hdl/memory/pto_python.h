/* SPDX-License-Identifier: Apache-2.0
 *
 * What Python calls: memories in place, their background and stamps, and the layout of the mailbox.
 * Part of pto_mem.c, included by it.
 */
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

/* Gives back the pages of a sparse mapping, and the tables of pages that they need: all is 0. */
void pto_mem_give_back(void *at, uint64_t bytes) {
  if (mmap(at, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    refuse("the kernel refuses to map a part of a memory again");
  madvise(at, bytes, MADV_NOHUGEPAGE);
}

static void restart(int space) {
  pto_mem_give_back(g.stamps[space], (sizes[space] >> GRANULE_BITS) * 8);
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
  pto_mem_give_back(g.base[PTO_GM], sizes[PTO_GM]);
  pto_mem_give_back(g.page_state, sizes[PTO_GM] >> PAGE_BITS);
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

/* Outside of some ranges GM has its background again, without writers. Ranges: first byte and byte
 * after the last, ascending, multiples of FORGET. */
void pto_mem_forget(const uint64_t *ranges, int count) {
  uint64_t from = 0, kept = 0;
  need_init();
  for (int i = 0; i <= count; i++) {
    uint64_t to = i < count ? ranges[2 * i] : sizes[PTO_GM];
    if (from < to) {
      pto_mem_give_back(g.base[PTO_GM] + from, to - from);
      pto_mem_give_back(g.stamps[PTO_GM] + (from >> GRANULE_BITS), ((to - from) >> GRANULE_BITS) * 8);
      pto_mem_give_back(g.page_state + (from >> PAGE_BITS), (to - from) >> PAGE_BITS);
    }
    if (i < count) from = ranges[2 * i + 1];
  }
  for (uint64_t i = 0; i < g.dirty_count; i++)
    if (g.page_state[g.dirty[i]]) g.dirty[kept++] = g.dirty[i];
  g.dirty_count = kept;
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
  FIELD(pto_done, written_bytes), FIELD(pto_done, clear_bytes), FIELD(pto_done, owed),
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
  FIELD(pto_slot, dropped), FIELD(pto_slot, written_bytes), FIELD(pto_slot, moved_bytes),
  FIELD(pto_slot, stalls), FIELD(pto_slot, last),
  FIELD(pto_slot, state_cycle), FIELD(pto_slot, accept_cycle), FIELD(pto_slot, flag_cycle),
  FIELD(pto_slot, flag_addr), FIELD(pto_slot, flag_mask), FIELD(pto_slot, flag_word),
  FIELD(pto_slot, flag_reads), FIELD(pto_slot, pad), FIELD(pto_slot, pins),
  FIELD(pto_slot, waits), FIELD(pto_slot, open),
  FIELD(pto_slot, desc), FIELD(pto_slot, ring),
  FIELD(pto_mailbox, magic), FIELD(pto_mailbox, version), FIELD(pto_mailbox, size),
  FIELD(pto_mailbox, pid), FIELD(pto_mailbox, slots), FIELD(pto_mailbox, cycles),
  FIELD(pto_mailbox, stop), FIELD(pto_mailbox, clock_ticks),
  FIELD(pto_mailbox, heartbeat), FIELD(pto_mailbox, checked), FIELD(pto_mailbox, mismatches),
  FIELD(pto_mailbox, wake_at), FIELD(pto_mailbox, wake_request),
  FIELD(pto_mailbox, wake_answer), FIELD(pto_mailbox, watchdog_clocks),
  FIELD(pto_mailbox, hang), FIELD(pto_mailbox, moving_clocks),
  FIELD(pto_mailbox, hang_cycle), FIELD(pto_mailbox, knob_version),
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
