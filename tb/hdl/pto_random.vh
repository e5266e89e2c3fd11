// SPDX-License-Identifier: Apache-2.0
// Random numbers of the memories' stalls: Marsaglia's xorshift32, never zero. Included inside
// modules.
function [31:0] pto_next(input [31:0] state);
  begin
    pto_next = state ^ (state << 13);
    pto_next = pto_next ^ (pto_next >> 17);
    pto_next = pto_next ^ (pto_next << 5);
  end
endfunction

// A start state for stream `stream` of seed `seed`.
function [31:0] pto_seed(input [31:0] seed, input [31:0] stream);
  begin
    pto_seed = (seed + 32'd1) * 32'h9e3779b1 ^ (stream + 32'd1) * 32'h85ebca6b;
    if (pto_seed == 32'd0) pto_seed = 32'd1;
    pto_seed = pto_next(pto_next(pto_next(pto_seed)));
  end
endfunction
