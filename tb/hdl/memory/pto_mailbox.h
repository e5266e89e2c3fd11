/* SPDX-License-Identifier: Apache-2.0
 *
 * The mailbox: one struct shared by Python, the simulated harness and a monitoring process.
 * tb/harness/layout.py has the same layout as numpy types; pto_layout() lets it check every offset.
 * The comment of a field names its writer: P is Python in the simulator, H the harness, M the
 * process that creates the file. Counters never decrease; a ring entry is `counter % PTO_RING`.
 */
#ifndef PTO_MAILBOX_H
#define PTO_MAILBOX_H

#include <stdint.h>

#define PTO_MAGIC UINT64_C(0x31584f424d4f5450) /* "PTOMBOX1" */
#define PTO_VERSION 7u
#define PTO_SLOTS 4
#define PTO_RING 1024
#define PTO_DESC_WORDS 16
#define PTO_FAULTS 8
#define PTO_HITS 4096
#define PTO_LATE 256
#define PTO_CHANNELS 16
#define PTO_ACCESSES 5
#define PTO_KNOBS 32
#define PTO_ERRORS 64
#define PTO_ERROR_TEXT 256
#define PTO_NO_CLEAR UINT64_MAX
#define PTO_NO_FAULT UINT32_MAX /* an error that was not injected: outside of a memory, gm_limit */
#define PTO_GRACE 16            /* clocks after an error in which new bursts are not late */

enum pto_space {
  PTO_GM, PTO_UB0, PTO_UB1, PTO_L1, PTO_L0C, PTO_BT, PTO_FB, PTO_L0, PTO_SPACES
};

enum pto_fault_kind { PTO_FAULT_SLVERR, PTO_FAULT_DECERR, PTO_FAULT_LOCAL };

enum pto_side { PTO_READ, PTO_WRITE };

/* Channels of a slot, in the order of tb/harness/layout.py, and two more kinds of events. */
enum pto_channel {
  PTO_AR, PTO_R, PTO_AW, PTO_W, PTO_B, PTO_SRC, PTO_DST, PTO_PAR, PTO_FLAG, PTO_DONE, PTO_DESC,
  PTO_CLEAR, /* of unit flags; it is one of the flag port, too */
  PTO_FAILED /* an erroneous response, after its handshake */
};

/* Accesses in `owed`, in the order of tb/harness/layout.py. */
enum pto_access { PTO_OWES_AR, PTO_OWES_AW, PTO_OWES_SRC, PTO_OWES_DST, PTO_OWES_PAR };

/* What is open in a slot, in the order of tb/harness/layout.py. */
enum pto_open {
  PTO_OPEN_READS,       /* bursts before their last R handshake */
  PTO_OPEN_READ_BEATS,  /* R beats outstanding */
  PTO_OPEN_WRITES,      /* bursts after their AW, before their B handshake */
  PTO_OPEN_WRITE_BEATS, /* W beats outstanding for them */
  PTO_OPEN_EARLY_BEATS, /* W beats that wait for their AW */
  PTO_OPEN_RESPONSES,   /* complete bursts before their B handshake */
  PTO_OPEN_SRC,         /* outstanding words of the ports */
  PTO_OPEN_PAR,
  PTO_OPEN_FLAG
};

/* Numbers used by pto_harness.v and tb/harness/layout.py. */
enum pto_knob {
  PTO_KNOB_AXI_READ_LATENCY,
  PTO_KNOB_AXI_WRITE_LATENCY,
  PTO_KNOB_STALL_AR,
  PTO_KNOB_STALL_R,
  PTO_KNOB_STALL_AW,
  PTO_KNOB_STALL_W,
  PTO_KNOB_STALL_B,
  PTO_KNOB_LOCAL_READ_LATENCY,
  PTO_KNOB_STALL_SRC_GNT,
  PTO_KNOB_STALL_DST_GNT,
  PTO_KNOB_STALL_DONE,
  PTO_KNOB_SEED,
  PTO_KNOB_MAX_OUTSTANDING,
  PTO_KNOB_W_AFTER_AW,
  PTO_KNOB_IDLE_CLOCKS,
  PTO_KNOB_AXI_READ_JITTER,
  PTO_KNOB_AXI_WRITE_JITTER,
  PTO_KNOB_LOCAL_READ_JITTER,
  PTO_KNOB_READY_AFTER_VALID,
  PTO_KNOB_LOCAL_FAULTS = PTO_KNOBS - 1 /* no setting: slots with local writes that may fail */
};

struct pto_desc {
  uint32_t words[PTO_DESC_WORDS];
  uint32_t tag;
  uint32_t gap;                  /* clocks between the accept before and the offer */
  uint32_t wait_done[PTO_SLOTS]; /* offered once slot s has retired so many; 0: no wait */
};

struct pto_done {
  uint32_t tag, status, rule, pad;
  uint64_t addr;
  uint64_t accept_cycle;
  uint64_t done_cycle;
  uint64_t written_bytes; /* of the slot, from the start to this done handshake */
  uint64_t clear_bytes;   /* written_bytes when the first unit flag was cleared since the done
                             before, or PTO_NO_CLEAR; a write on the edge of the clear counts */
  uint64_t owed[PTO_ACCESSES]; /* oldest access without an answer when the done was offered, its own
                                  or a younger op's: bit 63 set, space << 56, address; else 0 */
};

struct pto_slot {
  uint64_t submitted;     /* P: descriptors put into the ring */
  uint64_t polled;        /* P: done records taken */
  uint64_t offered;       /* H: descriptors popped by the feeder */
  uint64_t accepted;      /* H: descriptor handshakes, by ring or by pins */
  uint64_t done;          /* H: retired, and dropped by a reset */
  uint64_t records;       /* H: done records written */
  uint64_t dropped;       /* H: discarded by a reset */
  uint64_t written_bytes; /* H: local bytes granted, GM bytes after their B */
  uint64_t moved_bytes;   /* H: in granted beats since the slot accepted or retired a descriptor */
  uint64_t stalls[PTO_CHANNELS]; /* H: clocks in which the harness stalled a channel */
  uint64_t last[PTO_CHANNELS];   /* H: clock of the last handshake, or event; R: of its offer */
  /* The state of the slot before the edge after `state_cycle`: at each wake-up and hang, else
   * every 4096 clocks. */
  uint64_t state_cycle;         /* H */
  uint64_t accept_cycle;        /* H: of the oldest descriptor that the engine holds */
  uint64_t flag_cycle;          /* H: of the last read of a word of unit flags */
  uint32_t flag_addr, flag_mask; /* H: that word, and the flags requested */
  uint32_t flag_word;            /* H: its flags */
  uint32_t flag_reads;           /* H: equal reads in a row since the last done */
  uint32_t pad;
  uint32_t pins;                /* H: bit by bit as PINS of tb/harness/layout.py */
  uint32_t waits[PTO_CHANNELS]; /* H: clocks for which valid or req has waited */
  uint32_t open[PTO_CHANNELS];  /* H: enum pto_open */
  struct pto_desc desc[PTO_RING];
  struct pto_done ring[PTO_RING];
};

/* Fails the words that touch a window of a memory. Addresses are multiples of 32. */
struct pto_fault {
  uint32_t enable, space, kind;
  uint32_t sides; /* bit 0: reads, bit 1: writes */
  uint64_t addr, length;
  uint32_t slots; /* a bit for each */
  uint32_t nth;   /* only the n-th word that touches the window since it was set; 0: every one */
  uint32_t hits;  /* H: number of error responses */
  uint32_t sets;  /* P: counts settings of this fault; each restarts its counts */
};

/* Wakes Python `delay` clocks after the count-th event of a channel; a reset removes it. */
struct pto_aim {
  uint32_t slot, channel; /* P: enum pto_channel */
  uint32_t count;         /* P: events from the next clock on; 0 for no aim */
  uint32_t delay;         /* P */
  uint32_t sets;          /* P: counts settings */
  uint32_t met;           /* H: the last setting that woke Python */
};

/* An erroneous response, after its handshake with the engine. */
struct pto_hit {
  uint64_t cycle; /* of the handshake of R or B, the grant of a local write, a local rvalid */
  uint64_t addr;  /* of the bus word */
  uint32_t slot, side, kind, fault, space, pad;
};

/* A burst with VALID rising later than PTO_GRACE clocks after the first error of its slot. */
struct pto_late {
  uint64_t cycle; /* in which VALID rose */
  uint64_t addr;
  uint32_t slot, side, beats, pad;
};

struct pto_mailbox {
  uint64_t magic;   /* M */
  uint32_t version; /* M */
  uint32_t size;    /* M: of this struct */
  uint32_t pid;     /* H */
  uint32_t slots;   /* H: bit s: slot s has an engine */
  uint64_t cycles;  /* H */
  uint32_t stop;    /* M: 1 has Python end the run before its time */
  uint32_t clock_ticks; /* P: steps of simulated time in a clock */

  uint64_t heartbeat;  /* P: changes with each step of progress in Python */
  uint64_t checked;    /* P: transactions checked */
  uint64_t mismatches; /* P */

  uint64_t wake_at[PTO_SLOTS]; /* P: wake when every slot has retired so many */
  uint32_t wake_request;       /* P: counts requests */
  uint32_t wake_answer;        /* H: the last request answered */
  uint32_t watchdog_clocks;    /* P: for a slot without a beat; 0 is off */
  uint32_t hang;               /* H sets, P clears: 1 nothing moves, 2 bytes move without an end */
  uint64_t moving_clocks;      /* P: for a slot whose beats are granted */
  uint64_t hang_cycle;         /* H */

  uint32_t knob_version; /* P: counts changes of knobs, faults, aim and gm_limit */
  uint32_t knob_answer;  /* H: the version in use */
  uint32_t knobs[PTO_KNOBS];          /* P */
  struct pto_fault faults[PTO_FAULTS]; /* P */
  uint64_t gm_limit;                   /* P: GM addresses from here on answer DECERR */
  struct pto_aim aim;
  uint64_t reset_cycle;                /* H: of the last reset */

  /* Rings that keep the oldest unread entries: entry k is [k % size], `*_records` have one. */
  uint64_t hits, hit_records;   /* H */
  uint64_t hits_polled;         /* P */
  struct pto_hit hit[PTO_HITS]; /* H */
  uint64_t late_bursts, late_records; /* H */
  uint64_t late_polled;               /* P */
  struct pto_late late[PTO_LATE];     /* H */

  uint64_t errors;         /* H: all, with those that the rate limit left out */
  uint64_t error_records;  /* H: messages written */
  uint64_t errors_polled;  /* P: messages taken */
  char error_text[PTO_ERRORS][PTO_ERROR_TEXT];

  struct pto_slot slot[PTO_SLOTS];
};

#endif
