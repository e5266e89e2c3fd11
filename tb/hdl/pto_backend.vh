// SPDX-License-Identifier: Apache-2.0
// Backends to the C memory and the mailbox (pto_mem.c), included inside each module that uses one:
// DPI imports, or system functions of a VPI module on Icarus. Arguments are the same for both.
// Bus words are passed as 512 bits by DPI, whatever the bus width, so that a C function has one
// signature; on Icarus, where every bit costs time, they have their own width.
`define PTO_ERROR `PTO(error)
`ifdef __ICARUS__
  `define PTO(name) $pto_``name
  `define PTO_BACKEND_BITS(width) (width)
  `define PTO_IS_X(signals) ((^(signals)) === 1'bx)
  `define PTO_WAVES_WINDOW // the harness switches dumping on and off
`else
  `define PTO(name) pto_``name
  `define PTO_BACKEND_BITS(width) 512
  `ifdef VERILATOR
    `define PTO_IS_X(signals) 1'b0
  `else
    `define PTO_IS_X(signals) ((^(signals)) === 1'bx)
  `endif

  import "DPI-C" function int pto_tick(input int pins, input int active);
  import "DPI-C" function void pto_start(input int slots);
  import "DPI-C" function void pto_reset(input int slots);
  import "DPI-C" function int pto_knob(input int index);
  import "DPI-C" function void pto_state(
      input int slot, input int part, input bit [511:0] words);
  import "DPI-C" function void pto_hit(input int slot, input int port);
  import "DPI-C" function void pto_late_burst(
      input int slot, input int side, input longint addr, input int len, input int waited);
  import "DPI-C" function void pto_owes(
      input int slot, input int access, input int space, input longint addr);
  import "DPI-C" function int pto_local_fault(
      input int slot, input int fresh, input int space, input int addr, input int bytes);
  import "DPI-C" function int pto_gm_read(
      input int slot, input longint addr, input int bytes, output bit [511:0] data);
  import "DPI-C" function void pto_axi_ar(input int slot);
  import "DPI-C" function int pto_axi_aw(
      input int slot, input longint addr, input int len, input int bytes);
  import "DPI-C" function int pto_axi_w(
      input int slot, input int bytes, input longint strobe, input bit [511:0] data);
  import "DPI-C" function void pto_axi_b(input int slot);
  import "DPI-C" function int pto_local_read(
      input int slot, input int par, input int space, input int addr, input int bytes,
      output bit [511:0] data);
  import "DPI-C" function int pto_local_write(
      input int slot, input int space, input int addr, input int bytes, input longint enables,
      input bit [511:0] data);
  import "DPI-C" function int pto_flag_read(
      input int slot, input int addr, input int mask);
  import "DPI-C" function void pto_flag_clear(input int slot, input int addr, input int mask);
  import "DPI-C" function int pto_desc_pop(input int slot, output bit [511:0] words);
  import "DPI-C" function void pto_desc_accept(input int slot);
  import "DPI-C" function void pto_desc_pins(
      input int slot, input int tag, input bit [511:0] words);
  import "DPI-C" function void pto_done(
      input int slot, input int tag, input int status, input int rule, input longint addr);
  import "DPI-C" function void pto_error(
      input int slot, input string text, input longint a, input longint b);
`endif
