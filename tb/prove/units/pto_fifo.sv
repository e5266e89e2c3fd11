// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_fifo: no word is lost, changed or overtaken, and the flags are exact. Any one
// word is marked when it is written, and followed by the number of words before it.
// Sources: common/pto_fifo.sv common/pto_ram.sv
// Variant: Ram=0
// Variant: Ram=1
// Bugs: queue_bypass_missing:value_kept queues_hold_one_too_many:ready_exact
module prove #(
  parameter integer Ram = 0
) (
  input wire       clk,
  input wire       wr_valid,
  input wire [1:0] wr_data,
  input wire       rd_ready,
  input wire       mark                      // mark the word that is written
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire       wr_ready, rd_valid;
  wire [1:0] rd_data;
  pto_fifo #(.Width(2), .Depth(4), .Ram(Ram)) u_fifo (
    .clk_i(clk), .rst_ni(rst_n), .wr_valid_i(wr_valid), .wr_ready_o(wr_ready),
    .wr_data_i(wr_data), .rd_valid_o(rd_valid), .rd_ready_i(rd_ready), .rd_data_o(rd_data)
  );

  reg [2:0] count = 3'd0;                    // words in the queue
  reg       marked = 1'b0;
  reg [2:0] before;                          // words before the marked one
  reg [1:0] value;                           // its value
  wire push = rst_n && wr_valid && wr_ready;
  wire pop  = rst_n && rd_valid && rd_ready;

  always @(posedge clk) begin
    count <= count + {2'd0, push} - {2'd0, pop};
    if (!marked && push && mark) begin
      marked <= 1'b1;
      before <= count - {2'd0, pop};
      value  <= wr_data;
    end else if (marked && pop) begin
      if (before == 3'd0) marked <= 1'b0;
      else before <= before - 3'd1;
    end
  end

  always @* if (rst_n) begin
    value_kept: assert(!(marked && before == 3'd0) || (rd_valid && rd_data == value));
    order_kept: assert(!marked || before < count);
    valid_exact: assert(rd_valid == (count != 3'd0));
    ready_exact: assert(wr_ready == (count != 3'd4));
    reach_full: assert(count != 3'd4);
    reach_marked_leaves: assert(!(marked && before == 3'd0 && pop));
  end
endmodule
