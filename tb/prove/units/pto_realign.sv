// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_realign at narrow sides, for rows of up to 15 bytes: a row takes the beats that
// hold its bytes and makes the lines that they go to, no more, and each byte leaves at its lane of
// its line. One byte of a row is followed; of its bits, one.
// Sources: common/pto_realign.sv common/pto_rotate.sv
// Variant: Src=4 Line=8
// Variant: Src=4 Line=4
// Bugs: rotate_direction:byte_kept residue_not_kept:byte_kept
`include "pto_records.vh"

module prove #(
  parameter integer Src  = 4,                // bytes of a beat
  parameter integer Line = 4                 // bytes of a line
) (
  input wire             clk,
  input wire             row_valid,
  input wire [2:0]       from,               // lane of the first byte in its beat
  input wire [2:0]       to,                 // and in its line
  input wire [3:0]       len,                // bytes of the row
  input wire             beat_valid,
  input wire [8*Src-1:0] beat,
  input wire             line_ready,
  input wire             mark,               // follow a byte of this row:
  input wire [3:0]       offset              // the number of that byte
);
  localparam integer SrcLane  = $clog2(Src);
  localparam integer LineLane = $clog2(Line);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  wire              row_ready, beat_ready, line_valid;
  wire [8*Line-1:0] line;
  pto_realign #(.SrcBytes(Src), .LineBytes(Line)) u_realign (
    .clk_i(clk), .rst_ni(rst_n), .row_valid_i(row_valid), .row_ready_o(row_ready),
    .row_i({3'd0, from, 3'd0, to, 16'd0, len}),
    .beat_valid_i(beat_valid), .beat_ready_o(beat_ready), .beat_i(beat),
    .line_valid_o(line_valid), .line_ready_i(line_ready), .line_o(line)
  );
  (* hierconn *) wire                \u_realign.active_q ;
  (* hierconn *) wire [19:0]         \u_realign.left_q ;
  (* hierconn *) wire [6:0]          \u_realign.avail_q ;
  (* hierconn *) wire [LineLane-1:0] \u_realign.lane_q ;
  (* hierconn *) wire [SrcLane-1:0]  \u_realign.rotate_q ;
  (* hierconn *) wire [8*Line-1:0]   \u_realign.part_q ;
  (* hierconn *) wire [2:0]          \u_realign.wr_ptr_q ;
  (* hierconn *) wire [2:0]          \u_realign.rd_ptr_q ;

  wire take   = rst_n && row_valid && row_ready;
  wire fetch  = rst_n && beat_valid && beat_ready;
  wire leave  = rst_n && line_valid && line_ready;

  // Bytes of the row in work that are to come, the lane of the first of them in its beat and in its
  // line; lines that are complete; lines of all rows taken that are to leave.
  reg  [4:0] left = 5'd0;
  reg  [4:0] skip, lane;
  reg  [4:0] ring = 5'd0;
  reg  [4:0] lines = 5'd0;
  wire [4:0] most  = Src - skip;             // bytes of the row in the next beat, at most
  wire       last  = left <= most;
  wire [4:0] reach = lane + most;
  wire [4:0] rest  = (lane + left + Line - 5'd1) >> LineLane;   // lines to complete
  wire [4:0] made  = !fetch ? 5'd0 : last ? rest : reach >> LineLane;
  always @(posedge clk) begin
    ring  <= ring + made - {4'd0, leave};
    lines <= lines - {4'd0, leave} + (take ? ({2'd0, to} + {1'd0, len} + Line - 5'd1) >> LineLane
                                      : 5'd0);
    if (take) begin
      left <= {1'd0, len};
      skip <= {2'd0, from};
      lane <= {2'd0, to};
    end else if (fetch) begin
      left <= last ? 5'd0 : left - most;
      skip <= 5'd0;
      lane <= reach & (Line - 1);
    end
  end

  // The followed byte.
  reg                 marked = 1'b0;
  reg                 there;                 // its beat was taken
  reg                 value;
  reg  [4:0]          far;                   // bytes to come before it
  reg  [4:0]          before;                // lines before its own
  reg  [LineLane-1:0] dst_lane;
  wire [4:0]          dst_at = {2'd0, to} + {1'd0, offset};
  wire [4:0]          src_at = skip + far;
  always @(posedge clk) if (rst_n) begin
    if (!marked && take && mark) begin
      marked   <= 1'b1;
      there    <= 1'b0;
      far      <= {1'd0, offset};
      before   <= lines - {4'd0, leave} + (dst_at >> LineLane);
      dst_lane <= dst_at[LineLane-1:0];
    end else if (marked) begin
      if (leave && before == 5'd0) marked <= 1'b0;
      else if (leave) before <= before - 5'd1;
      if (fetch && !there && src_at < Src) {there, value} <= {1'b1, beat[8*src_at[SrcLane-1:0]]};
      if (fetch && !there) far <= far - most;
    end
  end

  wire [4:0]          dst_far = ((before - ring) << LineLane) + dst_lane;
  wire [LineLane-1:0] turn    = dst_lane - src_at[LineLane-1:0];
  always @* begin
    assume(len != 4'd0 && from < Src && to < Line);
    assume(!mark || offset < len);
    if (rst_n) begin
      lemma_left: assert(\u_realign.active_q == (left != 5'd0) && left <= 5'd15
                         && (left == 5'd0
                             || (\u_realign.left_q == {15'd0, left} && skip < Src && lane < Line
                                 && \u_realign.avail_q == {2'd0, most}
                                 && \u_realign.lane_q == lane)));
      lemma_ring: assert(ring <= 5'd4
                         && \u_realign.wr_ptr_q - \u_realign.rd_ptr_q == ring[2:0]);
      lemma_lines: assert(lines == ring + (left == 5'd0 ? 5'd0 : rest));
      lemma_turn: assert(!marked || there || \u_realign.rotate_q == turn[SrcLane-1:0]);
      lemma_coming: assert(!marked || there || (left != 5'd0 && far < left));
      lemma_place: assert(!marked || there || (before >= ring && dst_far == lane + far));
      lemma_there: assert(!marked || !there || before < ring
                          || (before == ring && left != 5'd0 && {1'b0, dst_lane} < lane));
      lemma_part: assert(!marked || !there || before != ring
                         || \u_realign.part_q [8*dst_lane] == value);
      row_ready_exact: assert(row_ready == (left == 5'd0 || (last && fetch)));
      beat_ready_exact: assert(beat_ready == (left != 5'd0 && ring <= 5'd2));
      line_valid_exact: assert(line_valid == (ring != 5'd0));
      beat_has_row: assert(!beat_ready || left != 5'd0);
      line_has_row: assert(!line_valid || lines != 5'd0);
      room: assert(ring <= 5'd4);
      no_line_left: assert(left != 5'd0 || lines == 5'd0 || line_valid);
      no_dead_lock: assert(left == 5'd0 || beat_ready || line_valid);
      not_before_it_came: assert(!(marked && before == 5'd0 && line_valid) || there);
      byte_kept: assert(!(marked && before == 5'd0 && line_valid) || line[8*dst_lane] == value);
      reach_full: assert(ring != 5'd4);
      reach_row_to_row: assert(!(take && fetch && lines > 5'd3));
      reach_later_byte: assert(!(marked && there && before == 5'd0 && line_valid && left != 5'd0
                                 && dst_lane != {LineLane{1'b0}}));
    end
  end
endmodule
