/* SPDX-License-Identifier: Apache-2.0
 *
 * Events at the ports of a slot: the clock of the last one of each channel, the one that Python
 * waits for, and the list of all. Part of pto_mem.c, included by it.
 */
static void open_events(void) {
  const char *path = getenv("PTO_EVENTS");
  if (path == NULL || *path == 0) return;
  g.events = fopen(path, "w");
  if (!g.events) refuse("PTO_EVENTS names a file that cannot be written");
  setvbuf(g.events, NULL, _IOLBF, BUFSIZ); /* whole lines, however the simulator ends */
}

/* Writes a line: clock, slot, port, space, address, bytes from the first on; `--` is not enabled.
 * Read by tb/harness/port_events.py. */
static void __attribute__((noinline)) write_event(int slot, const char *port, int space,
                                                  uint64_t addr, int bytes, uint64_t strobe,
                                                  const void *data) {
  static const char digits[] = "0123456789abcdef";
  char text[2 * 64 + 1] = "";
  for (int i = 0; i < bytes; i++) {
    uint8_t byte = ((const uint8_t *)data)[i];
    int enabled = (int)(strobe >> i & 1);
    text[2 * i] = enabled ? digits[byte >> 4] : '-';
    text[2 * i + 1] = enabled ? digits[byte & 15] : '-';
  }
  fprintf(g.events, "%llu %d %s %d %llx %s\n", (unsigned long long)g.cycle, slot, port, space,
          (unsigned long long)addr, text);
}

/* Lists an event of a port, if that was requested. */
static inline void list(int slot, const char *port, int space, uint64_t addr, int bytes,
                        uint64_t strobe, const void *data) {
  if (unlikely(g.events != NULL)) write_event(slot, port, space, addr, bytes, strobe, data);
}

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
