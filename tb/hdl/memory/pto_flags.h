/* SPDX-License-Identifier: Apache-2.0
 *
 * The unit flags of L0C (docs/spec/fixpipe.md section 8) and the producer of accumulators that sets
 * them: part of pto_mem.c, included by it. A block of L0C that the producer owns, because its flag
 * is still to be set or was cleared, holds its bytes complemented: an engine that reads or clears
 * too early gets wrong data. The producer may set the flag of a block again, some clocks
 * after each of the next clears.
 */
#define UNIT_FLAGS 512
#define FLAG_BLOCK 512      /* bytes of L0C that a unit flag guards */
#define FLAG_BITS 32        /* unit flags in a word of the flag port */
#define MOST_AGAIN PTO_RING /* clears of a block that may be answered, of an op each; 2^k */

static struct {
  uint8_t set[UNIT_FLAGS];
  uint8_t complemented[UNIT_FLAGS]; /* the producer owns the block */
  uint64_t due[UNIT_FLAGS];         /* first cycle with the flag set at its edge, 0 for none */
  uint64_t next;                    /* the first of `due`, or NEVER */
  uint16_t first_again[UNIT_FLAGS], agains[UNIT_FLAGS]; /* those in `again_after`, of each block */
} unit_flags;

/* Clocks from each of the next clears until the flag is set again, a ring for each block. */
static uint32_t again_after[UNIT_FLAGS][MOST_AGAIN];

/* Bits of a space that no memory has. */
static void random_flags(uint8_t *out) {
  uint64_t words[UNIT_FLAGS / 64];
  random_words(PTO_SPACES, 0, UNIT_FLAGS / 64, words);
  for (int block = 0; block < UNIT_FLAGS; block++) out[block] = words[block / 64] >> block % 64 & 1;
}

static void start_flags(void) {
  memset(&unit_flags, 0, sizeof unit_flags);
  random_flags(unit_flags.set);
  unit_flags.next = NEVER;
}

/* Inverts the bytes of a block when its owner changes; twice restores them. */
static void own_block(int block, int producer) {
  uint64_t *word = (uint64_t *)(void *)(g.base[PTO_L0C] + (size_t)block * FLAG_BLOCK);
  if (unit_flags.complemented[block] == producer) return;
  unit_flags.complemented[block] = (uint8_t)producer;
  for (int i = 0; i < FLAG_BLOCK / 8; i++) word[i] = ~word[i];
}

static void set_flag(int block) {
  own_block(block, 0);
  unit_flags.set[block] = 1;
  unit_flags.due[block] = 0;
}

/* Sets the flags that are due by `cycle`; returns how many. */
static int __attribute__((noinline)) set_due_flags(uint64_t cycle) {
  uint64_t next = NEVER;
  int count = 0;
  for (int block = 0; block < UNIT_FLAGS; block++) {
    uint64_t due = unit_flags.due[block];
    if (due && due <= cycle)
      set_flag(block), count++;
    else if (due && due < next)
      next = due;
  }
  unit_flags.next = next;
  return count;
}

/* Schedules the flag of a block after `delay` clocks in which the engine reads 0. */
static void set_later(int block, uint64_t delay) {
  uint64_t due = g.cycle + 1 + delay;
  unit_flags.due[block] = due;
  if (due < unit_flags.next) unit_flags.next = due;
}

/* Sets the flag of a block that was just cleared again later, if that was requested. */
static void answer_clear(int block) {
  if (!unit_flags.agains[block]) return;
  unit_flags.agains[block]--;
  set_later(block, again_after[block][unit_flags.first_again[block]++ % MOST_AGAIN]);
}

static void forget_agains(void) { memset(unit_flags.agains, 0, sizeof unit_flags.agains); }

/* The flags in place, a byte of 0 or 1 each. */
uint8_t *pto_flags(void) {
  need_init();
  return unit_flags.set;
}

void pto_flags_background(uint8_t *out) {
  need_init();
  random_flags(out);
}

/* Gives blocks to their producer, which sets their flags after `delay` clocks in which the engine
 * reads 0, or at once if that is negative. */
void pto_flags_stage(const int64_t *blocks, uint64_t count, long long delay) {
  need_init();
  for (uint64_t i = 0; i < count; i++) {
    int block = (int)blocks[i];
    if (delay < 0) {
      set_flag(block);
      continue;
    }
    own_block(block, 1);
    unit_flags.set[block] = 0;
    set_later(block, (uint64_t)delay);
  }
}

/* Lets the producer answer one more clear of each block by setting its flag again `delay` clocks
 * later. Returns how many blocks have MOST_AGAIN of them already, and get none. */
int pto_flags_again(const int64_t *blocks, uint64_t count, long long delay) {
  need_init();
  int full = 0;
  for (uint64_t i = 0; i < count; i++) {
    int block = (int)blocks[i];
    int last = unit_flags.first_again[block] + unit_flags.agains[block];
    if (unit_flags.agains[block] == MOST_AGAIN) {
      full++;
      continue;
    }
    again_after[block][last % MOST_AGAIN] = (uint32_t)delay;
    unit_flags.agains[block]++;
  }
  return full;
}

/* Sets all pending flags and restores the bytes of every block; returns how many were due.
 * Answers to clears that did not come are dropped. */
int pto_flags_settle(void) {
  need_init();
  int count = set_due_flags(NEVER);
  forget_agains();
  for (int block = 0; block < UNIT_FLAGS; block++) own_block(block, 0);
  return count;
}

/* Returns flags 32 * addr to 32 * addr + 31, the first in bit 0; the engine waits for `mask`. */
int pto_flag_read(int slot, int addr, int mask) {
  const uint8_t *set = unit_flags.set + (addr & 15) * FLAG_BITS;
  struct pto_slot *s = &g.box->slot[slot];
  uint32_t word = 0;
  for (int bit = 0; bit < FLAG_BITS; bit++) word |= (uint32_t)(set[bit] & 1) << bit;
  int again = s->flag_addr == (uint32_t)addr && s->flag_mask == (uint32_t)mask &&
              s->flag_word == word;
  s->flag_reads = again ? s->flag_reads + 1 : 1;
  s->flag_mask = (uint32_t)mask;
  s->flag_addr = (uint32_t)addr;
  s->flag_word = word;
  s->flag_cycle = g.cycle;
  event(slot, PTO_FLAG);
  return (int)word;
}

/* Clears the flags of `mask`; their blocks then belong to the producer. */
void pto_flag_clear(int slot, int addr, int mask) {
  struct feeder *f = &g.feeder[slot];
  event(slot, PTO_FLAG);
  event(slot, PTO_CLEAR);
  list(slot, "clear", 0, (uint64_t)(addr & 15), 4, 15, &mask);
  for (int bit = 0; bit < FLAG_BITS; bit++) {
    int block = (addr & 15) * FLAG_BITS + bit;
    if (!((uint32_t)mask >> bit & 1)) continue;
    if (!unit_flags.set[block]) {
      pto_error(slot, "FLAG-NOT-SET: clear of a unit flag that is not set (block)", block, 0);
      continue;
    }
    unit_flags.set[block] = 0;
    own_block(block, 1);
    answer_clear(block);
  }
  if (f->clear_bytes != PTO_NO_CLEAR) return;
  f->clear_bytes = g.box->slot[slot].written_bytes;
  f->clear_cycle = g.cycle;
}
