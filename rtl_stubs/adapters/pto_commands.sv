// SPDX-License-Identifier: Apache-2.0
//
// Adapter for a block that copies one row at a time: descriptors in, one-dimensional copies out;
// with Rows 1 for one that copies rows with strides. Queue, D rules, loops, first errors and dones
// in order are those of the reference engines. The block answers each command, in order, when its
// last access has ended. An error at err_i is of the op of the oldest command without an answer;
// then failed_o is high until the last answer of the op, and its rows that are left are not issued.
// With Overlap 0 the commands of an op wait for the answers of the op before. Ops with padded rows
// are refused, with rule 0. Throughput: one command per clock. Latency: first command six clocks
// after the descriptor handshake, last answer to done one clock. Limits: GmAddrWidth 40,
// LocalAddrWidth <= 20; profile seed. Spec: docs/contract.md, dma.md 1 to 5, 9.
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
  parameter integer Overlap      = 1,        // 1: ops may follow each other without a gap
  parameter integer Rows         = 0         // 1: a command has all rows of an iteration of the loops
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
  output wire [19:0]               cmd_len_o,     // bytes of a row, at least 1
  output wire [20:0]               cmd_rows_o,    // rows less 1
  output wire [39:0]               cmd_ext_stride_o, // from row to row
  output wire [19:0]               cmd_loc_stride_o, // the same on chip
  output wire                      cmd_first_o,   // the first command of its op
  input  wire                      rsp_valid_i,   // the oldest command has ended
  input  wire [43*Errors-1:0]      err_i,         // per port: status of a failed access, address
  output wire                      failed_o,      // the op of the oldest command has failed
  output wire                      idle_o         // no command waits for its answer
);
  wire                       row_valid, row_ready;
  wire pto_row_t             row;
  wire [`PTO_NUM_ACTIVE-1:0] failed, failed_now_unused;
  wire                       open_valid, open_cut, open_last, queue_ready, cmd_free;
  wire [3:0]                 open_id;
  reg  [3:0]                 id_q;           // op of the newest command
  wire                       waits  = Overlap == 0 && open_valid && row.loc.id != id_q;
  wire                       issue  = row_valid && row_ready;
  wire                       pop    = open_valid && (open_cut || rsp_valid_i);

  reg [`PTO_ERR_BITS*Errors-1:0] err;
  integer                        i;
  always @* begin
    for (i = 0; i < Errors; i = i + 1)
      err[`PTO_ERR_BITS*i +: `PTO_ERR_BITS] = {open_valid && err_i[43*i+40 +: 3] != 3'd0, open_id,
                                               err_i[43*i +: 43]};
  end

  // ---- the front of pto_dma_front. No opcode is 255: a padded op is refused ----
  `include "pto_front_wires.vh"
  wire pto_dma_job_t job;
  wire               padded = head[`PTO_DESC_OPCODE] == `PTO_OP_MTE_GM_UB && |head[`PTO_DMA_PAD_EN];

  pto_dma_check #(
    .Ops      (Ops),
    .UbSize   (UbSize),
    .L1Size   (L1Size),
    .TagWidth (TagWidth)
  ) u_check (
    .clk_i, .rst_ni,
    .desc_valid_i  (head_valid),
    .desc_ready_o  (head_ready),
    .desc_i        ({head[`PTO_DESC_BITS-1:8], head[7:0] | {8{padded}}}),
    .desc_tag_i    (head_tag),
    .busy_o        (check_busy),
    .job_valid_o   (job_valid),
    .job_ready_i   (job_ready),
    .job_tag_o     (job_tag),
    .job_verdict_o (verdict),
    .job_o         (job)
  );

  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth),
    .Errors     (Errors)
  ) u_front (
    `include "pto_front_pins.vh"
    .done_valid_o, .done_ready_i,
    .err_i       (err),
    .err_o       (failed),
    .err_now_o   (failed_now_unused),
    .fin_valid_i (pop && open_last),
    .fin_id_i    (open_id)
  );

  // ---- the loops; of an op with all rows in a command without the innermost one ----
  pto_dma_job_t walked;
  always @* begin
    walked = job;
    if (Rows != 0) walked.last[20:0] = 21'd0;
  end

  pto_dma_loops u_loops (
    .clk_i, .rst_ni,
    .job_valid_i (start_valid),
    .job_ready_o (start_ready),
    .job_id_i    (start_id),
    .job_i       (walked),
    .err_i       (failed),
    .row_valid_o (row_valid),
    .row_ready_i (row_ready),
    .row_o       (row)
  );

  reg [80:0] rows_q;                         // rows less 1 and strides of the op in the loops
  reg        first_q;
  always @(posedge clk_i) begin
    if (start_valid && start_ready) begin
      rows_q  <= (Rows != 0) ? {job.last[20:0], job.ext_stride[39:0], job.loc_stride[19:0]} : 81'd0;
      first_q <= 1'b1;
    end else if (issue) first_q <= 1'b0;
  end

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
    .rd_valid_o (open_valid),
    .rd_ready_i (pop),
    .rd_data_o  ({open_cut, open_last, open_id})
  );
  assign failed_o = open_valid && !open_cut && failed[open_id];
  assign idle_o   = !open_valid;

  // ---- commands do not change while they wait, even if their op fails ----
  pto_fifo #(
    .Width (168),
    .Depth (2)
  ) u_commands (
    .clk_i, .rst_ni,
    .wr_valid_i (issue && !row.loc.cut),
    .wr_ready_o (cmd_free),
    .wr_data_i  ({row.ext_addr, row.ext_space, row.loc.addr, row.loc.space, row.loc.len, rows_q,
                  first_q}),
    .rd_valid_o (cmd_valid_o),
    .rd_ready_i (cmd_ready_i),
    .rd_data_o  ({cmd_ext_o, cmd_ext_space_o, cmd_loc_o, cmd_space_o, cmd_len_o, cmd_rows_o,
                  cmd_ext_stride_o, cmd_loc_stride_o, cmd_first_o})
  );

  wire unused = &{1'b0, row, failed_now_unused};
endmodule

`default_nettype wire
