// SPDX-License-Identifier: Apache-2.0
//
// Unit for loads from L1 to the memories of the matrix unit: mte_l1_l0a, mte_l1_l0b, fractals as
// they are or transposed, mte_l1_l0a_mx, mte_l1_l0b_mx, fragments of scales. Ports are those of an
// engine. Check -> rows -> local reads -> lines of 32 bytes -> ring of lines, where squares are
// transposed -> words; the check of the next op overlaps the data.
// Throughput: one line of 32 bytes in and one out per clock, transposed or not; a 128-bit port
// halves it, 512 bits give no more. The source streams without a bubble, also from op to op, for
// reply latencies up to ReadFifoDepth - 3 clocks and ops of 8 lines or more (NumActive).
// Latency: descriptor to src_req 5 clocks, reply to dst_req 4 clocks, last grant to done 1. In a
// transposed load a square must be complete: 63, 31, 15 or 7 lines more before the first dst_req,
// with elements of 4, 8, 16 or 32 bits, once in a stream of ops. A stream of n lines takes
// n + read latency + 9 clocks from the first descriptor to the last done, and these lines.
// A read or write error ends the op: no access is requested from that clock on, but a pending
// request waits for its grant. Destinations are not compared (LD-L07): a later line wins.
// Limits: width 128, 256 or 512; GmAddrWidth 40; LocalAddrWidth 20. Spec: CONTRACT, l0_loads.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________     desc_ready 1
//   src_req     _____________________/~~~     until src_gnt
`default_nettype none
`include "pto_desc.vh"

module pto_l0_load #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address, here only of reports
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus, not used
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight, not used
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = 64      // source words in flight, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer WordBytes  = LocalDataWidth / 8;
  localparam integer IdWidth    = $clog2(NumActive);
  localparam integer BlockWidth = LocalAddrWidth - 5;
  localparam integer LenWidth   = 17;        // bits of the bytes of a source row

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth != 20 || DescWidth != `PTO_DESC_BITS
        || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
  endgenerate

  // ---- descriptors. In reset no handshake may be seen: ready comes up with the first clock ----
  reg                  up_q;
  wire                 queue_ready, queue_valid, queue_take;
  wire [DescWidth-1:0] queue_desc;
  wire [TagWidth-1:0]  queue_tag;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) up_q <= 1'b0;
    else up_q <= 1'b1;
  end
  assign desc_ready_o = up_q && queue_ready;

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
  wire                  job_valid, job_ready, job_idle, job_bad, job_turn;
  wire [TagWidth-1:0]   job_tag;
  wire [7:0]            job_rule, job_rows, job_outer;
  wire [1:0]            job_unit;
  wire [BlockWidth-1:0] job_src, job_src_pitch, job_dst, job_dst_pitch;
  wire [11:0]           job_row, job_run;
  wire [8:0]            job_mid;

  pto_l0_check #(
    .L1Size     (L1Size),
    .BlockWidth (BlockWidth),
    .DescWidth  (DescWidth),
    .TagWidth   (TagWidth)
  ) u_check (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .desc_valid_i    (queue_valid),
    .desc_ready_o    (queue_take),
    .desc_i          (queue_desc),
    .desc_tag_i      (queue_tag),
    .job_valid_o     (job_valid),
    .job_ready_i     (job_ready),
    .job_tag_o       (job_tag),
    .job_idle_o      (job_idle),
    .job_bad_o       (job_bad),
    .job_rule_o      (job_rule),
    .job_turn_o      (job_turn),
    .job_unit_o      (job_unit),
    .job_src_o       (job_src),
    .job_src_pitch_o (job_src_pitch),
    .job_row_o       (job_row),
    .job_rows_o      (job_rows),
    .job_dst_o       (job_dst),
    .job_dst_pitch_o (job_dst_pitch),
    .job_run_o       (job_run),
    .job_mid_o       (job_mid),
    .job_outer_o     (job_outer)
  );

  // ---- a checked op takes a number; with rows it goes to reads, lines and destinations at once --
  wire                      new_ready, rows_ready, lines_ready, place_ready, active;
  wire [IdWidth-1:0]        new_id, fin_id, rd_err_id;
  wire [NumActive-1:0]      err;
  wire                      rd_err_valid, wr_err_valid, fin_valid;
  wire [LocalAddrWidth-1:0] rd_err_addr;

  wire   all_ready = rows_ready && lines_ready && place_ready;
  wire   job_start = job_valid && !job_idle && new_ready && all_ready;
  assign job_ready = new_ready && (job_idle || all_ready);
  assign busy_o    = queue_valid || job_valid || active;

  pto_dma_retire #(
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .TagWidth    (TagWidth),
    .GmAddrWidth (GmAddrWidth)
  ) u_retire (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .new_valid_i    (job_valid && (job_idle || all_ready)),
    .new_ready_o    (new_ready),
    .new_id_o       (new_id),
    .new_tag_i      (job_tag),
    .new_idle_i     (job_idle),
    .new_bad_i      (job_bad),
    .new_rule_i     (job_rule),
    .err_a_valid_i  (rd_err_valid),
    .err_a_id_i     (rd_err_id),
    .err_a_status_i (`PTO_ST_LOCAL),
    .err_a_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, rd_err_addr}),
    .err_b_valid_i  (wr_err_valid),
    .err_b_id_i     (fin_id),
    .err_b_status_i (`PTO_ST_LOCAL),
    .err_b_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, dst_addr_o}),
    .err_c_valid_i  (1'b0),
    .err_c_id_i     ({IdWidth{1'b0}}),
    .err_c_status_i (3'd0),
    .err_c_addr_i   ({GmAddrWidth{1'b0}}),
    .err_o          (err),
    .fin_valid_i    (fin_valid),
    .fin_id_i       (fin_id),
    .busy_o         (active),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o)
  );

  // An error takes effect in its own clock, so that no access is requested after it.
  localparam [NumActive-1:0] ONE = {{(NumActive - 1){1'b0}}, 1'b1};
  wire [NumActive-1:0] err_now = err | (rd_err_valid ? ONE << rd_err_id : {NumActive{1'b0}})
                                     | (wr_err_valid ? ONE << fin_id : {NumActive{1'b0}});

  // ---- reads ----
  wire                      row_valid, row_ready, beat_valid, beat_ready;
  wire [IdWidth-1:0]        row_id, read_id;
  wire [BlockWidth-1:0]     row_block;
  wire [11:0]               row_len;
  wire [LocalDataWidth-1:0] beat;

  pto_l0_rows #(
    .BlockWidth (BlockWidth),
    .IdWidth    (IdWidth)
  ) u_rows (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .job_valid_i (job_start),
    .job_ready_o (rows_ready),
    .job_id_i    (new_id),
    .job_src_i   (job_src),
    .job_pitch_i (job_src_pitch),
    .job_row_i   (job_row),
    .job_rows_i  (job_rows),
    .row_valid_o (row_valid),
    .row_ready_i (row_ready),
    .row_id_o    (row_id),
    .row_block_o (row_block),
    .row_len_o   (row_len)
  );

  pto_local_read #(
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth),
    .LenWidth       (LenWidth)
  ) u_read (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_id_i     (row_id),
    .row_space_i  (`PTO_SPACE_L1),
    .row_addr_i   ({row_block, 5'd0}),
    .row_len_i    ({row_len, 5'd0}),
    .cur_id_o     (read_id),
    .drop_i       (err_now[read_id]),
    .src_req_o    (src_req_o),
    .src_gnt_i    (src_gnt_i),
    .src_space_o  (src_space_o),
    .src_addr_o   (src_addr_o),
    .src_rvalid_i (src_rvalid_i),
    .src_rdata_i  (src_rdata_i),
    .src_err_i    (src_err_i),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_valid_o  (rd_err_valid),
    .err_id_o     (rd_err_id),
    .err_addr_o   (rd_err_addr)
  );

  // ---- lines ----
  wire         line_valid, line_ready, line_turn;
  wire [1:0]   line_unit;
  wire [5:0]   line_index;
  wire [255:0] line;

  pto_l0_lines #(
    .WordBytes (WordBytes),
    .NumJobs   (NumActive)
  ) u_lines (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .job_valid_i  (job_start),
    .job_ready_o  (lines_ready),
    .job_turn_i   (job_turn),
    .job_unit_i   (job_unit),
    .job_odd_i    (job_src[0]),
    .job_pitch_i  (job_src_pitch[0]),
    .job_row_i    (job_row),
    .job_rows_i   (job_rows),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_turn_o  (line_turn),
    .line_unit_o  (line_unit),
    .line_index_o (line_index),
    .line_o       (line)
  );

  // ---- destinations ----
  wire                  at_valid, at_ready, at_turn, at_end, at_fin;
  wire [IdWidth-1:0]    at_id;
  wire [1:0]            at_unit;
  wire [5:0]            at_index;
  wire [BlockWidth-1:0] at_block;

  pto_l0_place #(
    .BlockWidth (BlockWidth),
    .NumJobs    (NumActive),
    .IdWidth    (IdWidth)
  ) u_place (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .job_valid_i (job_start),
    .job_ready_o (place_ready),
    .job_id_i    (new_id),
    .job_turn_i  (job_turn),
    .job_unit_i  (job_unit),
    .job_dst_i   (job_dst),
    .job_pitch_i (job_dst_pitch),
    .job_run_i   (job_run),
    .job_mid_i   (job_mid),
    .job_outer_i (job_outer),
    .at_valid_o  (at_valid),
    .at_ready_i  (at_ready),
    .at_id_o     (at_id),
    .at_turn_o   (at_turn),
    .at_unit_o   (at_unit),
    .at_index_o  (at_index),
    .at_end_o    (at_end),
    .at_fin_o    (at_fin),
    .at_block_o  (at_block)
  );

  // ---- transpose ----
  wire                  out_valid, out_ready, out_fin;
  wire [IdWidth-1:0]    out_id;
  wire [BlockWidth-1:0] out_block;
  wire [255:0]          out_line;

  pto_l0_tile #(
    .BlockWidth (BlockWidth),
    .IdWidth    (IdWidth)
  ) u_tile (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .line_valid_i (line_valid),
    .line_ready_o (line_ready),
    .line_turn_i  (line_turn),
    .line_unit_i  (line_unit),
    .line_index_i (line_index),
    .line_i       (line),
    .at_valid_i   (at_valid),
    .at_ready_o   (at_ready),
    .at_id_i      (at_id),
    .at_turn_i    (at_turn),
    .at_unit_i    (at_unit),
    .at_index_i   (at_index),
    .at_end_i     (at_end),
    .at_fin_i     (at_fin),
    .at_block_i   (at_block),
    .out_valid_o  (out_valid),
    .out_ready_i  (out_ready),
    .out_id_o     (out_id),
    .out_fin_o    (out_fin),
    .out_block_o  (out_block),
    .out_o        (out_line)
  );

  // ---- writes ----
  pto_l0_write #(
    .WordBytes (WordBytes),
    .AddrWidth (LocalAddrWidth),
    .NumActive (NumActive),
    .IdWidth   (IdWidth)
  ) u_write (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .err_i        (err_now),
    .line_valid_i (out_valid),
    .line_ready_o (out_ready),
    .line_id_i    (out_id),
    .line_fin_i   (out_fin),
    .line_block_i (out_block),
    .line_i       (out_line),
    .dst_req_o    (dst_req_o),
    .dst_gnt_i    (dst_gnt_i),
    .dst_addr_o   (dst_addr_o),
    .dst_be_o     (dst_be_o),
    .dst_wdata_o  (dst_wdata_o),
    .out_id_o     (fin_id),
    .fin_valid_o  (fin_valid)
  );
  assign dst_space_o  = `PTO_SPACE_L0;
  assign wr_err_valid = dst_req_o && dst_gnt_i && dst_err_i;

  `include "pto_no_gm.vh"
endmodule

`default_nettype wire
