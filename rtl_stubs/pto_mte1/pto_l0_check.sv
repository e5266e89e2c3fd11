// SPDX-License-Identifier: Apache-2.0
//
// Checks one descriptor of a load to L0 against its D rules (LD-L03 to L06, lowest number wins) and
// the zero-count test, and turns it into a job in blocks of 32 bytes: rows of the source, and the
// loops of the destination. Extents are exact: a factor that leaves the memory by itself is
// found before the product, so sums never wrap.
// A square of a transposed load is one block of elements wide and as many high: 64, 32, 16 or 8
// blocks with elements of 4, 8, 16 or 32 bits. It is one run of blocks in both memories, because
// the rows of a source column lie in order, and so do the rows of a destination column.
// Throughput: one descriptor per clock. Latency: one clock. Limits: LocalAddrWidth 20.
// Spec: l0_loads.md 1, 2, 4 and 5; docs/contract.md, descriptors and done.
//
//   clk         _/~\_/~\_/~\_/~\_
//   desc_valid  _/~~~\___________     desc_ready 1
//   job_valid   _____/~~~~~~~\___     verdict and job, stay until job_ready
`default_nettype none
`include "pto_records.vh"

module pto_l0_check #(
  parameter integer L1Size   = `PTO_SIZE_L1, // bytes of L1 (LD-L06)
  parameter integer TagWidth = 8             // bits of a tag
) (
  input  wire                      clk_i,         // clock
  input  wire                      rst_ni,        // asynchronous reset, active low
  input  wire                      desc_valid_i,  // a descriptor is there
  output wire                      desc_ready_o,  // it is taken
  input  wire [`PTO_DESC_BITS-1:0] desc_i,        // the descriptor
  input  wire [TagWidth-1:0]       desc_tag_i,    // its tag
  output wire                      busy_o,        // an op was taken and has not left
  output wire                      job_valid_o,   // a judged op is there
  input  wire                      job_ready_i,   // it is taken
  output wire [TagWidth-1:0]       job_tag_o,     // tag of the op
  output wire pto_verdict_t        job_verdict_o, // the verdict
  output wire pto_l0_job_t         job_o          // the loops of a legal op
);
  localparam [21:0] L1_BLOCKS    = L1Size[26:5];
  localparam [31:0] DATA_SIZE    = `PTO_SIZE_L0A;          // that of l0b is the same
  localparam [31:0] SCALE_SIZE   = `PTO_SIZE_L0A_MX;
  localparam [24:0] DATA_BLOCKS  = DATA_SIZE[29:5];
  localparam [24:0] SCALE_BLOCKS = SCALE_SIZE[29:5];
  localparam integer SegmentLsb  = `PTO_L0_SEGMENT_SHIFT - 5;

  // ---- fields ----
  wire [7:0]  opcode     = desc_i[`PTO_DESC_OPCODE];
  wire [1:0]  elem       = desc_i[`PTO_L0_ELEM];
  wire [23:0] src        = desc_i[`PTO_L0_SRC_ADDR];
  wire [27:0] dst        = desc_i[`PTO_L0_DST_ADDR];
  wire [16:0] m_start    = desc_i[`PTO_L0_M_START];
  wire [16:0] k_start    = desc_i[`PTO_L0_K_START];
  wire [8:0]  m_step     = desc_i[`PTO_L0_M_STEP];
  wire [8:0]  k_step     = desc_i[`PTO_L0_K_STEP];
  wire [16:0] src_stride = desc_i[`PTO_L0_SRC_STRIDE];
  wire [16:0] dst_stride = desc_i[`PTO_L0_DST_STRIDE];

  wire is_l0a    = opcode == `PTO_OP_MTE_L1_L0A;
  wire is_l0b    = opcode == `PTO_OP_MTE_L1_L0B;
  wire is_l0a_mx = opcode == `PTO_OP_MTE_L1_L0A_MX;
  wire is_l0b_mx = opcode == `PTO_OP_MTE_L1_L0B_MX;
  wire scales    = is_l0a_mx || is_l0b_mx;
  wire turn      = !scales && desc_i[`PTO_L0_TRANSPOSE];
  wire [1:0] unit = elem + 2'd1;             // code 3 is 4 bits

  // ---- rules but the extents ----
  wire nop = m_step == 9'd0 || k_step == 9'd0;
  wire l03 = m_start[16] || k_start[16] || m_step[8] || k_step[8] || src_stride[16]
          || dst_stride[16] || src_stride == 17'd0 || dst_stride == 17'd0;
  wire l04 = |src[4:0] || |dst[8:0];         // scales lie at a 16th of dst, a multiple of 32
  reg l05;
  always @* begin
    case (elem)
      2'd0:    l05 = turn && m_step[0];
      2'd1:    l05 = 1'b0;
      2'd2:    l05 = turn && k_step[0];
      default: l05 = turn && m_step[1:0] != 2'd0;
    endcase
  end

  reg       bad;
  reg [2:0] rule;
  always @* begin
    bad  = 1'b1;
    rule = 3'd0;
    if (!is_l0a && !is_l0b && !scales) rule = 3'd0;
    else if (l03) rule = 3'd3;
    else if (l04) rule = 3'd4;
    else if (l05) rule = 3'd5;
    else bad = 1'b0;
  end

  // ---- loops: the source goes by columns of fractals, that of scales by x ----
  wire [15:0] start      = scales ? m_start[15:0] : k_start[15:0];
  wire [15:0] offset     = scales ? k_start[15:0] : m_start[15:0];
  wire [7:0]  last_row   = (scales ? m_step[7:0] : k_step[7:0]) - 8'd1;
  wire [7:0]  length     = scales ? k_step[7:0] : m_step[7:0];     // fractals or fragments

  // The destination: `columns` at its stride, each of `depth` fractals or fragments.
  reg [9:0] columns, depth;
  always @* begin
    columns = {2'd0, scales ? m_step[7:0] : k_step[7:0]};
    depth   = {2'd0, length};
    if (turn) begin
      case (unit)
        2'd0: begin
          columns = {4'd0, m_step[7:2]};
          depth   = {k_step[7:0], 2'd0};
        end
        2'd1: begin
          columns = {3'd0, m_step[7:1]};
          depth   = {1'd0, k_step[7:0], 1'd0};
        end
        2'd2: begin
          columns = {2'd0, m_step[7:0]};
          depth   = {2'd0, k_step[7:0]};
        end
        default: begin
          columns = {1'd0, m_step[7:0], 1'd0};
          depth   = {3'd0, k_step[7:1]};
        end
      endcase
    end
  end
  wire [9:0] last_column = columns - 10'd1;

  // ---- products; a factor past the end of the memory is out by itself, as the other is not 0 ----
  wire        src_far   = |start[15:14] || (|src_stride[15:14] && (|start || |last_row));
  wire        dst_far   = |dst_stride[15:7] && |last_column;
  wire [27:0] src_first = {14'd0, start[13:0]} * {14'd0, src_stride[13:0]};
  wire [21:0] src_reach = {14'd0, last_row} * {8'd0, src_stride[13:0]} + {14'd0, length};
  // The first block without that product, and what L1 has from there on, negative after its end.
  wire [20:0] src_base  = {2'd0, src[23:5]} + (scales ? {5'd0, offset} : {1'b0, offset, 4'd0});
  wire [21:0] src_room  = L1_BLOCKS - {1'b0, src_base};
  wire [16:0] dst_units = {8'd0, last_column[8:0]} * {10'd0, dst_stride[6:0]} + {7'd0, depth};

  // ---- the checked op ----
  reg                job_valid_q;
  reg [TagWidth-1:0] tag_q;
  reg                bad_q, nop_q, far_q, scales_q, turn_q;
  reg [2:0]          rule_q;
  reg [1:0]          segment_q, unit_q;
  reg [14:0]         src_q;                  // blocks
  reg [21:0]         src_room_q;
  reg [27:9]         dst_q;
  reg [27:0]         src_first_q;
  reg [21:0]         src_reach_q;
  reg [16:0]         dst_units_q;
  reg [7:0]          length_q, last_row_q, outer_q;
  reg [8:0]          mid_q;
  reg [13:0]         src_stride_q;
  reg [6:0]          dst_stride_q;

  wire job_free = !job_valid_q || job_ready_i;
  wire load     = desc_valid_i && job_free;
  assign desc_ready_o = job_free;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) job_valid_q <= 1'b0;
    else if (job_free) job_valid_q <= desc_valid_i;
  end

  always @(posedge clk_i) begin
    if (load) begin
      tag_q        <= desc_tag_i;
      bad_q        <= bad;
      rule_q       <= rule;
      nop_q        <= nop;
      far_q        <= src_far || dst_far;
      scales_q     <= scales;
      turn_q       <= turn;
      segment_q    <= is_l0a ? `PTO_L0_L0A : is_l0b ? `PTO_L0_L0B
                    : is_l0a_mx ? `PTO_L0_L0A_MX : `PTO_L0_L0B_MX;
      unit_q       <= unit;
      src_q        <= src_base[14:0];
      src_room_q   <= src_room;
      dst_q        <= dst[27:9];
      src_first_q  <= src_first;
      src_reach_q  <= src_reach;
      dst_units_q  <= dst_units;
      length_q     <= length;
      last_row_q   <= last_row;
      mid_q        <= last_column[8:0];
      outer_q      <= turn ? last_row : 8'd0;
      src_stride_q <= src_stride[13:0];
      dst_stride_q <= dst_stride[6:0];
    end
  end

  // ---- LD-L06 last: the highest number, and a NOP accesses no byte ----
  wire [31:0] first     = scales_q ? {4'd0, src_first_q} : {src_first_q, 4'd0};
  wire [25:0] reach     = scales_q ? {4'd0, src_reach_q} : {src_reach_q, 4'd0};
  wire [34:0] src_left  = {{13{src_room_q[21]}}, src_room_q} - {3'd0, first} - {9'd0, reach};
  wire [24:0] dst_from  = scales_q ? {6'd0, dst_q} : {2'd0, dst_q, 4'd0};
  wire [24:0] dst_left  = (scales_q ? SCALE_BLOCKS : DATA_BLOCKS) - dst_from
                        - (scales_q ? {8'd0, dst_units_q} : {4'd0, dst_units_q, 4'd0});
  wire        l06       = far_q || src_left[34] || dst_left[24];     // less than none
  wire        bad_out   = !bad_q && !nop_q && l06;

  wire [11:0]           row   = scales_q ? {4'd0, length_q} : {length_q, 4'd0};
  wire [11:0]           square = 12'd63 >> unit_q;       // blocks of a square less 1

  wire [14:0]           src_block = src_q + first[14:0];
  wire [14:0]           dst_block = ({13'd0, segment_q} << SegmentLsb) | dst_from[14:0];
  wire [7:0]            is_rule   = bad_q ? {5'd0, rule_q} : bad_out ? 8'd6 : 8'd0;

  assign job_valid_o   = job_valid_q;
  assign busy_o        = job_valid_q;
  assign job_tag_o     = tag_q;
  assign job_verdict_o = {bad_q || nop_q || bad_out, bad_q || bad_out, is_rule};
  assign job_o         = {turn_q, unit_q, src_block,
                          scales_q ? {1'b0, src_stride_q} : {src_stride_q[10:0], 4'd0},
                          row, last_row_q, dst_block,
                          scales_q ? {8'd0, dst_stride_q} : {4'd0, dst_stride_q, 4'd0},
                          turn_q ? square : row - 12'd1, mid_q, outer_q};

  // Bits above the last field of the family are reserved.
  localparam integer UsedBits = `PTO_L0_DST_STRIDE_LSB + `PTO_L0_DST_STRIDE_CW;
  wire unused = &{1'b0, desc_i[`PTO_DESC_BITS-1:UsedBits], last_column[9], src_left[33:0],
                  dst_left[23:0]};
endmodule

`default_nettype wire
