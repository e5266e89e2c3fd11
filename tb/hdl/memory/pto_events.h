/* SPDX-License-Identifier: Apache-2.0
 *
 * Events at the ports of a slot: the clock of the last one of each channel, and the one that Python
 * waits for. Part of pto_mem.c, included by it.
 */
static void __attribute__((noinline)) count_aimed(void) {
  if (--g.aim_left) return;
  g.aim = -1;
  g.aim_due = g.cycle + 1 + g.box->aim.delay;
}

static inline void event(int slot, int channel) {
  g.box->slot[slot].last[channel] = g.cycle;
  if (unlikely(g.aim == slot * PTO_CHANNELS + channel)) count_aimed();
}

static void remove_aim(void) {
  g.aim = -1;
  g.aim_due = NEVER;
}

/* Takes an aim that was set since the last call. */
static void load_aim(void) {
  const struct pto_aim *set = &g.box->aim;
  if (set->sets == g.aim_sets) return;
  remove_aim();
  g.aim_sets = set->sets;
  g.aim_left = set->count;
  if (set->count) g.aim = (int)(set->slot * PTO_CHANNELS + set->channel);
}

/* An address of a read burst was taken. */
void pto_axi_ar(int slot) { event(slot, PTO_AR); }
