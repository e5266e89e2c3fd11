// SPDX-License-Identifier: Apache-2.0
//
// Data path of the write-back: ops enter when their flags are set and their parameters loaded, and
// are reported in order once they are written. Two nests run in parallel in the order of the
// destination, one over the L0C words, one over the runs of destination bytes:
//
//   plan -> walk -> feed (L0C, look-up) -> lanes -> (tile) -> pack -> lines -> words -> dst port
//        -> runs -------------------------------------------> lines,    gm -> m_axi_*
//
// Throughput: pto_write_back states what each layout reaches. No drain between ops, but an op of
// another layout waits until the transposer is empty. Latency: op to src_req 4 clocks, reply to
// dst_req 17 (nz2dn: 20 from the last row of a tile), to wvalid one more.
// After an error the op streams to its end without an access. Spec: fixpipe.md.
//
//   clk        _/~\_/~\_/~\_/~\_/~\_
//   op_valid   _/~~~\_______________     stays until op_ready
//   src_req    _________________/~~~     until src_gnt
`default_nettype none
`include "pto_records.vh"

module pto_fix_path #(
  parameter integer GmAddrWidth    = 40,     // bits of a GM byte address
  parameter integer GmDataWidth    = 256,    // bits of the AXI data bus
  parameter integer LocalAddrWidth = 20,     // bits of an on-chip byte address
  parameter integer LocalDataWidth = 256,    // bits of a destination word
  parameter integer SrcDataWidth   = 512,    // bits of an L0C word
  parameter integer DescWidth      = 512,    // bits of a descriptor
  parameter integer NumOutstanding = 16,     // AXI bursts in flight in each direction
  parameter integer NumActive      = 8,      // ops in the data path, a power of two
  parameter integer ReadFifoDepth  = 64,     // L0C words queued or in flight, a power of two
  parameter integer AlphaReplace   = 0,      // 1: alpha replaces the scale below 0
  parameter integer SatScopeA5     = 0       // 1: the sat clause acts on fewer conversions
) (
  input  wire                        clk_i,         // clock
  input  wire                        rst_ni,        // asynchronous reset, active low
  input  wire                        op_valid_i,    // an op to be streamed
  output wire                        op_ready_o,    // it is taken
  input  wire [DescWidth-1:0]        op_desc_i,     // its descriptor
  input  wire                        op_bank_i,     // its bank for look-ups
  output wire                        fin_valid_o,   // the oldest op has finished
  input  wire                        fin_ready_i,   // noted
  output wire [2:0]                  fin_status_o,  // status code, 0 or an error
  output wire [GmAddrWidth-1:0]      fin_addr_o,    // address of the first bad access
  output wire                        prm_rd_o,      // look up the parameters of 16 channels
  output wire                        prm_bank_o,    // bank of the op
  output wire [7:0]                  prm_group_o,   // channel div 16
  output wire                        prm_end_o,     // the last look-up of the op
  input  wire [16*36-1:0]            prm_quant_i,   // next clock, held; lane: offset field, scale
  input  wire [16*19-1:0]            prm_alpha_i,   // the same; lane: bits 31 to 13 of alpha
  output wire                        src_req_o,     // on-chip read, stable until granted
  input  wire                        src_gnt_i,     // request taken
  output wire [2:0]                  src_space_o,   // memory, L0C
  output wire [LocalAddrWidth-1:0]   src_addr_o,    // byte address, word aligned
  input  wire                        src_rvalid_i,  // reply, in order
  input  wire [SrcDataWidth-1:0]     src_rdata_i,   // word
  input  wire                        src_err_i,     // the read failed, with the reply
  output wire                        dst_req_o,     // on-chip write, stable until granted
  input  wire                        dst_gnt_i,     // write done
  output wire [2:0]                  dst_space_o,   // memory
  output wire [LocalAddrWidth-1:0]   dst_addr_o,    // byte address, word aligned
  output wire [LocalDataWidth/8-1:0] dst_be_o,      // byte enables
  output wire [LocalDataWidth-1:0]   dst_wdata_o,   // word
  input  wire                        dst_err_i,     // the write failed, with the grant
  output wire [GmAddrWidth-1:0]      m_axi_araddr,  // burst address
  output wire [7:0]                  m_axi_arlen,   // beats less 1
  output wire                        m_axi_arvalid, // burst offered
  input  wire                        m_axi_arready, // burst taken
  input  wire [GmDataWidth-1:0]      m_axi_rdata,   // beat
  input  wire [1:0]                  m_axi_rresp,   // its response
  input  wire                        m_axi_rlast,   // last beat of its burst
  input  wire                        m_axi_rvalid,  // beat offered
  output wire                        m_axi_rready,  // beat taken
  output wire [GmAddrWidth-1:0]      m_axi_awaddr,  // burst address
  output wire [7:0]                  m_axi_awlen,   // beats less 1
  output wire                        m_axi_awvalid, // burst offered
  input  wire                        m_axi_awready, // burst taken
  output wire [GmDataWidth-1:0]      m_axi_wdata,   // beat
  output wire [GmDataWidth/8-1:0]    m_axi_wstrb,   // byte strobes
  output wire                        m_axi_wlast,   // last beat of the burst
  output wire                        m_axi_wvalid,  // beat offered
  input  wire                        m_axi_wready,  // beat taken
  input  wire [1:0]                  m_axi_bresp,   // response
  input  wire                        m_axi_bvalid,  // response offered
  output wire                        m_axi_bready   // response taken
);
  localparam integer IdWidth   = $clog2(NumActive);
  localparam integer WordBits  = LocalAddrWidth - 6;
  localparam integer TileBits  = 6;          // tiles of 64 rows: bursts of 64 to 256 bytes
  localparam integer InfoWidth = 5 + 1 + 1;  // columns, high half, end of a tile

  // ---- numbers, errors, ends ----
  wire                   id_valid;
  wire [IdWidth-1:0]     id;
  wire [NumActive-1:0]   err;
  localparam integer SPARE = `PTO_NUM_ACTIVE - NumActive;  // the movers have more op numbers
  wire [`PTO_NUM_ACTIVE-1:0] err_16 = {{SPARE{1'b0}}, err};
  wire                   take = op_valid_i && op_ready_o;
  wire                   gm_end_valid, loc_end_valid;
  wire [IdWidth-1:0]     gm_end_id, loc_end_id;
  wire pto_err_t         src_err, rd_err, wr_err;
  wire                   dst_err_valid = dst_req_o && dst_gnt_i && dst_err_i;

  pto_fix_retire #(
    .NumActive   (NumActive),
    .IdWidth     (IdWidth),
    .GmAddrWidth (GmAddrWidth)
  ) u_retire (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .new_valid_i  (take),
    .new_ready_o  (id_valid),
    .new_id_o     (id),
    .err_valid_i  ({wr_err.valid, dst_err_valid, rd_err.valid, src_err.valid}),
    .err_id_i     ({wr_err.id[IdWidth-1:0], loc_end_id, rd_err.id[IdWidth-1:0],
                    src_err.id[IdWidth-1:0]}),
    .err_status_i ({wr_err.status, `PTO_ST_LOCAL, rd_err.status, src_err.status}),
    .err_addr_i   ({wr_err.addr, 20'd0, dst_addr_o, rd_err.addr, src_err.addr}),
    .err_o        (err),
    .end_valid_i  ({loc_end_valid, gm_end_valid}),
    .end_id_i     ({loc_end_id, gm_end_id}),
    .fin_valid_o  (fin_valid_o),
    .fin_ready_i  (fin_ready_i),
    .fin_status_o (fin_status_o),
    .fin_addr_o   (fin_addr_o)
  );

  // ---- settings of an op for the stages, by its number ----
  localparam integer LaneCtl = 1 + 6 + 3 + 1 + 16 + 2 + 4;
  reg [LaneCtl-1:0]     lane_ctl_q [0:NumActive-1];
  reg [NumActive-1:0]   bank_q, need_q, turn_q, nosat_q;
  reg [2*NumActive-1:0] size_q;
  reg [3*NumActive-1:0] type_q;
  reg [2*NumActive-1:0] op_q;
  wire [3:0]            kind = op_desc_i[`PTO_FIX_DST_TYPE];
  wire [5:0]            mode = op_desc_i[`PTO_FIX_QUANT];

  always @(posedge clk_i) begin
    if (take) begin
      lane_ctl_q[id]     <= {op_desc_i[`PTO_FIX_ACC], mode, op_desc_i[`PTO_FIX_RELU],
                             op_desc_i[`PTO_FIX_CLIP_EN], op_desc_i[`PTO_FIX_CLIP],
                             op_desc_i[`PTO_FIX_SAT], kind};
      bank_q[id]         <= op_bank_i;
      // Without parameters: no_convert, f32_f16 and f32_bf16, with no or normal relu.
      need_q[id]         <= (mode != 6'd0 && mode != 6'd1 && mode != 6'd16)
                         || op_desc_i[`PTO_FIX_RELU_LSB + 1];
      turn_q[id]         <= op_desc_i[`PTO_FIX_LAYOUT] == 2'd2;
      size_q[2*id +: 2]  <= (kind < 4'd2) ? 2'd3 : (kind < 4'd5) ? 2'd2 : {1'b0, kind != 4'd9};
      type_q[3*id +: 3]  <= op_desc_i[`PTO_FIX_ATOMIC_TYPE];
      op_q[2*id +: 2]    <= op_desc_i[`PTO_FIX_ATOMIC_OP];
      nosat_q[id]        <= op_desc_i[`PTO_FIX_SAT] == 2'd2;
    end
  end

  // ---- words to read, pieces to write ----
  wire                   word_valid, word_ready, word_high, word_close, word_last;
  wire [IdWidth-1:0]     word_id, piece_id;
  wire [WordBits-1:0]    word;
  wire [7:0]             word_group;
  wire [4:0]             word_cols;
  wire                   piece_valid, piece_ready, piece_first, piece_last;
  wire [2:0]             piece_space;
  wire [GmAddrWidth-1:0] piece_addr;
  wire [12:0]            piece_len;
  wire [26:0]            piece_run;

  pto_fix_nests #(
    .GmAddrWidth (GmAddrWidth),
    .DescWidth   (DescWidth),
    .WordBits    (WordBits),
    .TileBits    (TileBits),
    .IdWidth     (IdWidth)
  ) u_nests (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .op_valid_i    (op_valid_i),
    .op_ready_o    (op_ready_o),
    .op_desc_i     (op_desc_i),
    .id_valid_i    (id_valid),
    .id_i          (id),
    .word_valid_o  (word_valid),
    .word_ready_i  (word_ready),
    .word_id_o     (word_id),
    .word_o        (word),
    .word_group_o  (word_group),
    .word_cols_o   (word_cols),
    .word_high_o   (word_high),
    .word_close_o  (word_close),
    .word_last_o   (word_last),
    .piece_valid_o (piece_valid),
    .piece_ready_i (piece_ready),
    .piece_id_o    (piece_id),
    .piece_first_o (piece_first),
    .piece_last_o  (piece_last),
    .piece_space_o (piece_space),
    .piece_addr_o  (piece_addr),
    .piece_len_o   (piece_len),
    .piece_run_o   (piece_run)
  );

  // ---- L0C and parameters to lanes ----
  wire [IdWidth-1:0]      prm_id, lane_id;
  wire                    lane_valid, lane_ready;
  wire [SrcDataWidth-1:0] lane_data;
  wire [InfoWidth-1:0]    lane_info;
  assign prm_bank_o = bank_q[prm_id];

  pto_fix_feed #(
    .LocalAddrWidth (LocalAddrWidth),
    .SrcDataWidth   (SrcDataWidth),
    .IdWidth        (IdWidth),
    .InfoWidth      (InfoWidth),
    .ReadFifoDepth  (ReadFifoDepth)
  ) u_feed (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .word_valid_i (word_valid),
    .word_ready_o (word_ready),
    .word_id_i    (word_id),
    .word_i       (word),
    .word_group_i (word_group),
    .word_last_i  (word_last),
    .word_info_i  ({word_cols, word_high, word_close}),
    .err_i        (err_16),
    .src_req_o    (src_req_o),
    .src_gnt_i    (src_gnt_i),
    .src_space_o  (src_space_o),
    .src_addr_o   (src_addr_o),
    .src_rvalid_i (src_rvalid_i),
    .src_rdata_i  (src_rdata_i),
    .src_err_i    (src_err_i),
    .err_o        (src_err),
    .prm_id_o     (prm_id),
    .prm_need_i   (need_q[prm_id]),
    .prm_rd_o     (prm_rd_o),
    .prm_group_o  (prm_group_o),
    .prm_end_o    (prm_end_o),
    .lane_valid_o (lane_valid),
    .lane_ready_i (lane_ready),
    .lane_id_o    (lane_id),
    .lane_data_o  (lane_data),
    .lane_info_o  (lane_info)
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
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
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
    .in_quant_prm_i (prm_quant_i),
    .in_alpha_prm_i (prm_alpha_i),
    .in_user_i      ({turn_q[lane_id], size_q[2*lane_id +: 2], lane_info}),
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
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
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
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
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
  wire piece_gm = piece_space == `PTO_SPACE_GM;
  wire run_room, gm_ready, loc_ready;
  wire piece_room = run_room || !piece_first;
  assign piece_ready = piece_room && (piece_gm ? gm_ready : loc_ready);

  wire        run_valid, run_take, run_gm;
  wire [5:0]  run_lane;
  wire [26:0] run_bytes;

  pto_fix_queue #(
    .Width(6 + 27 + 1),
    .Depth(ReadFifoDepth)
  ) u_run_queue (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .wr_valid_i (piece_valid && piece_first && (piece_gm ? gm_ready : loc_ready)),
    .wr_ready_o (run_room),
    .wr_data_i  ({piece_addr[5:0], piece_run, piece_gm}),
    .rd_valid_o (run_valid),
    .rd_ready_i (run_take),
    .rd_data_o  ({run_lane, run_bytes, run_gm})
  );

  wire         line_valid, line_gm, gm_line_ready, loc_line_ready;
  wire [511:0] line;

  pto_fix_lines u_lines (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
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
  pto_fix_local #(
    .LocalAddrWidth (LocalAddrWidth),
    .LocalDataWidth (LocalDataWidth),
    .IdWidth        (IdWidth),
    .Depth          (ReadFifoDepth)
  ) u_local (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .piece_valid_i (piece_valid && !piece_gm && piece_room),
    .piece_ready_o (loc_ready),
    .piece_last_i  (piece_last),
    .piece_id_i    (piece_id),
    .piece_space_i (piece_space),
    .piece_addr_i  (piece_addr[LocalAddrWidth-1:0]),
    .piece_len_i   (piece_len),
    .line_valid_i  (line_valid && !line_gm),
    .line_ready_o  (loc_line_ready),
    .line_i        (line),
    .err_i         (err_16),
    .dst_req_o     (dst_req_o),
    .dst_gnt_i     (dst_gnt_i),
    .dst_space_o   (dst_space_o),
    .dst_addr_o    (dst_addr_o),
    .dst_be_o      (dst_be_o),
    .dst_wdata_o   (dst_wdata_o),
    .dst_id_o      (loc_end_id),
    .end_valid_o   (loc_end_valid)
  );

  // ---- GM ----
  pto_fix_gm #(
    .GmAddrWidth    (GmAddrWidth),
    .GmDataWidth    (GmDataWidth),
    .NumOutstanding (NumOutstanding),
    .IdWidth        (IdWidth)
  ) u_gm (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .err_i           (err_16),
    .type_i          ({{(3*SPARE){1'b0}}, type_q}),
    .op_i            ({{(2*SPARE){1'b0}}, op_q}),
    .nosat_i         ({{SPARE{1'b0}}, nosat_q}),
    .piece_valid_i   (piece_valid && piece_gm && piece_room),
    .piece_ready_o   (gm_ready),
    .piece_id_i      (piece_id),
    .piece_last_i    (piece_last),
    .piece_addr_i    (piece_addr),
    .piece_len_i     (piece_len),
    .line_valid_i    (line_valid && line_gm),
    .line_ready_o    (gm_line_ready),
    .line_i          (line),
    .m_axi_araddr    (m_axi_araddr),
    .m_axi_arlen     (m_axi_arlen),
    .m_axi_arvalid   (m_axi_arvalid),
    .m_axi_arready   (m_axi_arready),
    .m_axi_rdata     (m_axi_rdata),
    .m_axi_rresp     (m_axi_rresp),
    .m_axi_rlast     (m_axi_rlast),
    .m_axi_rvalid    (m_axi_rvalid),
    .m_axi_rready    (m_axi_rready),
    .m_axi_awaddr    (m_axi_awaddr),
    .m_axi_awlen     (m_axi_awlen),
    .m_axi_awvalid   (m_axi_awvalid),
    .m_axi_awready   (m_axi_awready),
    .m_axi_wdata     (m_axi_wdata),
    .m_axi_wstrb     (m_axi_wstrb),
    .m_axi_wlast     (m_axi_wlast),
    .m_axi_wvalid    (m_axi_wvalid),
    .m_axi_wready    (m_axi_wready),
    .m_axi_bresp     (m_axi_bresp),
    .m_axi_bvalid    (m_axi_bvalid),
    .m_axi_bready    (m_axi_bready),
    .rd_err_o        (rd_err),
    .wr_err_o        (wr_err),
    .end_valid_o     (gm_end_valid),
    .end_id_o        (gm_end_id)
  );
endmodule

`default_nettype wire
