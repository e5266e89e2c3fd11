// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_row_bursts: bursts stay until they are taken, none crosses a 4 KiB page, and
// those of a row are its bus words, each once and in order. Rows have the lengths and addresses
// of the real part; only the pages are counted in few bits.
// Sources: common/pto_row_bursts.sv
// Variant: BusBytes=16
// Variant: BusBytes=64
// Bugs: split_at_8k:page page_carry_32_bit:address
`include "pto_records.vh"

module prove #(
  parameter integer BusBytes = 32
) (
  input wire         clk,
  input wire         row_valid,
  input pto_gm_row_t row,
  input wire         cmd_ready
);
  localparam integer Lane = $clog2(BusBytes);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire             row_ready, cmd_valid;
  wire pto_burst_t cmd;
  pto_row_bursts #(.BusBytes(BusBytes)) u_bursts (
    .clk_i(clk), .rst_ni(rst_n), .row_valid_i(row_valid), .row_ready_o(row_ready), .row_i(row),
    .cmd_valid_o(cmd_valid), .cmd_ready_i(cmd_ready), .cmd_o(cmd)
  );

  // Registers of the part, for the lemmas.
  (* hierconn *) wire        \u_bursts.final_q ;
  (* hierconn *) wire [23-4:0] \u_bursts.left_q ;

  // The row in work: the next word and the words left, by plain arithmetic.
  reg         active = 1'b0;
  reg         cut, last;
  reg  [3:0]  id;
  reg  [39:0] next;
  reg  [23:0] left;
  wire [23:0] span = {{(24 - Lane){1'b0}}, row.addr[Lane-1:0]} + {1'b0, row.len} + BusBytes - 1;
  wire        take = rst_n && row_valid && row_ready;
  wire        fire = rst_n && cmd_valid && cmd_ready;
  wire [12:0] past = {1'b0, cmd.addr[11:0]} + ({4'd0, cmd.beats} << Lane);

  always @(posedge clk) begin
    if (take) begin
      active <= 1'b1;
      cut    <= row.cut;
      last   <= row.last;
      id     <= row.id;
      next   <= {row.addr[39:Lane], {Lane{1'b0}}};
      left   <= row.cut ? 24'd0 : span >> Lane;
    end else if (fire && {15'd0, cmd.beats} == left) begin
      active <= 1'b0;
    end else if (fire) begin
      next <= next + ({31'd0, cmd.beats} << Lane);
      left <= left - {15'd0, cmd.beats};
    end
  end

  reg         held = 1'b0;                   // a burst was offered and not taken
  reg  [54:0] held_cmd;
  always @(posedge clk) begin
    held     <= rst_n && cmd_valid && !cmd_ready;
    held_cmd <= cmd;
  end

  always @* begin
    assume(!rst_n || row.cut || row.len != 23'd0);
    if (rst_n) begin
      lemma_rest: assert(!cmd_valid || \u_bursts.final_q || \u_bursts.left_q != 20'd0);
      lemma_span: assert(!cmd_valid || !active || left == {15'd0, cmd.beats}
                         + (\u_bursts.final_q ? 24'd0 : {4'd0, \u_bursts.left_q }));
      lemma_work: assert(cmd_valid == active);
      row_ready_exact: assert(row_ready == (!active || (cmd_ready && {15'd0, cmd.beats} == left)));
      offered: assert(cmd_valid == active);
      stable: assert(!held || (cmd_valid && cmd == held_cmd));
      address: assert(!cmd_valid || cmd.addr == next);
      enough: assert(!cmd_valid || {15'd0, cmd.beats} <= left);
      not_empty: assert(!cmd_valid || cut || cmd.beats != 9'd0);
      page: assert(!cmd_valid || past <= 13'd4096);
      whole: assert(!cmd_valid || {15'd0, cmd.beats} == left || past == 13'd4096);
      marks: assert(!cmd_valid || (cmd.cut == cut && cmd.id == id
                                   && cmd.last == (last && {15'd0, cmd.beats} == left)));
      reach_second_page: assert(!(fire && {15'd0, cmd.beats} < left));
      reach_cut: assert(!(fire && cmd.cut));
    end
  end
endmodule
