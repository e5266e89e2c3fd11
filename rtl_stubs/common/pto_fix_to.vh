// SPDX-License-Identifier: Apache-2.0
//
// Codes of the results of pto_fix_lane: floats, and 8 + kind of fix_clamp for integers.
`ifndef PTO_FIX_TO_VH
`define PTO_FIX_TO_VH
`define PTO_FIX_TO_BITS   4'd0               // as they are
`define PTO_FIX_TO_F16    4'd1
`define PTO_FIX_TO_BF16   4'd2
`define PTO_FIX_TO_E4M3   4'd3
`define PTO_FIX_TO_HIF8   4'd4
`define PTO_FIX_TO_HYBRID 4'd5               // hif8
`define PTO_FIX_TO_S4     4'd8
`define PTO_FIX_TO_B8     4'd9               // u8, or s8 by the parameters of the lane
`define PTO_FIX_TO_S16    4'd11
`define PTO_FIX_TO_S32    4'd12
`endif
