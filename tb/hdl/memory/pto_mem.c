/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated memories (docs/spec/README.md, "Memories") and the mailbox, inside the simulator.
 *
 * Verilog calls backends: DPI functions, or with PTO_VPI defined the system functions $pto_* of
 * Icarus. Python opens the same library with ctypes and accesses memories and mailbox in place.
 * GM is a sparse mapping of 2^40 bytes: a page exists once it was touched, and is then filled
 * with the background. Compiles as C and as C++ (Verilator's makefiles do the latter); needs a
 * little-endian host and 64-bit addresses.
 *
 * One unit of several files: calls of every clock are inlined.
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

#ifdef __cplusplus
extern "C" {
#endif

#include "pto_state.h"
#include "pto_events.h"
#include "pto_pages.h"
#include "pto_flags.h"
#include "pto_python.h"
#include "pto_faults.h"
#include "pto_words.h"
#include "pto_slots.h"

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
              "pto: PTO_MAILBOX=%s is not a mailbox of version %u (%zu bytes); create it with "
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

static void pto_init(void) {
  g.ready = 1; /* first: an error below must not re-enter */
  map_mailbox();
  open_events();
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

#ifdef __cplusplus
}
#endif

#ifdef PTO_VPI
#include "pto_vpi.h"
#endif
