// SPDX-License-Identifier: Apache-2.0
//
// Every function of pto_fix_convert.vh, pto_fix_arith.vh, pto_fix_mul.vh and pto_fix_atomic.vh with
// arrays of operands and results that the C++ program around it (prove.cpp) fills and reads: one
// rising edge of go_i evaluates one function, selected by unit_i and mode_i, on all lanes, so that
// the overhead of the simulator is small. With PROVE_FAULTS, the name of a file that uses
// prove_units.vh in more generate blocks, there are further copies of the functions
// (tests/prove/test_arith.py).
`default_nettype none

module prove_arith #(
    parameter Lanes = 256                    // operands for one edge
) (
    input wire       go_i,                   // rising edge: evaluate
    input wire [7:0] variant_i,              // copy of the functions, 0 for the true one
    input wire [4:0] unit_i,                 // function
    input wire [2:0] mode_i                  // its sat clause, code, kind or op
);
  // verilator lint_off MULTIDRIVEN
  // Only the copy that variant_i names writes.
  reg [31:0] op_a[0:Lanes-1] /*verilator public_flat_rw*/;  // operands
  reg [31:0] op_b[0:Lanes-1] /*verilator public_flat_rw*/;
  reg [31:0] op_c[0:Lanes-1] /*verilator public_flat_rw*/;
  reg [31:0] res_y[0:Lanes-1] /*verilator public_flat_rw*/;  // results, low word
  reg [31:0] res_z[0:Lanes-1] /*verilator public_flat_rw*/;  // high word of the wide ones
  reg signed [34:0] q;
  integer    k;
  // verilator lint_on MULTIDRIVEN

  `define PROVE_UNIT(number, result) \
      number: \
        if (`PROVE_ONLY < 0 || `PROVE_ONLY == number) \
          for (k = 0; k < Lanes; k = k + 1) res_y[k] = result;

  // A signed result of at most 35 bits; the high word counts for the wide one alone.
  `define PROVE_ROUND(number, result) \
      number: \
        if (`PROVE_ONLY < 0 || `PROVE_ONLY == number) \
          for (k = 0; k < Lanes; k = k + 1) begin \
            q = result; \
            res_y[k] = q[31:0]; \
            res_z[k] = {{29{q[34]}}, q[34:32]}; \
          end

  generate
    if (1) begin : true_one
      `define PROVE_CONVERT "pto_fix_convert.vh"
      `define PROVE_ARITH "pto_fix_arith.vh"
      `define PROVE_MUL "pto_fix_mul.vh"
      `define PROVE_ATOMIC "pto_fix_atomic.vh"
      `define PROVE_VARIANT 0
      `define PROVE_ONLY -1
      `include "prove_units.vh"
    end
  `ifdef PROVE_FAULTS
    `include `PROVE_FAULTS
  `endif
  endgenerate
endmodule

`default_nettype wire
