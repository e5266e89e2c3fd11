// SPDX-License-Identifier: Apache-2.0
//
// Unit of FIX for mte_l0c_gm, mte_l0c_l1 and mte_l0c_ub: accumulators from L0C, quantised, to GM,
// L1 or UB in the layouts of fixpipe.md. The front checks ops, waits for unit flags and fetches
// parameters. Then two nests run in parallel in the order of the destination, one over the L0C
// words, one over the runs of destination bytes:
//
//   plan -> walk -> feed (L0C, look-up) -> lanes -> (tile) -> pack -> lines -> words -> dst port
//        -> runs -------------------------------------------> lines,    gm -> m_axi_*
//
// Ports are those of an engine, and two more.
// Throughput: one L0C word, up to 16 elements, and one word of the destination per clock, with no
// bubble between rows, repeats or ops; the slower of the two counts. On 256-bit buses:
//   nz2nd          16 elements per clock to 4, 8 and 16-bit types, 8 to 32-bit ones; a row of n
//                  columns takes ceil(n / 16) clocks, or its bus words where those are more
//   nz2dn          the same once the first tile of 64 rows is in the transposer; with fewer rows
//                  m / ceil(m / 16) elements per clock at most
//   nz2nz split 0  8 (f32 only; 16 on a bus of 512 bits)
//   nz2nz split 1  8 on any bus of 256 bits or more, because each L0C word is read once per half
//   atomic         the same, also for a run that begins in the last bus word of the run before;
//                  other runs that share a bus word with a run less than a round trip before them
//                  take the round trip of a read and a write each
// A run is what is contiguous in memory: a row, a column (64 rows of it), a group, or all of a
// repeat where these follow each other. Each run, cut at 4 KiB, is one AXI burst; runs shorter
// than latency / NumOutstanding bus words are limited by the bursts in flight.
// Latency: of the front, then from op to src_req 4 clocks, reply to dst_req 17 (nz2dn: 20 from the
// last row of a tile), to wvalid one more. Full rate for L0C latencies up to ReadFifoDepth - 6. No
// drain between ops, but an op of another layout waits until the transposer is empty.
// After an error the op streams to its end without an access.
// Limits: GmDataWidth and LocalDataWidth 128, 256 or 512, SrcDataWidth 512, GmAddrWidth 40,
// LocalAddrWidth 20. Spec: docs/contract.md, fixpipe.md, profiles.md.
//
//   clk         _/~\_/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\_______________     desc_ready 1
//   busy        _____/~~~~~~~~~~~~~~~     until the done handshake
`default_nettype none
`include "pto_records.vh"

`define PTO_SRC_DATA_WIDTH SrcDataWidth
module pto_write_back #(
  `include "pto_unit_widths.vh"
  parameter integer SrcDataWidth   = 512,    // bits of a source word and of a parameter word
  parameter integer L0cSize        = `PTO_SIZE_L0C,  // bytes of L0C
  parameter integer FbSegmentSize  = `PTO_FB_SEGMENT_BYTES,  // bytes of a segment of FB
  parameter integer ReadFifoDepth  = 64,     // L0C words queued or in flight, a power of two
  parameter integer AlphaReplace   = 0,      // knob alpha: 0 sequential, 1 replace
  parameter integer B8ScalarUnsigned = 0,    // knob b8_scalar_sign: 0 type, 1 unsigned
  parameter integer SatScopeA5     = 0,      // knob sat_scope: 0 all, 1 a5
  parameter integer ModesA5        = 0       // knob modes, FIX-L20: 0 all, 1 a5
) (
  `include "pto_fix_ports.vh"
  `include "pto_engine_ports.vh"
);
`undef PTO_SRC_DATA_WIDTH
  localparam integer GmLane    = $clog2(GmDataWidth / 8);
  localparam integer TileBits  = 6;          // tiles of 64 rows: bursts of 64 to 256 bytes
  localparam integer InfoWidth = 5 + 1 + 1;  // columns, high half, end of a tile

  `include "pto_check_widths.vh"

  generate
    if (AlphaReplace != 0 && AlphaReplace != 1) begin : gen_bad_alpha
      pto_error_alpha_replace_must_be_0_1 u_error ();
    end
    if (B8ScalarUnsigned < 0 || B8ScalarUnsigned > 1 || SatScopeA5 < 0 || SatScopeA5 > 1
        || ModesA5 < 0 || ModesA5 > 1) begin : gen_bad_knob
      pto_error_b8_scalar_unsigned_sat_scope_a5_modes_a5_must_be_0_1 u_error ();
    end
    if (SrcDataWidth != 512) begin : gen_bad_src
      pto_error_src_data_width_must_be_512 u_error ();
    end
  endgenerate

  // ---- front: ops with their flags set and their parameters loaded ----
  wire                      op_valid, op_ready, op_bank;
  wire [`PTO_DESC_BITS-1:0] op_desc;
  wire                      prm_rd, prm_bank, prm_end;
  wire [7:0]                prm_group;
  wire [16*36-1:0]          prm_quant;
  wire [16*19-1:0]          prm_alpha;
  wire                      gm_end_valid, loc_end_valid;
  wire [3:0]                id, gm_end_id, loc_end_id;
  wire [`PTO_NUM_ACTIVE-1:0] err_unused, err;
  wire pto_err_t            src_err, rd_err, wr_err;

  pto_fix_front #(
    .TagWidth       (TagWidth),
    .UbSize         (UbSize),
    .L1Size         (L1Size),
    .L0cSize        (L0cSize),
    .FbSegmentSize  (FbSegmentSize),
    .QueueDepth     (QueueDepth),
    .B8ScalarUnsigned (B8ScalarUnsigned),
    .ModesA5        (ModesA5)
  ) u_front (
    .clk_i, .rst_ni, .desc_valid_i, .desc_ready_o, .desc_i, .desc_tag_i, .done_valid_o,
    .done_ready_i, .done_tag_o, .done_status_o, .done_rule_o, .done_addr_o, .busy_o, .par_req_o,
    .par_gnt_i, .par_space_o, .par_addr_o, .par_rvalid_i, .par_rdata_i, .par_err_i, .flag_req_o,
    .flag_gnt_i, .flag_clear_o, .flag_addr_o, .flag_mask_o, .flag_rvalid_i, .flag_rdata_i,
    .op_valid_o    (op_valid),
    .op_ready_i    (op_ready),
    .op_desc_o     (op_desc),
    .op_id_o       (id),
    .op_bank_o     (op_bank),
    .err_i         ({wr_err, dst_req_o && dst_gnt_i && dst_err_i, loc_end_id, `PTO_ST_LOCAL,
                     20'd0, dst_addr_o, rd_err, src_err}),
    .err_o         (err_unused),
    .err_now_o     (err),
    .fin_valid_i   ({loc_end_valid, gm_end_valid}),
    .fin_id_i      ({loc_end_id, gm_end_id}),
    .prm_rd_i      (prm_rd),
    .prm_bank_i    (prm_bank),
    .prm_group_i   (prm_group),
    .prm_end_i     (prm_end),
    .prm_quant_o   (prm_quant),
    .prm_alpha_o   (prm_alpha)
  );

  // ---- settings of an op for the stages, by its number ----
  localparam integer LaneCtl = 1 + 6 + 3 + 1 + 16 + 2 + 4;
  reg [LaneCtl-1:0]                          lane_ctl_q [0:`PTO_NUM_ACTIVE-1];
  reg [`PTO_NUM_ACTIVE-1:0]                  bank_q, need_q, turn_q;
  reg [2*`PTO_NUM_ACTIVE-1:0]                size_q;
  reg [`PTO_NUM_ACTIVE*`PTO_ATOMIC_BITS-1:0] atomic_q;
  wire                  take = op_valid && op_ready;
  wire [3:0]            kind = op_desc[`PTO_FIX_DST_TYPE];
  wire [5:0]            mode = op_desc[`PTO_FIX_QUANT];

  always @(posedge clk_i) begin
    if (take) begin
      lane_ctl_q[id]     <= {op_desc[`PTO_FIX_ACC], mode, op_desc[`PTO_FIX_RELU],
                             op_desc[`PTO_FIX_CLIP_EN], op_desc[`PTO_FIX_CLIP],
                             op_desc[`PTO_FIX_SAT], kind};
      bank_q[id]         <= op_bank;
      // Without parameters: no_convert, f32_f16 and f32_bf16, with no or normal relu.
      need_q[id]         <= (mode != `PTO_QUANT_NO_CONVERT && mode != `PTO_QUANT_F32_F16
                             && mode != `PTO_QUANT_F32_BF16)
                         || op_desc[`PTO_FIX_RELU_LSB + 1];
      turn_q[id]         <= op_desc[`PTO_FIX_LAYOUT] == 2'd2;
      size_q[2*id +: 2]  <= (kind < 4'd2) ? 2'd3 : (kind < 4'd5) ? 2'd2 : {1'b0, kind != 4'd9};
      atomic_q[id*`PTO_ATOMIC_BITS +: `PTO_ATOMIC_BITS]
                         <= {op_desc[`PTO_FIX_SAT] == 2'd2, op_desc[`PTO_FIX_ATOMIC_OP],
                             op_desc[`PTO_FIX_ATOMIC_TYPE]};
    end
  end

  // ---- words to read, pieces to write ----
  wire                 walk_valid, walk_ready, runs_valid, runs_ready;
  wire pto_fix_walk_t  walk;
  wire pto_fix_runs_t  runs;
  wire                 word_valid, word_ready, piece_valid, piece_ready;
  wire [13:0]          word;
  wire pto_fix_note_t  word_note;
  wire pto_fix_piece_t piece;

  pto_fix_plan #(
    .TileBits (TileBits)
  ) u_plan (
    .clk_i, .rst_ni,
    .op_valid_i   (op_valid),
    .op_ready_o   (op_ready),
    .op_desc_i    (op_desc),
    .id_i         (id),
    .walk_valid_o (walk_valid),
    .walk_ready_i (walk_ready),
    .walk_o       (walk),
    .runs_valid_o (runs_valid),
    .runs_ready_i (runs_ready),
    .runs_o       (runs)
  );

  pto_fix_walk u_walk (
    .clk_i, .rst_ni,
    .op_valid_i   (walk_valid),
    .op_ready_o   (walk_ready),
    .op_i         (walk),
    .word_valid_o (word_valid),
    .word_ready_i (word_ready),
    .word_o       (word),
    .word_note_o  (word_note)
  );

  pto_fix_runs u_runs (
    .clk_i, .rst_ni,
    .op_valid_i    (runs_valid),
    .op_ready_o    (runs_ready),
    .op_i          (runs),
    .piece_valid_o (piece_valid),
    .piece_ready_i (piece_ready),
    .piece_o       (piece)
  );

  // ---- L0C and parameters to lanes ----
  wire                lane_valid, lane_ready;
  wire [3:0]          prm_id;
  wire [511:0]        lane_data;
  wire pto_fix_note_t lane_note;
  wire [3:0]          lane_id = lane_note.id;
  assign prm_bank = bank_q[prm_id];

  pto_fix_feed #(
    .ReadFifoDepth (ReadFifoDepth)
  ) u_feed (
    .clk_i, .rst_ni,
    .src_req_o, .src_gnt_i, .src_space_o, .src_addr_o, .src_rvalid_i, .src_rdata_i, .src_err_i,
    .word_valid_i (word_valid),
    .word_ready_o (word_ready),
    .word_i       (word),
    .word_note_i  (word_note),
    .err_i        (err),
    .err_o        (src_err),
    .prm_id_o     (prm_id),
    .prm_need_i   (need_q[prm_id]),
    .prm_rd_o     (prm_rd),
    .prm_group_o  (prm_group),
    .prm_end_o    (prm_end),
    .lane_valid_o (lane_valid),
    .lane_ready_i (lane_ready),
    .lane_data_o  (lane_data),
    .lane_note_o  (lane_note)
  );

  wire        lane_acc, lane_clip_en;
  wire [5:0]  lane_quant;
  wire [2:0]  lane_relu;
  wire [15:0] lane_clip;
  wire [1:0]  lane_sat;
  wire [3:0]  lane_dst;
  assign {lane_acc, lane_quant, lane_relu, lane_clip_en, lane_clip, lane_sat, lane_dst}
       = lane_ctl_q[lane_id];

  wire         y_valid, y_ready, y_turn, y_high, y_close;
  wire [511:0] y;
  wire [1:0]   y_size;
  wire [4:0]   y_cols;

  pto_fix_lanes #(
    .UserWidth    (1 + 2 + InfoWidth),
    .AlphaReplace (AlphaReplace),
    .SatScopeA5   (SatScopeA5)
  ) u_lanes (
    .clk_i, .rst_ni,
    .in_valid_i     (lane_valid),
    .in_ready_o     (lane_ready),
    .in_data_i      (lane_data),
    .in_acc_i       (lane_acc),
    .in_quant_i     (lane_quant),
    .in_relu_i      (lane_relu),
    .in_clip_en_i   (lane_clip_en),
    .in_clip_i      (lane_clip),
    .in_sat_i       (lane_sat),
    .in_dst_i       (lane_dst),
    .in_quant_prm_i (prm_quant),
    .in_alpha_prm_i (prm_alpha),
    .in_user_i      ({turn_q[lane_id], size_q[2*lane_id +: 2], lane_note.cols, lane_note.high,
                       lane_note.close}),
    .out_valid_o    (y_valid),
    .out_ready_i    (y_ready),
    .out_data_o     (y),
    .out_user_o     ({y_turn, y_size, y_cols, y_high, y_close})
  );

  // ---- columns, or straight on ----
  wire         tile_ready, tile_busy, col_valid, col_ready, pack_ready;
  wire [511:0] col;
  wire [4:0]   col_count;
  wire [1:0]   col_size;
  assign y_ready = y_turn ? tile_ready : pack_ready;

  pto_fix_tile #(
    .RowBits   (TileBits + 1),
    .InfoWidth (2)
  ) u_tile (
    .clk_i, .rst_ni,
    .in_valid_i  (y_valid && y_turn),
    .in_ready_o  (tile_ready),
    .in_data_i   (y),
    .in_cols_i   (y_cols),
    .in_close_i  (y_close),
    .in_info_i   (y_size),
    .out_valid_o (col_valid),
    .out_ready_i (col_ready),
    .out_data_o  (col),
    .out_count_o (col_count),
    .out_info_o  (col_size),
    .busy_o      (tile_busy)
  );

  wire         chunk_valid, chunk_ready;
  wire [511:0] chunk;
  wire [6:0]   chunk_bytes;

  pto_fix_pack u_pack (
    .clk_i, .rst_ni,
    .word_valid_i (y_valid && !y_turn),
    .word_ready_o (pack_ready),
    .word_data_i  (y),
    .word_count_i (y_cols),
    .word_high_i  (y_high),
    .word_size_i  (y_size),
    .tile_busy_i  (tile_busy),
    .tile_valid_i (col_valid),
    .tile_ready_o (col_ready),
    .tile_data_i  (col),
    .tile_count_i (col_count),
    .tile_size_i  (col_size),
    .out_valid_o  (chunk_valid),
    .out_ready_i  (chunk_ready),
    .out_data_o   (chunk),
    .out_bytes_o  (chunk_bytes)
  );

  // ---- a piece goes to its side, and at the start of its run to the lines ----
  wire piece_gm = piece.space == `PTO_SPACE_GM;
  wire run_room, gm_ready, loc_ready;
  wire piece_room = run_room || !piece.first;
  assign piece_ready = piece_room && (piece_gm ? gm_ready : loc_ready);

  wire        run_valid, run_take, run_gm;
  wire [5:0]  run_lane;
  wire [26:0] run_bytes;

  pto_fifo #(
    .Width(6 + 27 + 1),
    .Depth(ReadFifoDepth),
    .Ram(1)
  ) u_run_queue (
    .clk_i, .rst_ni,
    .wr_valid_i (piece_valid && piece.first && (piece_gm ? gm_ready : loc_ready)),
    .wr_ready_o (run_room),
    .wr_data_i  ({piece.addr[5:0], piece.run, piece_gm}),
    .rd_valid_o (run_valid),
    .rd_ready_i (run_take),
    .rd_data_o  ({run_lane, run_bytes, run_gm})
  );

  wire         line_valid, line_gm, gm_line_ready, loc_line_ready;
  wire [511:0] line;

  pto_fix_lines u_lines (
    .clk_i, .rst_ni,
    .run_valid_i   (run_valid),
    .run_ready_o   (run_take),
    .run_lane_i    (run_lane),
    .run_len_i     (run_bytes),
    .run_gm_i      (run_gm),
    .chunk_valid_i (chunk_valid),
    .chunk_ready_o (chunk_ready),
    .chunk_i       (chunk),
    .chunk_bytes_i (chunk_bytes),
    .line_valid_o  (line_valid),
    .line_ready_i  (line_gm ? gm_line_ready : loc_line_ready),
    .line_o        (line),
    .line_gm_o     (line_gm)
  );

  // ---- on-chip destinations ----
  wire             cut_valid, cut_take, out_last_unused;
  wire pto_piece_t cut;

  pto_fifo #(
    .Width(`PTO_PIECE_BITS),
    .Depth(ReadFifoDepth),
    .Ram(1)
  ) u_cuts (
    .clk_i, .rst_ni,
    .wr_valid_i (piece_valid && !piece_gm && piece_room),
    .wr_ready_o (loc_ready),
    .wr_data_i  ({1'b0, piece.last, piece.id, piece.space, piece.addr[19:0], 7'd0, piece.len}),
    .rd_valid_o (cut_valid),
    .rd_ready_i (cut_take),
    .rd_data_o  (cut)
  );

  pto_row_words #(
    .WordBytes (LocalDataWidth / 8),
    .LineBytes (64)
  ) u_words (
    .clk_i, .rst_ni,
    .row_valid_i  (cut_valid),
    .row_ready_o  (cut_take),
    .row_i        ({cut, 6'd0, 1'b0, cut.len, 35'd0}),
    .line_valid_i (line_valid && !line_gm),
    .line_ready_o (loc_line_ready),
    .line_i       (line),
    .err_i        (err),
    .out_valid_o  (dst_req_o),
    .out_ready_i  (dst_gnt_i),
    .out_id_o     (loc_end_id),
    .out_space_o  (dst_space_o),
    .out_addr_o   (dst_addr_o),
    .out_be_o     (dst_be_o),
    .out_data_o   (dst_wdata_o),
    .out_last_o   (out_last_unused),
    .fin_valid_o  (loc_end_valid)
  );

  // ---- GM ----
  pto_fix_gm #(
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding)
  ) u_gm (
    .clk_i, .rst_ni,
    .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .m_axi_rvalid, .m_axi_rready,
    .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
    .m_axi_bresp, .m_axi_bvalid, .m_axi_bready,
    .err_i         (err),
    .atomic_i      (atomic_q),
    .piece_valid_i (piece_valid && piece_gm && piece_room),
    .piece_ready_o (gm_ready),
    .piece_i       (piece),
    .line_valid_i  (line_valid && line_gm),
    .line_ready_o  (gm_line_ready),
    .line_i        (line),
    .rd_err_o      (rd_err),
    .wr_err_o      (wr_err),
    .end_valid_o   (gm_end_valid),
    .end_id_o      (gm_end_id)
  );

  assign m_axi_arid    = {AxiIdWidth{1'b0}};
  assign m_axi_arsize  = GmLane[2:0];
  assign m_axi_arburst = 2'b01;
  assign m_axi_awid    = {AxiIdWidth{1'b0}};
  assign m_axi_awsize  = GmLane[2:0];
  assign m_axi_awburst = 2'b01;

  wire unused = &{1'b0, m_axi_rid, m_axi_bid, lane_note, out_last_unused};
endmodule

`default_nettype wire
