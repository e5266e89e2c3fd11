// SPDX-License-Identifier: Apache-2.0
// Top of every simulation: clock, reset, and for each slot with PTO_<SLOT>_MODULE defined the
// engine of that name between descriptor feeder, done monitor, memories and checkers.
// Python accesses it through the mailbox (pto_mailbox.h) and the signals declared first; a clock
// costs one call into C, made at the falling edge, so that all modules sample the same result at
// the rising one. docs/contract.md describes the ports of an engine.
// Each slot has a gated clock, with the edges of `clk` during activity in the slot and for
// `idle_clocks` after that: an idle slot costs nothing. Edges of all clocks coincide, and the
// gating of the next one is decided while `clk` is low, so that modules of a slot may
// take signals from here that change at either edge of `clk` by nonblocking assignment:
//   clk       _/~\_/~\_/~\_/~\_/~\_/~\_
//   run[1]    ______/~~~~~~~\_________
//   mte2_clk  _______/~\_/~\___________
// With PTO_MAIN_CLOCKS, on Verilator, tb/hdl/pto_main.cpp makes all clocks and the call: there a
// process with delays costs a quarter of a busy clock, and one at the falling edge a tenth.
// Simulation only.
`default_nettype none
`timescale 1ns / 1ps

`include "pto_dut.vh"

module pto_harness #(
    parameter GmDataWidth = `PTO_GM_DATA_WIDTH,       // bits: 128, 256 or 512
    parameter LocalDataWidth = `PTO_LOCAL_DATA_WIDTH  // bits: 128, 256 or 512
) (
`ifdef PTO_MAIN_CLOCKS
    // As the processes of other simulators, see below.
    input  wire        clk,
    input  wire        mte1_clk,
    input  wire        mte2_clk,
    input  wire        mte3_clk,
    input  wire        fix_clk,
    input  wire        copy_pins,
    input  wire        wake,
    input  wire [31:0] cycle,
    input  wire [ 3:0] avail,
    input  wire        reseed,
    input  wire [ 3:0] watch,
    input  wire        report,
    input  wire        new_faults,
    input  wire        new_knobs,
    output wire [ 3:0] pins_used,   // pin_mode
    output wire [ 3:0] activity,    // active
    output wire        all_running  // every slot has the next rising edge of clk
`endif
);
  `include "pto_backend.vh"

  localparam GmAddrWidth = 40;
  localparam LocalAddrWidth = 20;
  localparam DescWidth = 512;
  localparam TagWidth = `PTO_TAG_WIDTH;
  localparam AxiIdWidth = 4;
  localparam FixSrcDataWidth = 512;  // of the fix slot's source port, whatever LocalDataWidth is
  localparam HalfClock = 5;  // ns

`ifdef PTO_MAIN_CLOCKS
  localparam Ahead = 1;  // `cycle` is that of the next edge when `report` toggles
`else
  localparam Ahead = 0;
`endif

  // Written by Python.
  reg       rst_n_req = 1'b0;  // 0 requests reset, at once; released with the clock
  reg [3:0] pin_mode = 4'd0;   // bit s: descriptors and dones of slot s go by pins

`ifndef PTO_MAIN_CLOCKS
  // Read by Python; with PTO_AXI_PINS it drives the clock, see pto_axi_pins.vh.
  reg clk = 1'b0;
  reg copy_pins = 1'b0;  // toggles 1 ns after a falling edge, when pins are in use
  reg wake = 1'b0;  // toggles when the mailbox's wake condition is met, and at a hang
  reg [31:0] cycle = 32'd0;
  reg [3:0] avail = 4'd0;  // slots that may offer the next descriptor
  reg [3:0] run = 4'hf;    // slots that have the next edge of the clock
  reg reseed = 1'b0;       // the knobs below are new
  reg [3:0] watch = 4'd0;  // slots that have had an error: bursts are reported
  reg report = 1'b0;       // toggles to request the state of every slot
  reg new_faults = 1'b0;   // toggles to have the next two loaded
  reg new_knobs = 1'b0;    // toggles to have the knobs loaded
  integer flags;
`endif
  reg rst_n = 1'b1;
  reg [3:0] local_faults = 4'd0;  // slots with local writes that may fail
  reg fault_clock = 1'b0;  // toggles when local writes may fail that did not before

  reg [31:0] seed = 32'd1;
  reg [9:0] axi_read_latency = 10'd1, axi_write_latency = 10'd1;
  reg [9:0] local_read_latency = 10'd1;
  reg [7:0] axi_read_jitter = 8'd0, axi_write_jitter = 8'd0, local_read_jitter = 8'd0;
  reg [7:0] stall_ar = 8'd0, stall_r = 8'd0, stall_aw = 8'd0, stall_w = 8'd0, stall_b = 8'd0;
  reg [7:0] stall_src_gnt = 8'd0, stall_dst_gnt = 8'd0, stall_done = 8'd0;
  reg [6:0] max_outstanding = 7'd64;
  reg w_after_aw = 1'b0;
  reg [7:0] ready_after_valid = 8'd0;  // bits in the order of AFTER_VALID in tb/harness/layout.py

`ifdef PTO_AXI_PINS
  `define PTO_AXI_DRIVEN reg  // signals of the GM port that Python drives
  // A memory in Python does not support stopped clocks.
  wire mte1_clk = clk, mte2_clk = clk, mte3_clk = clk, fix_clk = clk;
`else
  `define PTO_AXI_DRIVEN wire
`ifndef PTO_MAIN_CLOCKS
  reg mte1_clk = 1'b0, mte2_clk = 1'b0, mte3_clk = 1'b0, fix_clk = 1'b0;
`endif
`endif

`ifdef PTO_MTE1_MODULE
  localparam [3:0] SlotMte1 = 4'b0001;
  `define PTO_SLOT_MODULE `PTO_MTE1_MODULE
  `define PTO_SLOT_INDEX 0
  `define PTO_SLOT_NAME mte1
  `define PTO_SLOT_PIN(name) mte1_``name
  `define PTO_SLOT_OUTSTANDING `PTO_MTE1_OUTSTANDING
  `define PTO_SLOT_PARAMETERS `PTO_MTE1_PARAMETERS
  `include "pto_slot.vh"
`else
  localparam [3:0] SlotMte1 = 4'b0000;
  wire mte1_active = 1'b0;
`endif
`ifdef PTO_MTE2_MODULE
  localparam [3:0] SlotMte2 = 4'b0010;
  `define PTO_SLOT_MODULE `PTO_MTE2_MODULE
  `define PTO_SLOT_INDEX 1
  `define PTO_SLOT_NAME mte2
  `define PTO_SLOT_PIN(name) mte2_``name
  `define PTO_SLOT_OUTSTANDING `PTO_MTE2_OUTSTANDING
  `define PTO_SLOT_PARAMETERS `PTO_MTE2_PARAMETERS
  `include "pto_slot.vh"
`else
  localparam [3:0] SlotMte2 = 4'b0000;
  wire mte2_active = 1'b0;
`endif
`ifdef PTO_MTE3_MODULE
  localparam [3:0] SlotMte3 = 4'b0100;
  `define PTO_SLOT_MODULE `PTO_MTE3_MODULE
  `define PTO_SLOT_INDEX 2
  `define PTO_SLOT_NAME mte3
  `define PTO_SLOT_PIN(name) mte3_``name
  `define PTO_SLOT_OUTSTANDING `PTO_MTE3_OUTSTANDING
  `define PTO_SLOT_PARAMETERS `PTO_MTE3_PARAMETERS
  `include "pto_slot.vh"
`else
  localparam [3:0] SlotMte3 = 4'b0000;
  wire mte3_active = 1'b0;
`endif
`ifdef PTO_FIX_MODULE
  localparam [3:0] SlotFix = 4'b1000;
  `define PTO_SLOT_MODULE `PTO_FIX_MODULE
  `define PTO_SLOT_INDEX 3
  `define PTO_SLOT_NAME fix
  `define PTO_SLOT_PIN(name) fix_``name
  `define PTO_SLOT_OUTSTANDING `PTO_FIX_OUTSTANDING
  `define PTO_SLOT_PARAMETERS `PTO_FIX_PARAMETERS
  `define PTO_SLOT_SRC_WIDTH FixSrcDataWidth
  `define PTO_SLOT_PAR_FLAG
  `include "pto_slot.vh"
`else
  localparam [3:0] SlotFix = 4'b0000;
  wire fix_active = 1'b0;
`endif
  localparam [3:0] Slots = SlotMte1 | SlotMte2 | SlotMte3 | SlotFix;
  wire [3:0] active = {fix_active, mte3_active, mte2_active, mte1_active} | {4{!rst_n}};

`ifdef PTO_WAVES_WINDOW
  // Waves from one clock to another; tb/hdl/pto_main.cpp has the same for Verilator.
  reg [63:0] waves_from, waves_to;
  initial begin
    if ($value$plusargs("pto_waves_from=%d", waves_from)) begin
      #1 $dumpoff;  // after $dumpvars
      #(waves_from * 2 * HalfClock) $dumpon;
    end else begin
      waves_from = 64'd0;
    end
    if ($value$plusargs("pto_waves_to=%d", waves_to))
      #((waves_to - waves_from) * 2 * HalfClock) $dumpoff;
  end
`endif

`ifdef PTO_AXI_PINS
  always @(negedge clk) if (pin_mode != 4'd0) copy_pins <= #1 !copy_pins;
`elsif PTO_MAIN_CLOCKS
  assign pins_used = pin_mode;
  assign activity = active;
  assign all_running = !rst_n;
`else
  always begin
    if (pin_mode != 4'd0) begin
      #1 copy_pins = !copy_pins;
      #(HalfClock - 1);
    end else begin
      #HalfClock;
    end
    clk = 1'b1;
    // A reset begins at any time: `run` may not include it yet.
    {fix_clk, mte3_clk, mte2_clk, mte1_clk} = run | {4{!rst_n}};
    #HalfClock clk = 1'b0;
    {fix_clk, mte3_clk, mte2_clk, mte1_clk} = 4'd0;
  end
`endif

`ifdef PTO_AXI_PINS
  initial `PTO(start)({1'b1, Slots});
`else
  initial `PTO(start)(Slots);
`endif

  // Asserted at once, released on a clock edge. The first assertion is an edge too; without it an
  // asynchronous reset would have no effect before the first clock.
  initial #1 rst_n = 1'b0;

  always @(posedge clk or negedge rst_n_req) begin
    if (!rst_n_req) rst_n <= 1'b0;
    else rst_n <= 1'b1;
  end

  reg was_running = 1'b0;

  always @(posedge clk) begin
    if (was_running && !rst_n) `PTO(reset)(Slots);
    was_running <= rst_n;
  end

`ifndef PTO_MAIN_CLOCKS
  always @(negedge clk) begin
    flags = `PTO(tick)(pin_mode, active);
    cycle <= cycle + 32'd1;
    avail <= flags[3:0];
    run <= flags[9:6];
    watch <= flags[15:12];
    // A blocking assignment: the state is valid when Python gets the wake-up.
    if (flags[10]) report = !report;
    if (flags[11]) new_faults <= !new_faults;
    if (flags[4]) wake <= !wake;
    reseed <= flags[5];
    if (flags[5]) new_knobs <= !new_knobs;
  end
`endif

  // A separate process: otherwise the logic that depends on `dst_err` would be evaluated at every
  // falling edge.
  always @(new_faults) begin
    fault_clock <= !fault_clock;
    local_faults <= `PTO(knob)(31);
  end

  // Numbers of enum pto_knob in pto_mailbox.h.
  always @(new_knobs) begin
    axi_read_latency <= `PTO(knob)(0);
    axi_write_latency <= `PTO(knob)(1);
    stall_ar <= `PTO(knob)(2);
    stall_r <= `PTO(knob)(3);
    stall_aw <= `PTO(knob)(4);
    stall_w <= `PTO(knob)(5);
    stall_b <= `PTO(knob)(6);
    local_read_latency <= `PTO(knob)(7);
    stall_src_gnt <= `PTO(knob)(8);
    stall_dst_gnt <= `PTO(knob)(9);
    stall_done <= `PTO(knob)(10);
    seed <= `PTO(knob)(11);
    max_outstanding <= `PTO(knob)(12);
    w_after_aw <= `PTO(knob)(13);
    axi_read_jitter <= `PTO(knob)(15);
    axi_write_jitter <= `PTO(knob)(16);
    local_read_jitter <= `PTO(knob)(17);
    ready_after_valid <= `PTO(knob)(18);
  end
endmodule

`default_nettype wire
