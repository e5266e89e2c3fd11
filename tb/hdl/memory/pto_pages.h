/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of the memories: their sparse mappings, the background, and the pages of GM that were
 * touched or written. Part of pto_mem.c, included by it.
 */
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
