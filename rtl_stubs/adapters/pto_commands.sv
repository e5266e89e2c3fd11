// SPDX-License-Identifier: Apache-2.0
//
// Adapter for a block that copies one row at a time: descriptors in, one-dimensional copies out.
// Queue, D rules, loops, first errors and dones in order are those of the reference engines
// (pto_dma_front). The block answers each command, in order, when its last access has ended. An
// error at err_i is of the op of the oldest command without an answer; then failed_o is high until
// the last answer of the op, and its rows that are left are not issued. With Overlap 0 the commands
// of an op wait for the answers of the op before. Ops with padded rows are refused, with rule 0.
// Throughput: one command per clock. Latency: first command six clocks after the descriptor
// handshake, last answer to done one clock. Limits: GmAddrWidth 40, LocalAddrWidth <= 20; profiles
// with tail = fill need more than copies. Spec: CONTRACT, dma.md 1 to 5, 9.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   cmd_valid  _/~~~~~~~\___________      stays, with its operands, until cmd_ready
//   cmd_ready  _____/~~~\___________
//   rsp_valid  _____________/~~~\___      one clock for each command
`default_nettype none
`include "pto_records.vh"

module pto_commands #(
  parameter [255:0] Ops          = 256'h2,   // bit k: opcode k is served
  parameter integer UbSize       = `PTO_SIZE_UB,  // bytes of one UB sub-block
  parameter integer L1Size       = `PTO_SIZE_L1,  // bytes of L1
  parameter integer TagWidth     = 8,        // bits of a tag
  parameter integer QueueDepth   = 4,        // descriptors queued before the check, a power of two
  parameter integer Commands     = 16,       // most commands without an answer, a power of two
  parameter integer Errors       = 1,        // ports of errors
  parameter integer Overlap      = 1         // 1: ops may follow each other without a gap
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is offered
  output wire                      desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      busy_o,        // a descriptor was taken and is not done
  output wire                      done_valid_o,  // the oldest op is done
  input  wire                      done_ready_i,  // the report is taken
  output wire [TagWidth-1:0]       done_tag_o,    // its tag
  output wire [2:0]                done_status_o, // status code
  output wire [7:0]                done_rule_o,   // violated rule or 0
  output wire [39:0]               done_addr_o,   // address of the first bad access or 0
  output wire                      cmd_valid_o,   // a row is to be copied
  input  wire                      cmd_ready_i,   // the command is taken
  output wire [39:0]               cmd_ext_o,     // byte address in GM, or of the source on chip
  output wire [2:0]                cmd_ext_space_o, // memory of the source of an op on chip
  output wire [19:0]               cmd_loc_o,     // byte address on chip
  output wire [2:0]                cmd_space_o,   // memory
  output wire [19:0]               cmd_len_o,     // bytes, at least 1
  input  wire                      rsp_valid_i,   // the oldest command has ended
  input  wire [43*Errors-1:0]      err_i,         // per port: status of a failed access, address
  output wire                      failed_o,      // the op of the oldest command has failed
  output wire                      idle_o         // no command waits for its answer
);
  wire                       row_valid, row_ready;
  wire pto_row_t             row;
  wire [`PTO_NUM_ACTIVE-1:0] failed, failed_now_unused;
  wire                       head_valid, head_cut, head_last, queue_ready, cmd_free;
  wire [3:0]                 head_id;
  reg  [3:0]                 id_q;           // op of the newest command
  wire                       waits  = Overlap == 0 && head_valid && row.loc.id != id_q;
  wire                       issue  = row_valid && row_ready;
  wire                       pop    = head_valid && (head_cut || rsp_valid_i);

  // No opcode is 255: the op is refused.
  wire refused = desc_i[`PTO_DESC_OPCODE] == `PTO_OP_MTE_GM_UB && |desc_i[`PTO_DMA_PAD_EN];

  reg [`PTO_ERR_BITS*Errors-1:0] err;
  integer                        i;
  always @* begin
    for (i = 0; i < Errors; i = i + 1)
      err[`PTO_ERR_BITS*i +: `PTO_ERR_BITS] = {head_valid && err_i[43*i+40 +: 3] != 3'd0, head_id,
                                               err_i[43*i +: 43]};
  end

  pto_dma_front #(
    .Ops        (Ops),
    .UbSize     (UbSize),
    .L1Size     (L1Size),
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth),
    .Errors     (Errors)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_tag_i, .busy_o,
    .desc_i      ({desc_i[`PTO_DESC_BITS-1:8], desc_i[7:0] | {8{refused}}}),
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_i       (err),
    .err_o       (failed),
    .err_now_o   (failed_now_unused),
    .fin_valid_i (pop && head_last),
    .fin_id_i    (head_id),
    .row_valid_o (row_valid),
    .row_ready_i (row_ready),
    .row_o       (row)
  );
  assign row_ready = queue_ready && (row.loc.cut || cmd_free) && !waits;

  always @(posedge clk_i) begin
    if (issue) id_q <= row.loc.id;
  end

  // ---- what waits for answers; an op that was cut short ends here, without a command ----
  pto_fifo #(
    .Width (6),
    .Depth (Commands)
  ) u_open (
    .clk_i, .rst_ni,
    .wr_valid_i (issue),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({row.loc.cut, row.loc.last, row.loc.id}),
    .rd_valid_o (head_valid),
    .rd_ready_i (pop),
    .rd_data_o  ({head_cut, head_last, head_id})
  );
  assign failed_o = head_valid && failed[head_id];
  assign idle_o   = !head_valid;

  // ---- commands do not change while they wait, even if their op fails ----
  pto_fifo #(
    .Width (86),
    .Depth (2)
  ) u_commands (
    .clk_i, .rst_ni,
    .wr_valid_i (issue && !row.loc.cut),
    .wr_ready_o (cmd_free),
    .wr_data_i  ({row.ext_addr, row.ext_space, row.loc.addr, row.loc.space, row.loc.len}),
    .rd_valid_o (cmd_valid_o),
    .rd_ready_i (cmd_ready_i),
    .rd_data_o  ({cmd_ext_o, cmd_ext_space_o, cmd_loc_o, cmd_space_o, cmd_len_o})
  );

  wire unused = &{1'b0, row, failed_now_unused};
endmodule

`default_nettype wire
