// SPDX-License-Identifier: Apache-2.0
//
// Properties of pto_row_words on words of 16 bytes, for rows of up to 63: a word stays until it is
// taken, the words of a row follow each other, with strobes for the bytes of the row and no others,
// and carry the data, the pad or the first element; words of a failed op are not written, and an op
// ends with its last word, once. Of each byte, one bit is compared.
// Sources: common/pto_row_words.sv
// Variant: Line=16
// Bugs: wlast_missing_at_page:last_exact first_strobe_full:strobes last_strobe_full:strobes
// Bugs: pad_phase_at_data_end:value done_before_grant:end_exact dst_req_moves:stable
// Bugs: tail_element_of_8_as_4:value tail_element_of_row_before:value tail_phase_of_word:value
// Bugs: tail_phase_at_data_end:value tail_second_group_lost:value bubble_after_row_word:step_exact
`include "pto_records.vh"

module prove #(
  parameter integer Line = 16                // bytes of a line
) (
  input wire              clk,
  input wire              row_valid,
  input wire              cut,
  input wire              last,
  input wire [3:0]        id,
  input wire [2:0]        space,
  input wire [13:0]       addr,
  input wire [5:0]        len,
  input wire [5:0]        left,
  input wire [5:0]        foot,
  input wire [3:0]        pattern,           // bit 0 of each byte, as of a line; the others are 0
  input wire              fill,
  input wire [1:0]        elem,
  input wire              line_valid,
  input wire [Line-1:0]   line,
  input wire [15:0]       err,
  input wire              out_ready
);
  reg rst_n = 1'b0;
  always @(posedge clk) rst_n <= 1'b1;

  integer            k;
  reg [31:0]         pattern_bytes;
  reg [8*Line-1:0]   line_bytes;
  always @* begin
    for (k = 0; k < 4; k = k + 1) pattern_bytes[8*k +: 8] = {7'd0, pattern[k]};
    for (k = 0; k < Line; k = k + 1) line_bytes[8*k +: 8] = {7'd0, line[k]};
  end

  wire         row_ready, line_ready, out_valid, out_last, fin;
  wire [3:0]   out_id;
  wire [2:0]   out_space;
  wire [19:0]  out_addr;
  wire [15:0]  be;
  wire [127:0] data;
  pto_row_words #(.WordBytes(16), .LineBytes(Line)) u_words (
    .clk_i(clk), .rst_ni(rst_n), .row_valid_i(row_valid), .row_ready_o(row_ready),
    .row_i({cut, last, id, space, 6'd0, addr, 14'd0, len, left, 15'd0, foot, pattern_bytes, fill,
             elem}),
    .line_valid_i(line_valid), .line_ready_o(line_ready), .line_i(line_bytes), .err_i(err),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_id_o(out_id), .out_space_o(out_space),
    .out_addr_o(out_addr), .out_be_o(be), .out_data_o(data), .out_last_o(out_last),
    .fin_valid_o(fin)
  );
  (* hierconn *) wire        \u_words.step ;
  (* hierconn *) wire        \u_words.active_q ;
  (* hierconn *) wire        \u_words.out_full_q ;
  (* hierconn *) wire [15:0] \u_words.index_q ;
  (* hierconn *) wire [3:0]  \u_words.lane_q ;
  (* hierconn *) wire [6:0]  \u_words.begin_q ;
  (* hierconn *) wire [21:0] \u_words.data_end_q ;
  (* hierconn *) wire [21:0] \u_words.row_end_q ;

  // The row in work, and where it, its data and its bytes end, from the start of the next word on.
  reg         busy = 1'b0;
  reg         mere, ends, fills;
  reg  [3:0]  op, start;
  reg  [2:0]  memory;
  reg  [3:0]  pad;
  reg  [3:0]  size;                          // of an element
  reg  [10:0] index;                         // of the next word
  reg         first, second;                 // it is the first, the second
  reg  [7:0]  data_from, data_to, row_to;
  reg  [7:0]  element;                       // bit 0 of the bytes of the first element
  wire        take  = rst_n && row_valid && row_ready;
  wire        step  = \u_words.step ;        // a word is made
  wire        final_word = mere || row_to <= 8'd16;
  wire        needs = !mere && data_from < data_to && data_from < 8'd16 && data_to != 8'd0;

  function [7:0] less;                       // one word on
    input [7:0] distance;
    less = distance > 8'd16 ? distance - 8'd16 : 8'd0;
  endfunction

  // Bit 0 of each byte of the next word, and its strobes.
  reg [15:0] given, ahead, behind, word, strobe;
  reg [7:0]  element_now;
  reg [2:0]  phase;
  always @* begin
    for (k = 0; k < 16; k = k + 1)
      given[k] = index[0] ? line[(16 + k) % Line] : line[k];
    ahead = given >> start;
    behind = given << (5'd16 - {1'b0, start});
    element_now = element;
    for (k = 0; k < 8; k = k + 1)
      if (first && start + k < 16) element_now[k] = ahead[k];
      else if (second && start + k >= 16) element_now[k] = behind[k];
    for (k = 0; k < 16; k = k + 1) begin
      phase     = (k[2:0] - start[2:0]) & (size[2:0] - 3'd1);
      word[k]   = k >= data_from && k < data_to ? given[k]
                : fills ? element_now[phase] : pad[k % 4];
      strobe[k] = k < row_to && (!first || k >= start);
    end
  end

  // The word that is made, until it leaves.
  reg         full = 1'b0;
  reg         write, fins, lasts;
  reg  [3:0]  its_op;
  reg  [2:0]  its_memory;
  reg  [10:0] its_index;
  reg  [15:0] its_word, its_strobe;
  reg  [15:0] its_care;                      // disabled lanes carry the pattern, if there is one
  wire        leave = full && (out_ready || !write);
  always @(posedge clk) if (rst_n) begin
    full <= step || (full && !leave);
    if (step) begin
      write      <= !mere && !err[op];
      fins       <= ends && final_word;
      lasts      <= final_word || index[7:0] == 8'd255;
      its_op     <= op;
      its_memory <= memory;
      its_index  <= index;
      its_word   <= word;
      its_strobe <= strobe;
      its_care   <= fills ? strobe : 16'hFFFF;
      element    <= element_now;
    end
    if (take) begin
      {mere, ends, fills, op, start, memory} <= {cut, last, fill, id, addr[3:0], space};
      pad       <= pattern;
      size      <= 4'd1 << elem;
      index     <= {1'b0, addr[13:4]};
      first     <= 1'b1;
      second    <= 1'b0;
      data_from <= {4'd0, addr[3:0]} + {2'd0, left};
      data_to   <= {4'd0, addr[3:0]} + {2'd0, left} + {2'd0, len};
      row_to    <= {4'd0, addr[3:0]} + {2'd0, foot};
    end else if (step) begin
      index     <= index + 11'd1;
      first     <= 1'b0;
      second    <= first;
      data_from <= less(data_from);
      data_to   <= less(data_to);
      row_to    <= less(row_to);
    end
    busy <= take || (busy && !(step && final_word));
  end

  reg          held = 1'b0;                  // a word was offered and not taken
  reg  [43:0]  held_word;
  reg  [15:0]  held_data, bits;
  reg          line_held = 1'b0;
  reg [Line-1:0] held_line;
  always @* for (k = 0; k < 16; k = k + 1) bits[k] = data[8*k];
  always @(posedge clk) if (rst_n) begin
    held      <= out_valid && !out_ready;
    held_word <= {out_id, out_space, out_addr, be, out_last};
    held_data <= bits;
    line_held <= line_valid && !line_ready;
    held_line <= line;
  end

  always @* begin
    // The bytes of a row hold its pad and its data; a row that is filled has no pad before its data,
    // and an element.
    assume(cut || foot != 6'd0);
    assume({1'b0, left} + {1'b0, len} <= {1'b0, foot});
    assume(!fill || (left == 6'd0 && {1'b0, len} >= (7'd1 << elem)));
    // A line stays until it is used up.
    assume(!line_held || (line_valid && line == held_line));
    if (rst_n) begin
      lemma_busy: assert(\u_words.active_q == busy && \u_words.out_full_q == full);
      lemma_place: assert(!busy || (\u_words.index_q == {5'd0, index}
                                    && \u_words.lane_q == (first ? start : 4'd0)));
      lemma_ends: assert(!busy || mere || (\u_words.begin_q == data_from[6:0] && !data_from[7]
                                           && \u_words.data_end_q == {14'd0, data_to}
                                           && \u_words.row_end_q == {14'd0, row_to}));
      stable: assert(!held || (out_valid && held_data == bits
                               && held_word == {out_id, out_space, out_addr, be, out_last}));
      row_ready_exact: assert(row_ready == (!busy || (step && final_word)));
      step_exact: assert(step == (busy && (!full || leave) && (!needs || line_valid)));
      line_used: assert(line_ready == (step && needs && (Line == 16 || index[0]
                                                         || data_to <= 8'd16)));
      offered: assert(out_valid == (full && write));
      place: assert(!out_valid || out_addr == {5'd0, its_index, 4'd0});
      whose: assert(!full || (out_id == its_op && out_space == its_memory));
      strobes: assert(!out_valid || be == its_strobe);
      value: assert(!out_valid || ((bits ^ its_word) & its_care) == 16'd0);
      last_exact: assert(!out_valid || out_last == lasts);
      not_empty: assert(!out_valid || be != 16'd0);
      end_exact: assert(fin == (leave && fins));
      reach_four_words: assert(!(step && !first && !second && !mere && needs));
      reach_drop: assert(!(leave && !write && fins));
      reach_filled: assert(!(step && fills && !first && !needs));
      reach_page: assert(!(step && !final_word && index[7:0] == 8'd255));
    end
  end
endmodule
