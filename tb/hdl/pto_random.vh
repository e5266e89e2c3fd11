// SPDX-License-Identifier: Apache-2.0
// Random numbers of the memories' stalls and jitters: Marsaglia's xorshift32, never zero. Included
// inside modules.
function [31:0] pto_next(input [31:0] state);
  begin
    pto_next = state ^ (state << 13);
    pto_next = pto_next ^ (pto_next >> 17);
    pto_next = pto_next ^ (pto_next << 5);
  end
endfunction

// Uniform in 0 to `most`, from a random state.
function [31:0] pto_uniform(input [31:0] state, input [7:0] most);
  pto_uniform = ({16'd0, state[31:16]} * ({24'd0, most} + 32'd1)) >> 16;
endfunction

// A start state for stream `stream` of seed `value`.
function [31:0] pto_seed(input [31:0] value, input [31:0] stream);
  begin
    pto_seed = (value + 32'd1) * 32'h9e3779b1 ^ (stream + 32'd1) * 32'h85ebca6b;
    if (pto_seed == 32'd0) pto_seed = 32'd1;
    pto_seed = pto_next(pto_next(pto_next(pto_seed)));
  end
endfunction
