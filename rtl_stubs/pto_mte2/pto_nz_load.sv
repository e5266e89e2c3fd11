// SPDX-License-Identifier: Apache-2.0
//
// NZ load unit of MTE2: mte_gm_l1_frac, matrices from GM (AXI4 reads) to NZ fractals in L1.
// Check -> rows -> reads -> lines of 32 bytes -> L1 blocks (nd2nz) or transpose tiles -> L1 blocks
// (dn2nz). After a failed access a matrix whose rows are read as one is made up to its end.
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
// Buffering: ReadFifoDepth beats, 128 rows, 8 KiB of tiles (pto_nz_tile). Limits: widths 128, 256
// or 512; GmAddrWidth 40. Spec: docs/contract.md, nd2nz.md.
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
  localparam integer TileLog2   = 7;
  // Rows wait here for their beats, one clock or more each: they outlast a read latency of as many.
  localparam integer RowDepth   = 128;

  `include "pto_check_widths.vh"
  `include "pto_no_src.vh"
  `include "pto_no_gm_write.vh"

  // ---- front and check ----
  `include "pto_front_wires.vh"
  wire pto_nz_job_t          job;
  wire pto_err_t             rd_err;
  wire [`PTO_NUM_ACTIVE-1:0] err, err_now_unused;
  wire [3:0]                 out_id;
  wire                       fin_valid;

  pto_front #(
    .TagWidth   (TagWidth),
    .QueueDepth (QueueDepth)
  ) u_front (
    `include "pto_front_pins.vh"
    .done_valid_o, .done_ready_i,
    .err_i         ({dst_req_o && dst_gnt_i && dst_err_i, out_id, `PTO_ST_LOCAL, 20'd0,
                     dst_addr_o, rd_err}),
    .err_o         (err),
    .err_now_o     (err_now_unused),
    .fin_valid_i   (fin_valid),
    .fin_id_i      (out_id)
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

  // ---- a row goes to its lines and, with its bytes of GM, to the reads ----
  wire              row_valid, reads, bursts_ready, rows_ready;
  wire pto_nz_row_t row;
  wire pto_gm_row_t read;

  pto_nz_walk #(
    .GmBytes  (GmBytes),
    .TileLog2 (TileLog2)
  ) u_walk (
    .clk_i, .rst_ni,
    .job_valid_i (start_valid),
    .job_ready_o (start_ready),
    .job_id_i    (start_id),
    .job_i       (job),
    .err_i       (err),
    .row_valid_o (row_valid),
    .row_ready_i (rows_ready && (!reads || bursts_ready)),
    .row_o       (row),
    .reads_o     (reads),
    .read_o      (read)
  );

  // ---- GM reads ----
  wire                   beat_valid, beat_ready;
  wire [GmDataWidth-1:0] beat;

  pto_gm_read #(
    .GmDataWidth    (GmDataWidth),
    .AxiIdWidth     (AxiIdWidth),
    .NumOutstanding (NumOutstanding),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_read (
    .clk_i, .rst_ni,
    .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize, .m_axi_arburst, .m_axi_arvalid,
    .m_axi_arready, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .row_valid_i  (row_valid && reads && rows_ready),
    .row_ready_o  (bursts_ready),
    .row_i        (read),
    .err_i        (err),
    .beat_valid_o (beat_valid),
    .beat_ready_i (beat_ready),
    .beat_o       (beat),
    .err_o        (rd_err)
  );

  // ---- lines ----
  wire               next_valid, next_ready, line_valid, line_ready;
  wire pto_nz_row_t  next_row;
  wire pto_nz_line_t line_of;
  wire [255:0]       line;

  pto_fifo #(
    .Width(`PTO_NZ_ROW_BITS),
    .Depth(RowDepth),
    .Ram(1)
  ) u_rows (
    .clk_i, .rst_ni,
    .wr_valid_i (row_valid && (!reads || bursts_ready)),
    .wr_ready_o (rows_ready),
    .wr_data_i  (row),
    .rd_valid_o (next_valid),
    .rd_ready_i (next_ready),
    .rd_data_o  (next_row)
  );

  pto_nz_lines #(
    .GmBytes (GmBytes)
  ) u_lines (
    .clk_i, .rst_ni,
    .row_valid_i  (next_valid),
    .row_ready_o  (next_ready),
    .row_i        (next_row),
    .beat_valid_i (beat_valid),
    .beat_ready_o (beat_ready),
    .beat_i       (beat),
    .line_valid_o (line_valid),
    .line_ready_i (line_ready),
    .line_of_o    (line_of),
    .line_o       (line)
  );

  // ---- blocks: of tiles (a), and direct ones (b); a has priority ----
  wire             tile_valid, tile_ready, a_valid, b_valid, a_cut, b_cut, block_ready;
  wire [4:0]       tile_chunk;
  wire pto_block_t a_at, b_at;
  wire [255:0]     a_block, b_block;

  pto_nz_place u_place (
    .clk_i, .rst_ni,
    .line_valid_i  (line_valid),
    .line_ready_o  (line_ready),
    .line_of_i     (line_of),
    .line_i        (line),
    .tile_valid_o  (tile_valid),
    .tile_ready_i  (tile_ready),
    .tile_chunk_o  (tile_chunk),
    .block_valid_o (b_valid),
    .block_ready_i (block_ready && !a_valid),
    .block_cut_o   (b_cut),
    .block_at_o    (b_at),
    .block_o       (b_block)
  );

  pto_nz_tile u_tile (
    .clk_i, .rst_ni,
    .line_valid_i  (tile_valid),
    .line_ready_o  (tile_ready),
    .line_i        (line),
    .line_of_i     (line_of),
    .line_chunk_i  (tile_chunk),
    .block_valid_o (a_valid),
    .block_ready_i (block_ready),
    .block_cut_o   (a_cut),
    .block_at_o    (a_at),
    .block_o       (a_block)
  );

  wire pto_block_t block_at = a_valid ? a_at : b_at;

  pto_block_write #(
    .WordBytes (LocalDataWidth / 8)
  ) u_write (
    .clk_i, .rst_ni, .dst_req_o, .dst_gnt_i, .dst_addr_o, .dst_be_o, .dst_wdata_o,
    .err_i         (err),
    .out_id_o      (out_id),
    .fin_valid_o   (fin_valid),
    .block_valid_i (a_valid || b_valid),
    .block_ready_o (block_ready),
    .block_cut_i   (a_valid ? a_cut : b_cut),
    .block_at_i    (block_at),
    .block_i       (a_valid ? a_block : b_block)
  );

  assign dst_space_o = `PTO_SPACE_L1;

  wire unused = &{1'b0, err_now_unused, m_axi_rid};
endmodule

`default_nettype wire
