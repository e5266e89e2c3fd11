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
// Latency: descriptor to arvalid 8 clocks, R beat to dst_req 3, last grant to done 1.
// Buffering: ReadFifoDepth beats, 8 KiB of tiles (pto_nz_tile). Limits: widths 128, 256 or 512;
// GmAddrWidth 40. Spec: CONTRACT, nd2nz.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\_______________________________     desc_ready 1
//   arvalid     _________________________________/~~~     until arready
`default_nettype none
`include "pto_records.vh"

module pto_nz_load #(
  `include "pto_unit_widths.vh"
  parameter integer ReadFifoDepth  = (GmDataWidth == 128) ? 512 : 256  // beats, a power of two
) (
  `include "pto_engine_ports.vh"
);
  localparam integer GmBytes    = GmDataWidth / 8;
  localparam integer GmLane     = $clog2(GmBytes);
  localparam integer TileLog2   = 7;
  localparam integer BeatCount  = $clog2(ReadFifoDepth) + 1;

  `include "pto_check_widths.vh"
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"

  generate
    if (ReadFifoDepth * GmBytes < 4096) begin : gen_bad_fifo
      pto_error_read_fifo_must_hold_4096_bytes u_error ();
    end
  endgenerate

  // ---- front and check ----
  wire                       head_valid, head_ready, check_busy, job_valid, job_ready, start_valid;
  wire [`PTO_DESC_BITS-1:0]  head;
  wire [TagWidth-1:0]        head_tag, job_tag;
  wire [3:0]                 start_id, out_id;
  wire pto_verdict_t         verdict;
  wire pto_nz_job_t          job;
  wire pto_err_t             rd_err;
  wire [`PTO_NUM_ACTIVE-1:0] err, err_now_unused;
  wire                       fin_valid, read_ready, rows_ready;

  // An op with rows takes both walkers.
  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .busy_o,
    .done_valid_o, .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o,
    .err_a_i       (rd_err),
    .err_b_i       ({dst_req_o && dst_gnt_i && dst_err_i, out_id, `PTO_ST_LOCAL, 20'd0,
                     dst_addr_o}),
    .err_c_i       ({`PTO_ERR_BITS{1'b0}}),
    .err_o         (err),
    .err_now_o     (err_now_unused),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (out_id),
    .head_valid_o  (head_valid),
    .head_ready_i  (head_ready),
    .head_o        (head),
    .head_tag_o    (head_tag),
    .job_valid_i   (job_valid),
    .job_ready_o   (job_ready),
    .job_verdict_i (verdict),
    .job_tag_i     (job_tag),
    .check_busy_i  (check_busy),
    .start_valid_o (start_valid),
    .start_ready_i (read_ready && rows_ready),
    .start_id_o    (start_id)
  );

  pto_nz_check #(
    .GmBytes  (GmBytes),
    .L1Size   (L1Size),
    .TagWidth (TagWidth),
    .TileLog2 (TileLog2)
  ) u_check (
    `include "pto_check_pins.vh"
    .job_o         (job)
  );

  // ---- GM reads ----
  wire                   cmd_valid, cmd_ready, abort, abort_ack;
  wire [3:0]             abort_id;
  wire pto_burst_t       cmd;
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_nz_read #(
    .GmBytes  (GmBytes),
    .TileLog2 (TileLog2)
  ) u_walk (
    .clk_i, .rst_ni,
    .job_valid_i  (start_valid && rows_ready),
    .job_ready_o  (read_ready),
    .job_id_i     (start_id),
    .job_i        (job),
    .err_i        (err),
    .abort_o      (abort),
    .abort_id_o   (abort_id),
    .abort_ack_i  (abort_ack),
    .cmd_valid_o  (cmd_valid),
    .cmd_ready_i  (cmd_ready),
    .cmd_o        (cmd)
  );

  pto_axi_read #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .FifoDepth      (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .cmd_valid_i  (cmd_valid),
    .cmd_ready_o  (cmd_ready),
    .cmd_drop_i   (1'b0),
    .cmd_i        (cmd),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err)
  );

  // Beats requested and not yet taken from the queue.
  reg [BeatCount-1:0] owed_q;
  wire [BeatCount+8:0] asked = (cmd_valid && cmd_ready) ? {{BeatCount{1'b0}}, cmd.beats}
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
    .TileLog2  (TileLog2)
  ) u_path (
    .clk_i, .rst_ni, .dst_req_o, .dst_gnt_i, .dst_addr_o, .dst_be_o, .dst_wdata_o,
    .job_valid_i  (start_valid && read_ready),
    .job_ready_o  (rows_ready),
    .job_id_i     (start_id),
    .job_i        (job),
    .err_i        (err),
    .abort_i      (abort),
    .abort_id_i   (abort_id),
    .quiet_i      (owed_q == {BeatCount{1'b0}}),
    .abort_ack_o  (abort_ack),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .out_id_o     (out_id),
    .fin_valid_o  (fin_valid)
  );

  assign dst_space_o   = `PTO_SPACE_L1;
  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;

  wire unused = &{1'b0, err_now_unused, m_axi_rid, asked[BeatCount+8:BeatCount]};
endmodule

`default_nettype wire
