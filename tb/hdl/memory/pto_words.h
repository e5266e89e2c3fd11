/* SPDX-License-Identifier: Apache-2.0
 *
 * Words at the ports: beats of GM, words of on-chip memories, and AXI writes, whose data may come
 * before their address. Part of pto_mem.c, included by it.
 */
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
  g.feeder[slot].moved_cycle = g.cycle;
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
  list(slot, "read", PTO_GM, addr, 0, 0, NULL);
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
  if (strobe) list(slot, "write", PTO_GM, addr, bytes, strobe, data);
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
  list(slot, par ? "par" : "src", space, addr, 0, 0, NULL);
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
  if (strobe) list(slot, "dst", space, addr, bytes, strobe, data);
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

/* --- AXI writes ------------------------------------------------------------------------------- */

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
