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

/* Gets a vector of up to 64 bits; X and Z read as 0. */
static uint64_t get_long(struct call *call, int index) {
  s_vpi_value value;
  uint64_t bits = 0;
  value.format = vpiVectorVal;
  vpi_get_value(call->arg[index], &value);
  for (int i = 0; i < 2 && i * 32 < call->size[index]; i++) {
    uint32_t a = (uint32_t)value.value.vector[i].aval, b = (uint32_t)value.value.vector[i].bval;
    bits |= (uint64_t)(a & ~b) << (32 * i);
  }
  /* The bits above a word of an array are not part of it. */
  return call->size[index] < 64 ? bits & ((UINT64_C(1) << call->size[index]) - 1) : bits;
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

/* The backends; the result of one without a result is not used. */
#define BACKEND(name) static int vpi_##name(struct call *c)

BACKEND(tick) { return pto_tick(get_int(c, 0), get_int(c, 1)); }
BACKEND(start) { return pto_start(get_int(c, 0)), 0; }
BACKEND(reset) { return pto_reset(get_int(c, 0)), 0; }
BACKEND(knob) { return pto_knob(get_int(c, 0)); }
BACKEND(hit) { return pto_hit(get_int(c, 0), get_int(c, 1)), 0; }
BACKEND(axi_ar) { return pto_axi_ar(get_int(c, 0)), 0; }
BACKEND(axi_b) { return pto_axi_b(get_int(c, 0)), 0; }
BACKEND(desc_accept) { return pto_desc_accept(get_int(c, 0)), 0; }

BACKEND(axi_aw) {
  return pto_axi_aw(get_int(c, 0), (long long)get_long(c, 1), get_int(c, 2), get_int(c, 3));
}

BACKEND(flag_read) { return pto_flag_read(get_int(c, 0), get_int(c, 1), get_int(c, 2)); }
BACKEND(flag_clear) { return pto_flag_clear(get_int(c, 0), get_int(c, 1), get_int(c, 2)), 0; }

BACKEND(local_fault) {
  return pto_local_fault(get_int(c, 0), get_int(c, 1), get_int(c, 2), get_int(c, 3), get_int(c, 4));
}

BACKEND(late_burst) {
  pto_late_burst(get_int(c, 0), get_int(c, 1), (long long)get_long(c, 2), get_int(c, 3),
                 get_int(c, 4));
  return 0;
}

BACKEND(owes) {
  return pto_owes(get_int(c, 0), get_int(c, 1), (int)get_long(c, 2), (long long)get_long(c, 3)), 0;
}

BACKEND(done) {
  pto_done(get_int(c, 0), (int)get_long(c, 1), (int)get_long(c, 2), (int)get_long(c, 3),
           (long long)get_long(c, 4));
  return 0;
}

BACKEND(state) {
  uint32_t words[VECTOR_WORDS];
  get_word(c, 2, words);
  pto_state(get_int(c, 0), get_int(c, 1), words);
  return 0;
}

BACKEND(gm_read) {
  uint32_t word[VECTOR_WORDS];
  int resp = pto_gm_read(get_int(c, 0), (long long)get_long(c, 1), get_int(c, 2), word);
  put_word(c, 3, word);
  return resp;
}

BACKEND(axi_w) {
  uint32_t word[VECTOR_WORDS];
  int slot = get_int(c, 0), bytes = get_int(c, 1);
  uint64_t strobe = get_long(c, 2), unknown = get_word(c, 3, word) & strobe;
  if (unknown) {
    struct writer *w = &g.writer[slot];
    uint64_t addr = 0;
    if (w->bursts.count)
      addr = ((struct burst *)queue_front(&w->bursts))->addr +
             (uint64_t)w->index * (uint64_t)bytes;
    pto_error(slot, "X-W: X or Z on enabled bytes of WDATA (address, byte lanes)",
              (long long)addr, (long long)unknown);
  }
  return pto_axi_w(slot, bytes, strobe, word);
}

BACKEND(local_read) {
  uint32_t word[VECTOR_WORDS];
  int error = pto_local_read(get_int(c, 0), get_int(c, 1), (int)get_long(c, 2),
                             (int)get_long(c, 3), get_int(c, 4), word);
  put_word(c, 5, word);
  return error;
}

BACKEND(local_write) {
  uint32_t word[VECTOR_WORDS];
  int slot = get_int(c, 0), space = (int)get_long(c, 1);
  uint64_t addr = get_long(c, 2), strobe = get_long(c, 4);
  uint64_t unknown = get_word(c, 5, word) & strobe;
  if (unknown)
    pto_error(slot, "X-DST: X or Z on enabled bytes of dst_wdata_o (address, byte lanes)",
              (long long)addr, (long long)unknown);
  return pto_local_write(slot, space, (int)addr, get_int(c, 3), strobe, word);
}

BACKEND(desc_pop) {
  uint32_t words[VECTOR_WORDS];
  int tag = pto_desc_pop(get_int(c, 0), words);
  put_word(c, 1, words);
  return tag;
}

BACKEND(desc_pins) {
  uint32_t words[VECTOR_WORDS];
  int slot = get_int(c, 0), tag = get_int(c, 1);
  if (get_word(c, 2, words))
    pto_error(slot, "X-MEMORY: X or Z on desc_i, by pins (tag)", tag, 0);
  pto_desc_pins(slot, tag, words);
  return 0;
}

BACKEND(error) {
  char text[PTO_ERROR_TEXT];
  s_vpi_value value;
  value.format = vpiStringVal;
  vpi_get_value(c->arg[1], &value);
  snprintf(text, sizeof text, "%s", value.value.str);
  pto_error(get_int(c, 0), text, (long long)get_long(c, 2), (long long)get_long(c, 3));
  return 0;
}

#define FUNCTION(name) { "$pto_" #name, 1, vpi_##name }
#define TASK(name) { "$pto_" #name, 0, vpi_##name }

static const struct backend {
  const char *name;
  int returns;
  int (*run)(struct call *);
} backends[] = {
  FUNCTION(tick), TASK(start), TASK(reset), FUNCTION(knob), TASK(state), TASK(hit),
  TASK(late_burst), FUNCTION(local_fault), FUNCTION(gm_read), TASK(axi_ar), FUNCTION(axi_aw),
  FUNCTION(axi_w), TASK(axi_b), FUNCTION(local_read), FUNCTION(local_write), FUNCTION(flag_read),
  TASK(flag_clear), FUNCTION(desc_pop), TASK(desc_accept), TASK(desc_pins), TASK(done),
  TASK(owes), TASK(error),
};

static PLI_INT32 run(PLI_BYTE8 *data) {
  const struct backend *backend = (const struct backend *)(void *)data;
  struct call *call = call_here();
  s_vpi_value value;
  value.format = vpiIntVal;
  value.value.integer = backend->run(call);
  if (backend->returns) vpi_put_value(call->self, &value, NULL, vpiNoDelay);
  return 0;
}

/* Appends a line "bits name" for each register below a scope that holds X or Z. */
static int list_unknown(vpiHandle scope, char *text, int size, int at) {
  vpiHandle each = vpi_iterate(vpiReg, scope), one;
  while (each && (one = vpi_scan(each)) != NULL) {
    int bits = vpi_get(vpiSize, one), unknown = 0;
    s_vpi_value value;
    value.format = vpiVectorVal;
    vpi_get_value(one, &value);
    for (int i = 0; i * 32 < bits; i++) {
      int left = bits - i * 32;
      uint32_t mask = left < 32 ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
      unknown |= ((uint32_t)value.value.vector[i].bval & mask) != 0;
    }
    if (!unknown) continue;
    int length = snprintf(text + at, (size_t)(size - at), "%d %s\n", bits, vpi_get_str(vpiFullName, one));
    if (length >= size - at) text[at] = 0; /* no room for it */
    else at += length;
  }
  each = vpi_iterate(vpiInternalScope, scope);
  while (each && (one = vpi_scan(each)) != NULL) {
    int type = vpi_get(vpiType, one);
    if (type == vpiModule || type == vpiGenScope) at = list_unknown(one, text, size, at);
  }
  return at;
}

/* For Python: the registers with X of the instance `name`; returns the bytes of the text. */
int pto_unknown(const char *name, char *text, int size) {
  vpiHandle scope = vpi_handle_by_name((PLI_BYTE8 *)(uintptr_t)name, NULL);
  text[0] = 0;
  return scope ? list_unknown(scope, text, size, 0) : 0;
}

/* $stop and $finish of a design: the simulator does not report their place. */
static PLI_INT32 end_here(PLI_BYTE8 *name) {
  vpiHandle self = vpi_handle(vpiSysTfCall, NULL);
  s_vpi_time now = { vpiSimTime, 0, 0, 0 };
  vpi_get_time(NULL, &now);
  vpi_printf((PLI_BYTE8 *)"pto: %s: %s:%d, time %llu, ", name, vpi_get_str(vpiFile, self),
             (int)vpi_get(vpiLineNo, self),
             (unsigned long long)now.high << 32 | (unsigned long long)now.low);
  vpi_printf((PLI_BYTE8 *)"scope %s\n", vpi_get_str(vpiFullName, vpi_handle(vpiScope, self)));
  vpi_control(vpiFinish, 0);
  return 0;
}

static void register_ends(void) {
  static char names[2][8] = { "$stop", "$finish" };
  for (int i = 0; i < 2; i++) {
    s_vpi_systf_data end;
    memset(&end, 0, sizeof end);
    end.type = vpiSysTask;
    end.tfname = names[i];
    end.calltf = end_here;
    end.user_data = names[i];
    vpi_register_systf(&end);
  }
}

static void register_backends(void) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
    s_vpi_systf_data backend;
    memset(&backend, 0, sizeof backend);
    backend.type = backends[i].returns ? vpiSysFunc : vpiSysTask;
    backend.sysfunctype = backends[i].returns ? vpiIntFunc : 0;
    backend.tfname = backends[i].name;
    backend.calltf = run;
    backend.user_data = (PLI_BYTE8 *)(uintptr_t)&backends[i];
    vpi_register_systf(&backend);
  }
}

void (*vlog_startup_routines[])(void) = { register_backends, register_ends, NULL };
