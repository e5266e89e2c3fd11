// SPDX-License-Identifier: Apache-2.0
//
// What the pass that starts ABC reads; the script of a proof puts it aside.
module trivial (
  input  wire a_i,
  input  wire b_i,
  output wire y_o
);
  assign y_o = a_i ^ b_i;
endmodule
