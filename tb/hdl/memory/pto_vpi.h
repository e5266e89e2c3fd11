/* SPDX-License-Identifier: Apache-2.0
 *
 * The backends of pto_mem.c as system functions of Icarus; included by it when PTO_VPI is defined.
 * Names and arguments are those of the DPI imports in pto_backend.vh. Values are four-state: X or Z
 * in an enabled byte is an error with time and place; elsewhere it reads as 0, and the checkers
 * report it.
 */
#include <vpi_user.h>

#define MAX_ARGS 6
#define VECTOR_WORDS 16

/* The arguments of one call in the source, looked up at its first execution. */
struct call {
  vpiHandle self, arg[MAX_ARGS];
  int size[MAX_ARGS];
};

static struct call *call_here(void) {
  vpiHandle self = vpi_handle(vpiSysTfCall, NULL);
  struct call *call = (struct call *)vpi_get_userdata(self);
  if (call) return call;
  call = (struct call *)calloc(1, sizeof *call);
  if (!call) refuse("out of memory");
  call->self = self;
  vpiHandle each = vpi_iterate(vpiArgument, self), arg;
  for (int i = 0; each && (arg = vpi_scan(each)) != NULL; i++) {
    if (i == MAX_ARGS) refuse("too many arguments of a $pto_ function");
    call->arg[i] = arg;
    call->size[i] = vpi_get(vpiSize, arg);
  }
  vpi_put_userdata(self, call);
  return call;
}

static int get_int(struct call *call, int index) {
  s_vpi_value value;
  value.format = vpiIntVal;
  vpi_get_value(call->arg[index], &value);
  return value.value.integer;
}

/* Gets a vector of up to 64 bits; true when a bit is X or Z, which then reads as 0. */
static int get_long(struct call *call, int index, uint64_t *out) {
  s_vpi_value value;
  uint32_t unknown = 0;
  value.format = vpiVectorVal;
  vpi_get_value(call->arg[index], &value);
  *out = 0;
  for (int i = 0; i < 2 && i * 32 < call->size[index]; i++) {
    uint32_t a = (uint32_t)value.value.vector[i].aval, b = (uint32_t)value.value.vector[i].bval;
    *out |= (uint64_t)(a & ~b) << (32 * i);
    unknown |= b;
  }
  /* The bits above a word of an array are not part of it. */
  if (call->size[index] < 64) *out &= (UINT64_C(1) << call->size[index]) - 1;
  return unknown != 0;
}

/* Gets a bus word; returns a bit for each byte that holds X or Z. */
static uint64_t get_word(struct call *call, int index, uint32_t *out) {
  s_vpi_value value;
  uint64_t unknown = 0;
  value.format = vpiVectorVal;
  vpi_get_value(call->arg[index], &value);
  for (int i = 0; i < VECTOR_WORDS && i * 32 < call->size[index]; i++) {
    uint32_t a = (uint32_t)value.value.vector[i].aval, b = (uint32_t)value.value.vector[i].bval;
    out[i] = a & ~b;
    for (int byte = 0; b && byte < 4; byte++)
      if (b >> (8 * byte) & 0xff) unknown |= UINT64_C(1) << (4 * i + byte);
  }
  return unknown;
}

static void put_word(struct call *call, int index, const uint32_t *data) {
  s_vpi_vecval vector[VECTOR_WORDS];
  s_vpi_value value;
  for (int i = 0; i < VECTOR_WORDS && i * 32 < call->size[index]; i++) {
    vector[i].aval = (PLI_INT32)data[i];
    vector[i].bval = 0;
  }
  value.format = vpiVectorVal;
  value.value.vector = vector;
  vpi_put_value(call->arg[index], &value, NULL, vpiNoDelay);
}

static PLI_INT32 give(struct call *call, int result) {
  s_vpi_value value;
  value.format = vpiIntVal;
  value.value.integer = result;
  vpi_put_value(call->self, &value, NULL, vpiNoDelay);
  return 0;
}

static PLI_INT32 vpi_tick(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  return give(c, pto_tick(get_int(c, 0), get_int(c, 1)));
}

static PLI_INT32 vpi_start(PLI_BYTE8 *data) {
  (void)data;
  pto_start(get_int(call_here(), 0));
  return 0;
}

static PLI_INT32 vpi_reset(PLI_BYTE8 *data) {
  (void)data;
  pto_reset(get_int(call_here(), 0));
  return 0;
}

static PLI_INT32 vpi_knob(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  return give(c, pto_knob(get_int(c, 0)));
}

static PLI_INT32 vpi_state(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t words[VECTOR_WORDS];
  (void)data;
  get_word(c, 2, words);
  pto_state(get_int(c, 0), get_int(c, 1), words);
  return 0;
}

static PLI_INT32 vpi_hit(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  pto_hit(get_int(c, 0), get_int(c, 1));
  return 0;
}

static PLI_INT32 vpi_late_burst(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint64_t addr;
  (void)data;
  get_long(c, 2, &addr);
  pto_late_burst(get_int(c, 0), get_int(c, 1), (long long)addr, get_int(c, 3), get_int(c, 4));
  return 0;
}

static PLI_INT32 vpi_local_fault(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  return give(c, pto_local_fault(get_int(c, 0), get_int(c, 1), get_int(c, 2), get_int(c, 3),
                                 get_int(c, 4)));
}

static PLI_INT32 vpi_gm_read(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  uint64_t addr;
  int slot = get_int(c, 0);
  (void)data;
  get_long(c, 1, &addr);
  int resp = pto_gm_read(slot, (long long)addr, get_int(c, 2), word);
  put_word(c, 3, word);
  return give(c, resp);
}

static PLI_INT32 vpi_axi_ar(PLI_BYTE8 *data) {
  (void)data;
  pto_axi_ar(get_int(call_here(), 0));
  return 0;
}

static PLI_INT32 vpi_axi_aw(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint64_t addr;
  int slot = get_int(c, 0);
  (void)data;
  get_long(c, 1, &addr);
  return give(c, pto_axi_aw(slot, (long long)addr, get_int(c, 2), get_int(c, 3)));
}

static PLI_INT32 vpi_axi_w(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  uint64_t strobe, unknown;
  int slot = get_int(c, 0);
  (void)data;
  get_long(c, 2, &strobe);
  unknown = get_word(c, 3, word) & strobe;
  if (unknown) {
    const struct writer *w = &g.writer[slot];
    uint64_t addr = 0;
    if (w->bursts.count)
      addr = ((struct burst *)queue_front(&g.writer[slot].bursts))->addr +
             (uint64_t)w->index * (uint64_t)get_int(c, 1);
    pto_error(slot, "X-W: X or Z on enabled bytes of WDATA (address, byte lanes)",
              (long long)addr, (long long)unknown);
  }
  return give(c, pto_axi_w(slot, get_int(c, 1), strobe, word));
}

static PLI_INT32 vpi_axi_b(PLI_BYTE8 *data) {
  (void)data;
  pto_axi_b(get_int(call_here(), 0));
  return 0;
}

static PLI_INT32 vpi_local_read(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  uint64_t addr, space;
  int slot = get_int(c, 0), par = get_int(c, 1);
  (void)data;
  get_long(c, 2, &space);
  get_long(c, 3, &addr);
  int error = pto_local_read(slot, par, (int)space, (int)addr, get_int(c, 4), word);
  put_word(c, 5, word);
  return give(c, error);
}

static PLI_INT32 vpi_local_write(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  uint64_t addr, space, strobe, unknown;
  int slot = get_int(c, 0);
  (void)data;
  get_long(c, 1, &space);
  get_long(c, 2, &addr);
  get_long(c, 4, &strobe);
  unknown = get_word(c, 5, word) & strobe;
  if (unknown)
    pto_error(slot, "X-DST: X or Z on enabled bytes of dst_wdata_o (address, byte lanes)",
              (long long)addr, (long long)unknown);
  return give(c, pto_local_write(slot, (int)space, (int)addr, get_int(c, 3), strobe, word));
}

static PLI_INT32 vpi_flag_read(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  return give(c, pto_flag_read(get_int(c, 0), get_int(c, 1), get_int(c, 2)));
}

static PLI_INT32 vpi_flag_clear(PLI_BYTE8 *data) {
  struct call *c = call_here();
  (void)data;
  pto_flag_clear(get_int(c, 0), get_int(c, 1), get_int(c, 2));
  return 0;
}

static PLI_INT32 vpi_desc_pop(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  (void)data;
  int tag = pto_desc_pop(get_int(c, 0), word);
  put_word(c, 1, word);
  return give(c, tag);
}

static PLI_INT32 vpi_desc_accept(PLI_BYTE8 *data) {
  (void)data;
  pto_desc_accept(get_int(call_here(), 0));
  return 0;
}

static PLI_INT32 vpi_desc_pins(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint32_t word[VECTOR_WORDS];
  int slot = get_int(c, 0);
  (void)data;
  if (get_word(c, 2, word))
    pto_error(slot, "X-MEMORY: X or Z on desc_i, by pins (tag)", get_int(c, 1), 0);
  pto_desc_pins(slot, get_int(c, 1), word);
  return 0;
}

static PLI_INT32 vpi_done(PLI_BYTE8 *data) {
  struct call *c = call_here();
  uint64_t tag, status, rule, addr;
  int slot = get_int(c, 0);
  (void)data;
  get_long(c, 1, &tag);
  get_long(c, 2, &status);
  get_long(c, 3, &rule);
  get_long(c, 4, &addr);
  pto_done(slot, (int)tag, (int)status, (int)rule, (long long)addr);
  return 0;
}

static PLI_INT32 vpi_error(PLI_BYTE8 *data) {
  struct call *c = call_here();
  char text[PTO_ERROR_TEXT];
  s_vpi_value value;
  uint64_t a, b;
  (void)data;
  value.format = vpiStringVal;
  vpi_get_value(c->arg[1], &value);
  snprintf(text, sizeof text, "%s", value.value.str);
  get_long(c, 2, &a);
  get_long(c, 3, &b);
  pto_error(get_int(c, 0), text, (long long)a, (long long)b);
  return 0;
}

static const struct {
  const char *name;
  int returns;
  PLI_INT32 (*run)(PLI_BYTE8 *);
} backends[] = {
  { "$pto_tick", 1, vpi_tick },
  { "$pto_start", 0, vpi_start },
  { "$pto_reset", 0, vpi_reset },
  { "$pto_knob", 1, vpi_knob },
  { "$pto_state", 0, vpi_state },
  { "$pto_hit", 0, vpi_hit },
  { "$pto_late_burst", 0, vpi_late_burst },
  { "$pto_local_fault", 1, vpi_local_fault },
  { "$pto_gm_read", 1, vpi_gm_read },
  { "$pto_axi_ar", 0, vpi_axi_ar },
  { "$pto_axi_aw", 1, vpi_axi_aw },
  { "$pto_axi_w", 1, vpi_axi_w },
  { "$pto_axi_b", 0, vpi_axi_b },
  { "$pto_local_read", 1, vpi_local_read },
  { "$pto_local_write", 1, vpi_local_write },
  { "$pto_flag_read", 1, vpi_flag_read },
  { "$pto_flag_clear", 0, vpi_flag_clear },
  { "$pto_desc_pop", 1, vpi_desc_pop },
  { "$pto_desc_accept", 0, vpi_desc_accept },
  { "$pto_desc_pins", 0, vpi_desc_pins },
  { "$pto_done", 0, vpi_done },
  { "$pto_error", 0, vpi_error },
};

static void register_backends(void) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
    s_vpi_systf_data backend;
    memset(&backend, 0, sizeof backend);
    backend.type = backends[i].returns ? vpiSysFunc : vpiSysTask;
    backend.sysfunctype = backends[i].returns ? vpiIntFunc : 0;
    backend.tfname = backends[i].name;
    backend.calltf = backends[i].run;
    vpi_register_systf(&backend);
  }
}

void (*vlog_startup_routines[])(void) = { register_backends, NULL };
