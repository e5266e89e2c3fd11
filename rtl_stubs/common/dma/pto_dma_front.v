// SPDX-License-Identifier: Apache-2.0
//
// Common front of the strided DMA units: descriptor queue, D-rule check, loops, and the report
// of finished ops. It serves any of mte_gm_ub, mte_ub_gm, mte_gm_l1, mte_l1_ub and raw_fill_l1,
// selected by the opcode; "ext" and "local" side are those of its op (table in pto_dma_check). The
// ext space is not reported: it is L1 for mte_l1_ub, else GM. The check of the next ops overlaps
// the rows of earlier ones, so rows of consecutive ops follow each other without a bubble.
// Throughput: one row per clock. Latency: first row five clocks after the descriptor handshake
// when the check needs one clock (see pto_dma_check). Spec: CONTRACT, dma.md sections 1 to 5, 9.
`default_nettype none
`include "pto_desc.vh"

module pto_dma_front #(
  parameter [255:0] Ops            = 256'h2, // bit k: opcode k is served, out of 1 to 4 and 17
  parameter integer LenBits        = 16,     // DMA-L05: 2^LenBits - 1 ends lengths and row counts
  parameter integer PadEndBlock    = 0,      // 1: pads end with a 32-byte block, not the stride
  parameter integer TailFill       = 0,      // 1: rows without pad fill their last 32-byte block
  parameter integer RowRepeatLegal = 0,      // 1: no DMA-L08 for the GM stride of a load
  parameter integer CompactLegal   = 0,      // 1: no DMA-L07 for rows without a gap
  parameter integer PadUnselectedRegister = 0,  // 1: legacy pad counts alone select padding
  parameter integer LegacyPadElements = 0,   // 1: legacy pad counts are elements
  parameter integer UbSize         = `PTO_SIZE_UB,  // bytes of one UB sub-block (DMA-L12)
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (DMA-L12, RF-L04)
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer QueueDepth     = 4,      // descriptors queued before the check
  parameter integer NumActive      = 16,     // ops in flight after the check
  parameter integer IdWidth        = 4       // bits of an op number, $clog2(NumActive)
) (
  input  wire                      clk_i,          // clock
  input  wire                      rst_ni,         // asynchronous reset, active low
  input  wire                      desc_valid_i,   // a descriptor is offered
  output wire                      desc_ready_o,   // it is taken
  input  wire [DescWidth-1:0]      desc_i,         // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,     // its tag
  output wire                      done_valid_o,   // the oldest op is done
  input  wire                      done_ready_i,   // the report is taken
  output wire [TagWidth-1:0]       done_tag_o,     // its tag
  output wire [2:0]                done_status_o,  // status code
  output wire [7:0]                done_rule_o,    // violated rule or 0
  output wire [GmAddrWidth-1:0]    done_addr_o,    // address of the first bad access or 0
  output wire                      busy_o,         // a descriptor was taken and is not done
  input  wire                      err_a_valid_i,  // an access failed
  input  wire [IdWidth-1:0]        err_a_id_i,     // of this op
  input  wire [2:0]                err_a_status_i, // status code
  input  wire [GmAddrWidth-1:0]    err_a_addr_i,   // address of the access
  input  wire                      err_b_valid_i,  // second port, as a
  input  wire [IdWidth-1:0]        err_b_id_i,     // op
  input  wire [2:0]                err_b_status_i, // status code
  input  wire [GmAddrWidth-1:0]    err_b_addr_i,   // address of the access
  input  wire                      err_c_valid_i,  // third port, as a
  input  wire [IdWidth-1:0]        err_c_id_i,     // op
  input  wire [2:0]                err_c_status_i, // status code
  input  wire [GmAddrWidth-1:0]    err_c_addr_i,   // address of the access
  output wire [NumActive-1:0]      err_o,          // per op: an access failed
  output wire [3*NumActive-1:0]    atomic_type_o,  // per op: type of its atomic update, 0: none
  output wire [2*NumActive-1:0]    atomic_op_o,    // per op: 0 add, 1 max, 2 min
  output wire [NumActive-1:0]      nosat_o,        // per op: no saturation of an f16 update
  input  wire                      fin_valid_i,    // the last access of an op has finished
  input  wire [IdWidth-1:0]        fin_id_i,       // of this op
  output wire                      row_valid_o,    // a row is there
  input  wire                      row_ready_i,    // it is taken
  output wire                      row_end_o,      // no row: the op ends here, cut short
  output wire                      row_last_o,     // last record of the op
  output wire [IdWidth-1:0]        row_id_o,       // op number
  output wire [GmAddrWidth-1:0]    row_ext_addr_o, // ext address of the row: GM, or L1
  output wire [LocalAddrWidth-1:0] row_loc_addr_o, // local address of the row: UB, or L1
  output wire [2:0]                row_space_o,    // local space
  output wire [19:0]               row_len_o,      // data bytes, 0: a row of pattern
  output wire [5:0]                row_left_o,     // pad bytes before the data
  output wire [LocalAddrWidth:0]   row_foot_o,     // local bytes, pad and fill included
  output wire [31:0]               row_pattern_o,  // pad pattern
  output wire                      row_fill_o,     // the first element fills in its place
  output wire [1:0]                row_elem_o      // log2 of the bytes of an element
);
  // ---- queue ----
  // In reset no handshake may be seen, so ready comes up with the first clock.
  reg  up_q;
  wire queue_ready;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end
  assign desc_ready_o = up_q && queue_ready;

  wire                 queue_valid, queue_take;
  wire [DescWidth-1:0] queue_desc;
  wire [TagWidth-1:0]  queue_tag;

  pto_fifo #(
    .Width(DescWidth + TagWidth),
    .Depth(QueueDepth)
  ) u_queue (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (desc_valid_i && up_q),
    .wr_ready_o (queue_ready),
    .wr_data_i  ({desc_tag_i, desc_i}),
    .rd_valid_o (queue_valid),
    .rd_ready_i (queue_take),
    .rd_data_o  ({queue_tag, queue_desc})
  );

  // ---- check ----
  wire                        check_busy, job_valid, job_ready, job_idle, job_bad;
  wire [TagWidth-1:0]         job_tag;
  wire [7:0]                  job_rule;
  wire [GmAddrWidth-1:0]      job_ext_addr;
  wire [LocalAddrWidth-1:0]   job_loc_addr;
  wire [2:0]                  job_space;
  wire [19:0]                 job_len;
  wire [5:0]                  job_left;
  wire [LocalAddrWidth:0]     job_foot;
  wire [4:0]                  job_more;
  wire [31:0]                 job_pattern;
  wire                        job_fill;
  wire [1:0]                  job_elem;
  wire [83:0]                 job_last;
  wire [4*GmAddrWidth-1:0]    job_ext_stride;
  wire [4*LocalAddrWidth-1:0] job_loc_stride;
  wire [2:0]                  job_type;
  wire [1:0]                  job_op;
  wire                        job_nosat;

  pto_dma_check #(
    .Ops            (Ops),
    .LenBits        (LenBits),
    .PadEndBlock    (PadEndBlock),
    .TailFill       (TailFill),
    .RowRepeatLegal (RowRepeatLegal),
    .CompactLegal   (CompactLegal),
    .PadUnselectedRegister (PadUnselectedRegister),
    .LegacyPadElements     (LegacyPadElements),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .DescWidth      (DescWidth),
    .TagWidth       (TagWidth)
  ) u_check (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .desc_valid_i     (queue_valid),
    .desc_ready_o     (queue_take),
    .desc_i           (queue_desc),
    .desc_tag_i       (queue_tag),
    .busy_o           (check_busy),
    .job_valid_o      (job_valid),
    .job_ready_i      (job_ready),
    .job_tag_o        (job_tag),
    .job_idle_o       (job_idle),
    .job_bad_o        (job_bad),
    .job_rule_o       (job_rule),
    .job_ext_addr_o   (job_ext_addr),
    .job_loc_addr_o   (job_loc_addr),
    .job_space_o      (job_space),
    .job_len_o        (job_len),
    .job_left_o       (job_left),
    .job_foot_o       (job_foot),
    .job_more_o       (job_more),
    .job_pattern_o    (job_pattern),
    .job_fill_o       (job_fill),
    .job_elem_o       (job_elem),
    .job_last_o       (job_last),
    .job_ext_stride_o (job_ext_stride),
    .job_loc_stride_o (job_loc_stride),
    .job_type_o       (job_type),
    .job_op_o         (job_op),
    .job_nosat_o      (job_nosat)
  );

  // ---- a checked op takes a number; with rows it also takes the loop walker ----
  wire               new_ready, loops_ready, active;
  wire [IdWidth-1:0] new_id;
  assign job_ready = new_ready && (job_idle || loops_ready);

  reg [3*NumActive-1:0] atomic_type_q;
  reg [2*NumActive-1:0] atomic_op_q;
  reg [NumActive-1:0]   nosat_q;
  always @(posedge clk_i) begin
    if (job_valid && job_ready) begin
      atomic_type_q[3*new_id +: 3] <= job_type;
      atomic_op_q[2*new_id +: 2]   <= job_op;
      nosat_q[new_id]              <= job_nosat;
    end
  end
  assign atomic_type_o = atomic_type_q;
  assign atomic_op_o   = atomic_op_q;
  assign nosat_o       = nosat_q;

  pto_dma_retire #(
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .TagWidth    (TagWidth),
    .GmAddrWidth (GmAddrWidth)
  ) u_retire (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .new_valid_i    (job_valid && (job_idle || loops_ready)),
    .new_ready_o    (new_ready),
    .new_id_o       (new_id),
    .new_tag_i      (job_tag),
    .new_idle_i     (job_idle),
    .new_bad_i      (job_bad),
    .new_rule_i     (job_rule),
    .err_a_valid_i  (err_a_valid_i),
    .err_a_id_i     (err_a_id_i),
    .err_a_status_i (err_a_status_i),
    .err_a_addr_i   (err_a_addr_i),
    .err_b_valid_i  (err_b_valid_i),
    .err_b_id_i     (err_b_id_i),
    .err_b_status_i (err_b_status_i),
    .err_b_addr_i   (err_b_addr_i),
    .err_c_valid_i  (err_c_valid_i),
    .err_c_id_i     (err_c_id_i),
    .err_c_status_i (err_c_status_i),
    .err_c_addr_i   (err_c_addr_i),
    .err_o          (err_o),
    .fin_valid_i    (fin_valid_i),
    .fin_id_i       (fin_id_i),
    .busy_o         (active),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o)
  );
  assign busy_o = queue_valid || check_busy || active;

  pto_dma_loops #(
    .LocalAddrWidth (LocalAddrWidth),
    .GmAddrWidth    (GmAddrWidth),
    .IdWidth        (IdWidth)
  ) u_loops (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .job_valid_i      (job_valid && !job_idle && new_ready),
    .job_ready_o      (loops_ready),
    .job_id_i         (new_id),
    .job_ext_addr_i   (job_ext_addr),
    .job_loc_addr_i   (job_loc_addr),
    .job_space_i      (job_space),
    .job_len_i        (job_len),
    .job_left_i       (job_left),
    .job_foot_i       (job_foot),
    .job_more_i       (job_more),
    .job_pattern_i    (job_pattern),
    .job_fill_i       (job_fill),
    .job_elem_i       (job_elem),
    .job_last_i       (job_last),
    .job_ext_stride_i (job_ext_stride),
    .job_loc_stride_i (job_loc_stride),
    .abort_i          (err_o[row_id_o]),
    .row_valid_o      (row_valid_o),
    .row_ready_i      (row_ready_i),
    .row_end_o        (row_end_o),
    .row_last_o       (row_last_o),
    .row_id_o         (row_id_o),
    .row_ext_addr_o   (row_ext_addr_o),
    .row_loc_addr_o   (row_loc_addr_o),
    .row_space_o      (row_space_o),
    .row_len_o        (row_len_o),
    .row_left_o       (row_left_o),
    .row_foot_o       (row_foot_o),
    .row_pattern_o    (row_pattern_o),
    .row_fill_o       (row_fill_o),
    .row_elem_o       (row_elem_o)
  );
endmodule

`default_nettype wire
