// SPDX-License-Identifier: Apache-2.0
// First-in first-out buffer; the oldest entry shows while `valid` is high.
module axi_copy_fifo #(
  parameter int Width = 8,
  parameter int Depth = 2    // a power of two
) (
  input  logic             clk,
  input  logic             rst_n,
  input  logic             push,      // only while not full
  input  logic [Width-1:0] din,
  output logic             full,
  output logic             valid,
  output logic [Width-1:0] dout,
  input  logic             pop        // only while valid
);
  localparam int Ptr = $clog2(Depth);

  logic [Width-1:0] mem [0:Depth-1];
  logic [Ptr:0] head, tail;           // one bit more than the address separates full from empty

  assign valid = head != tail;
  assign full  = head[Ptr-1:0] == tail[Ptr-1:0] && head[Ptr] != tail[Ptr];
  assign dout  = mem[tail[Ptr-1:0]];

  always_ff @(posedge clk) if (push) mem[head[Ptr-1:0]] <= din;

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      head <= '0;
      tail <= '0;
    end else begin
      if (push) head <= head + 1'b1;
      if (pop)  tail <= tail + 1'b1;
    end
endmodule
