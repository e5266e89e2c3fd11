// SPDX-License-Identifier: Apache-2.0
//
// NZ load unit of MTE2: mte_gm_l1_frac, matrices from GM (AXI4 reads) to NZ fractals in L1.
// Check -> reads -> lines of 32 bytes -> L1 blocks (nd2nz) or transpose tiles -> L1 blocks (dn2nz).
// Rates at 256 bits, in blocks of 32 bytes per clock, are the least of
//   1         write, read beat or line per clock; a 128-bit side halves it, 512 bits give no more.
//             Rows or tile rows that are not bus aligned cost one beat more each
//   n*E/32    dn2nz rows shorter than a line: one source row per clock (N4 f16: 0.25)
//   NumOutstanding * beats / (latency + 1)   one burst per row, in dn2nz per 128 elements of it;
//             rows less than a bus word apart are merged (dn2nz: rows of up to 128 elements)
//   clocks, 16 bursts in flight         latency 1     40    100      from descriptor to last grant
//   nd2nz 64 x 512 f16, dense or not       0.995  0.977  0.949      (without the fill: 1.000)
//   dn2nz N 64 D 512, dense / apart        0.964  0.947  0.921 / 0.59
//   dn2nz N 512 D 64                       0.936  0.919  0.895
//   dn2nz N 16 D 256, dense / apart        0.901  0.793  0.668 / 0.15
//   small-C0 nd2nz N 4096 D 3, no gaps     0.990  0.954  0.904      else one row per clock
//   small-C0 dn2nz N 4096 D 4              0.880  0.852  0.811
// dn2nz has its first block after a whole tile (up to 128 lines); later tiles and ops overlap.
// Latency: descriptor to arvalid 7 clocks, R beat to dst_req 3, last grant to done 1.
// Buffering: ReadFifoDepth beats, 8 KiB of tiles (pto_nz_tile). Limits: widths 128, 256 or 512;
// GmAddrWidth 40. Spec: CONTRACT, nd2nz.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________________________     desc_ready 1
//   arvalid     _____________________________/~~~     until arready
`default_nettype none
`include "pto_desc.vh"

module pto_nz_load #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of an on-chip word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer TagWidth       = 8,      // bits of a tag
  parameter integer NumOutstanding = 16,     // AXI bursts in flight
  parameter integer AxiIdWidth     = 4,      // bits of the AXI ids, which are 0
  parameter integer L1Size         = `PTO_SIZE_L1,  // bytes of L1 (ND-L08)
  parameter integer QueueDepth     = 4,      // descriptors queued before the check, a power of two
  parameter integer NumActive      = 16,     // ops in flight after the check, a power of two
  parameter integer ReadFifoDepth  = (GmDataWidth == 128) ? 512 : 256  // beats, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes    = GmDataWidth / 8;
  localparam integer GmLane     = $clog2(GmBytes);
  localparam integer IdWidth    = $clog2(NumActive);
  localparam integer BlockWidth = LocalAddrWidth - 5;
  localparam integer TileLog2   = 7;
  localparam integer BeatCount  = $clog2(ReadFifoDepth) + 1;

  // Parameters out of range name a module that does not exist, in every tool an error.
  generate
    if (GmDataWidth != 128 && GmDataWidth != 256 && GmDataWidth != 512) begin : gen_bad_gm
      pto_error_gm_data_width_must_be_128_256_512 u_error ();
    end
    if (LocalDataWidth != 128 && LocalDataWidth != 256 && LocalDataWidth != 512) begin : gen_bad_loc
      pto_error_local_data_width_must_be_128_256_512 u_error ();
    end
    if (GmAddrWidth != `PTO_GM_ADDR_BITS || LocalAddrWidth > 20 || DescWidth != `PTO_DESC_BITS
        || L1Size > (1 << LocalAddrWidth)) begin : gen_bad_addr
      pto_error_address_or_descriptor_width u_error ();
    end
    if (ReadFifoDepth * GmBytes < 4096) begin : gen_bad_fifo
      pto_error_read_fifo_must_hold_4096_bytes u_error ();
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
  wire                   check_busy, job_valid, job_ready, job_idle, job_bad, job_tiled,
                         job_small, job_dense, job_pack;
  wire [TagWidth-1:0]    job_tag;
  wire [7:0]             job_rule;
  wire [1:0]             job_elem;
  wire [2:0]             job_chans;
  wire [5:0]             job_tail;
  wire [17:0]            job_row;
  wire [15:0]            job_rows;
  wire [22:0]            job_span;
  wire [11:0]            job_groups;
  wire [GmAddrWidth-1:0] job_src, job_inner, job_outer;
  wire [BlockWidth-1:0]  job_dst, job_loop2, job_loop3, job_loop4;

  pto_nz_check #(
    .GmBytes     (GmBytes),
    .L1Size      (L1Size),
    .BlockWidth  (BlockWidth),
    .GmAddrWidth (GmAddrWidth),
    .DescWidth   (DescWidth),
    .TagWidth    (TagWidth),
    .TileLog2    (TileLog2)
  ) u_check (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .desc_valid_i (queue_valid),
    .desc_ready_o (queue_take),
    .desc_i       (queue_desc),
    .desc_tag_i   (queue_tag),
    .busy_o       (check_busy),
    .job_valid_o  (job_valid),
    .job_ready_i  (job_ready),
    .job_tag_o    (job_tag),
    .job_idle_o   (job_idle),
    .job_bad_o    (job_bad),
    .job_rule_o   (job_rule),
    .job_tiled_o  (job_tiled),
    .job_small_o  (job_small),
    .job_elem_o   (job_elem),
    .job_dense_o  (job_dense),
    .job_pack_o   (job_pack),
    .job_chans_o  (job_chans),
    .job_tail_o   (job_tail),
    .job_row_o    (job_row),
    .job_rows_o   (job_rows),
    .job_span_o   (job_span),
    .job_groups_o (job_groups),
    .job_src_o    (job_src),
    .job_inner_o  (job_inner),
    .job_outer_o  (job_outer),
    .job_dst_o    (job_dst),
    .job_loop2_o  (job_loop2),
    .job_loop3_o  (job_loop3),
    .job_loop4_o  (job_loop4)
  );

  // ---- a checked op takes a number; with rows it also takes both walkers ----
  wire                   new_ready, read_ready, rows_ready, active;
  wire [IdWidth-1:0]     new_id, out_id;
  wire [NumActive-1:0]   err;
  wire                   rd_err_valid, fin_valid;
  wire [IdWidth-1:0]     rd_err_id;
  wire [2:0]             rd_err_status;
  wire [GmAddrWidth-1:0] rd_err_addr;

  assign job_ready = new_ready && (job_idle || (read_ready && rows_ready));
  wire   job_start = job_valid && !job_idle && new_ready;
  assign busy_o    = queue_valid || check_busy || active;

  pto_dma_retire #(
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .TagWidth    (TagWidth),
    .GmAddrWidth (GmAddrWidth)
  ) u_retire (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .new_valid_i    (job_valid && (job_idle || (read_ready && rows_ready))),
    .new_ready_o    (new_ready),
    .new_id_o       (new_id),
    .new_tag_i      (job_tag),
    .new_idle_i     (job_idle),
    .new_bad_i      (job_bad),
    .new_rule_i     (job_rule),
    .err_a_valid_i  (rd_err_valid),
    .err_a_id_i     (rd_err_id),
    .err_a_status_i (rd_err_status),
    .err_a_addr_i   (rd_err_addr),
    .err_b_valid_i  (dst_req_o && dst_gnt_i && dst_err_i),
    .err_b_id_i     (out_id),
    .err_b_status_i (`PTO_ST_LOCAL),
    .err_b_addr_i   ({{(GmAddrWidth - LocalAddrWidth){1'b0}}, dst_addr_o}),
    .err_c_valid_i  (1'b0),
    .err_c_id_i     ({IdWidth{1'b0}}),
    .err_c_status_i (3'd0),
    .err_c_addr_i   ({GmAddrWidth{1'b0}}),
    .err_o          (err),
    .fin_valid_i    (fin_valid),
    .fin_id_i       (out_id),
    .busy_o         (active),
    .done_valid_o   (done_valid_o),
    .done_ready_i   (done_ready_i),
    .done_tag_o     (done_tag_o),
    .done_status_o  (done_status_o),
    .done_rule_o    (done_rule_o),
    .done_addr_o    (done_addr_o)
  );

  // ---- GM reads ----
  wire                   cmd_valid, cmd_ready, abort, abort_ack;
  wire [IdWidth-1:0]     cmd_id, abort_id;
  wire [GmAddrWidth-1:0] cmd_addr;
  wire [8:0]             cmd_beats;
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_nz_read #(
    .GmBytes     (GmBytes),
    .GmAddrWidth (GmAddrWidth),
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .TileLog2    (TileLog2)
  ) u_walk (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .job_valid_i  (job_start && rows_ready),
    .job_ready_o  (read_ready),
    .job_id_i     (new_id),
    .job_tiled_i  (job_tiled && !job_dense),
    .job_unit_i   (job_small ? 2'd3 : job_elem),
    .job_row_i    (job_dense ? job_span : {5'd0, job_row}),
    .job_rows_i   (job_dense ? 16'd1 : job_rows),
    .job_groups_i (job_groups),
    .job_src_i    (job_src),
    .job_inner_i  (job_inner),
    .job_outer_i  (job_outer),
    .err_i        (err),
    .abort_o      (abort),
    .abort_id_o   (abort_id),
    .abort_ack_i  (abort_ack),
    .cmd_valid_o  (cmd_valid),
    .cmd_ready_i  (cmd_ready),
    .cmd_id_o     (cmd_id),
    .cmd_addr_o   (cmd_addr),
    .cmd_beats_o  (cmd_beats)
  );

  pto_axi_read #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .FifoDepth      (ReadFifoDepth),
    .IdWidth        (IdWidth)
  ) u_read (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .cmd_valid_i   (cmd_valid),
    .cmd_ready_o   (cmd_ready),
    .cmd_drop_i    (1'b0),
    .cmd_id_i      (cmd_id),
    .cmd_addr_i    (cmd_addr),
    .cmd_beats_i   (cmd_beats),
    .m_axi_araddr  (m_axi_araddr),
    .m_axi_arlen   (m_axi_arlen),
    .m_axi_arvalid (m_axi_arvalid),
    .m_axi_arready (m_axi_arready),
    .m_axi_rdata   (m_axi_rdata),
    .m_axi_rresp   (m_axi_rresp),
    .m_axi_rlast   (m_axi_rlast),
    .m_axi_rvalid  (m_axi_rvalid),
    .m_axi_rready  (m_axi_rready),
    .beat_valid_o  (beat_valid),
    .beat_ready_i  (beat_ready),
    .beat_o        (beat),
    .err_valid_o   (rd_err_valid),
    .err_id_o      (rd_err_id),
    .err_status_o  (rd_err_status),
    .err_addr_o    (rd_err_addr)
  );

  // Beats requested and not yet taken from the queue.
  reg [BeatCount-1:0] owed_q;
  wire [BeatCount+8:0] asked = (cmd_valid && cmd_ready) ? {{BeatCount{1'b0}}, cmd_beats}
                                                        : {(BeatCount + 9){1'b0}};
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) owed_q <= {BeatCount{1'b0}};
    else owed_q <= owed_q + asked[BeatCount-1:0]
                 - {{(BeatCount - 1){1'b0}}, beat_valid && beat_ready};
  end

  // ---- data ----
  pto_nz_path #(
    .GmBytes   (GmBytes),
    .WordBytes (LocalDataWidth / 8),
    .AddrWidth (LocalAddrWidth),
    .NumActive (NumActive),
    .IdWidth   (IdWidth),
    .TileLog2  (TileLog2)
  ) u_path (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .job_valid_i  (job_start && read_ready),
    .job_ready_o  (rows_ready),
    .job_id_i     (new_id),
    .job_tiled_i  (job_tiled),
    .job_small_i  (job_small),
    .job_elem_i   (job_elem),
    .job_dense_i  (job_dense),
    .job_pack_i   (job_pack),
    .job_chans_i  (job_chans),
    .job_tail_i   (job_tail),
    .job_row_i    (job_row),
    .job_rows_i   (job_rows),
    .job_groups_i (job_groups),
    .job_src_i    (job_src[GmLane-1:0]),
    .job_inner_i  (job_inner[GmLane-1:0]),
    .job_outer_i  (job_outer[GmLane-1:0]),
    .job_dst_i    (job_dst),
    .job_loop2_i  (job_loop2),
    .job_loop3_i  (job_loop3),
    .job_loop4_i  (job_loop4),
    .err_i        (err),
    .abort_i      (abort),
    .abort_id_i   (abort_id),
    .quiet_i      (owed_q == {BeatCount{1'b0}}),
    .abort_ack_o  (abort_ack),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .dst_req_o    (dst_req_o),
    .dst_gnt_i    (dst_gnt_i),
    .dst_addr_o   (dst_addr_o),
    .dst_be_o     (dst_be_o),
    .dst_wdata_o  (dst_wdata_o),
    .out_id_o     (out_id),
    .fin_valid_o  (fin_valid)
  );

  // ---- constants and ports this unit does not use ----
  assign dst_space_o   = `PTO_SPACE_L1;
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign src_req_o     = 1'b0;
  assign src_space_o   = 3'd0;
  assign src_addr_o    = {LocalAddrWidth{1'b0}};
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awaddr  = {GmAddrWidth{1'b0}};
  assign m_axi_awlen   = 8'd0;
  assign m_axi_awsize  = 3'd0;
  assign m_axi_awburst = 2'd0;
  assign m_axi_awvalid = 1'b0;
  assign m_axi_wdata   = {GmDataWidth{1'b0}};
  assign m_axi_wstrb   = {GmBytes{1'b0}};
  assign m_axi_wlast   = 1'b0;
  assign m_axi_wvalid  = 1'b0;
  assign m_axi_bready  = 1'b0;

  wire unused = &{1'b0, src_gnt_i, src_rvalid_i, src_rdata_i, src_err_i, m_axi_rid, m_axi_awready,
                  m_axi_wready, m_axi_bid, m_axi_bresp, m_axi_bvalid, asked[BeatCount+8:BeatCount]};
endmodule

`default_nettype wire
