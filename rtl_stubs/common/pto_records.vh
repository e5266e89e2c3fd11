// SPDX-License-Identifier: Apache-2.0
//
// Records that pass between the modules of the engines. They stand outside of any module and
// package, because Icarus Verilog 11 aborts at a record of a package; the ports of an engine have
// none (docs/contract.md). `PTO_x_BITS is the width of record x, as the width of a queue: Icarus
// 11 and Yosys do not take $bits of a type there.
`ifndef PTO_RECORDS_VH
`define PTO_RECORDS_VH
`include "pto_desc.vh"

`define PTO_NUM_ACTIVE 16                    // ops in flight after the check, in each unit

typedef struct packed {                      // verdict on a descriptor
  logic        idle;                         // no rows: bad op or NOP
  logic        bad;                          // a rule is violated, or the opcode is not served
  logic [7:0]  rule;                         // number of that rule, 0: opcode not served
} pto_verdict_t;

`define PTO_ERR_BITS 48
typedef struct packed {                      // a failed access
  logic        valid;                        // there is one
  logic [3:0]  id;                           // op number
  logic [2:0]  status;                       // status code
  logic [39:0] addr;                         // address
} pto_err_t;

`define PTO_READ_BITS 47
typedef struct packed {                      // bytes to read from an on-chip memory
  logic [3:0]  id;                           // op number
  logic [2:0]  space;                        // memory
  logic [19:0] addr;                         // byte address
  logic [19:0] len;                          // bytes, at least 1
} pto_read_t;

`define PTO_LANES_BITS 32
typedef struct packed {                      // a row for pto_realign
  logic [5:0]  src;                          // low bits of its source address
  logic [5:0]  dst;                          // low bits of its destination address
  logic [19:0] len;                          // bytes, at least 1
} pto_lanes_t;

`define PTO_PIECE_BITS 49
typedef struct packed {                      // a row without pad; the first fields of pto_words_t
  logic        cut;                          // no row: the op ends here, cut short
  logic        last;                         // last record of the op
  logic [3:0]  id;                           // op number
  logic [2:0]  space;                        // memory
  logic [19:0] addr;                         // byte address
  logic [19:0] len;                          // bytes, at least 1
} pto_piece_t;

`define PTO_WORDS_BITS 111
typedef struct packed {                      // a row for pto_row_words
  logic        cut;                          // no row: the op ends here, cut short
  logic        last;                         // last record of the op
  logic [3:0]  id;                           // op number
  logic [2:0]  space;                        // memory
  logic [19:0] addr;                         // byte address
  logic [19:0] len;                          // data bytes; 0: a row of pattern, without lines
  logic [5:0]  left;                         // pad bytes before the data
  logic [20:0] foot;                         // bytes in all, pad and fill included
  logic [31:0] pattern;                      // pad pattern
  logic        fill;                         // the pad repeats the first element of the row
  logic [1:0]  elem;                         // log2 of its bytes
} pto_words_t;

`define PTO_ATOMIC_BITS 6
typedef struct packed {                      // atomic update of GM by an op
  logic        nosat;                        // f16: no saturation, NaN as it is
  logic [1:0]  op;                           // 0 add, 1 max, 2 min
  logic [2:0]  kind;                         // type of the elements, 0: plain store
} pto_atomic_t;

typedef struct packed {                      // a row between two sides, of which loc is on chip
  pto_atomic_t atomic;                       // of GM
  logic [1:0]  widen;                        // ext is 1 bf16, 2 f16 in half the bytes, else 0
  logic [2:0]  ext_space;                    // memory of the other side, if it is on chip, too
  logic [39:0] ext_addr;                     // byte address of the other side
  pto_words_t  loc;                          // the on-chip side, and what both have
} pto_row_t;

`define PTO_DMA_JOB_BITS 491
typedef struct packed {                      // rows of an op in up to four loops
  pto_row_t     row;                         // the first row
  logic [4:0]   more;                        // more local bytes of the last row of each group
  logic [83:0]  last;                        // counts less 1: loop 2, 1, 0, rows
  logic [159:0] ext_stride;                  // ext strides in the same order
  logic [79:0]  loc_stride;                  // local strides in the same order
} pto_dma_job_t;

typedef struct packed {                      // load to L0, in blocks of 32 bytes
  logic        turn;                         // transposed
  logic [1:0]  unit;                         // log2 of the nibbles of an element
  logic [14:0] src;                          // L1 block of the first row
  logic [14:0] src_pitch;                    // blocks from row to row
  logic [11:0] row;                          // blocks of a row, at least 1
  logic [7:0]  rows;                         // rows less 1
  logic [14:0] dst;                          // first block in L0, segment included
  logic [14:0] dst_pitch;                    // blocks from run to run of the middle loop
  logic [11:0] run;                          // blocks of a run less 1: a row, or a square
  logic [8:0]  mid;                          // iterations of the middle loop less 1
  logic [7:0]  outer;                        // of the outer loop, from square to square, less 1
} pto_l0_job_t;

typedef struct packed {                      // a line of 32 bytes of a load to L0
  logic        turn;                         // of a square
  logic [1:0]  unit;                         // log2 of the nibbles of an element
  logic [5:0]  index;                        // number of the line, or column, in its square
} pto_l0_line_t;

`define PTO_BLOCK_BITS 20
typedef struct packed {                      // 32 bytes to write to an on-chip memory
  logic        fin;                          // last of its op
  logic [3:0]  id;                           // op number
  logic [14:0] addr;                         // number of the block
} pto_block_t;

`define PTO_NZ_JOB_BITS 264
typedef struct packed {                      // repacking to NZ
  logic        tiled;                        // dn2nz: rows go through the transpose tiles
  logic        small_c0;                       // small-C0 packing
  logic [1:0]  elem;                         // log2 of the element size
  logic        dense;                        // a matrix is read as one span
  logic        pack;                         // a row is the source of one small-C0 block
  logic [2:0]  chans;                        // small-C0: channels, 1 to 4
  logic [5:0]  tail;                         // pack: bytes of the last row of a matrix
  logic [17:0] row;                          // bytes of a source row
  logic [15:0] rows;                         // source rows of a matrix, at least 1
  logic [11:0] groups;                       // matrices less 1
  logic [39:0] src;                          // GM address of the first row
  logic [39:0] inner;                        // GM distance of rows
  logic [39:0] outer;                        // GM distance of matrices
  logic [14:0] dst;                          // first L1 block
  logic [14:0] loop2;                        // blocks from row n to n + 1
  logic [14:0] loop3;                        // blocks from C0 column c to c + 1
  logic [14:0] loop4;                        // blocks from group g to g + 1
  logic [22:0] span;                         // dense: bytes from first to last of a matrix
} pto_nz_job_t;

`define PTO_NZ_ROW_BITS 84
typedef struct packed {                      // a source row of a repacking
  logic        cut;                          // no row: the op ends here, cut short
  logic [3:0]  id;                           // op number
  logic [5:0]  lane;                         // lane of its first byte in its bus word
  logic        share;                        // its first word is the last of the row before
  logic        final_row;                    // last row of the op
  logic        tiled;                        // goes to a tile
  logic        small_c0;                       // small-C0 packing
  logic [1:0]  elem;                         // log2 of the element size
  logic [2:0]  chans;                        // small-C0: channels
  logic [2:0]  slot;                         // small-C0: cell of the block
  logic        full;                         // small-C0: last row of its block
  logic [14:0] base;                         // first L1 block of the row or the tile
  logic [14:0] pace;                         // to the block of the next line or tile column
  logic [4:0]  index;                        // tiled: row of the tile
  logic [5:0]  count;                        // tiled: rows of the tile
  logic        close;                        // tiled: last row of the tile
  logic [17:0] len;                          // bytes, at least 1
} pto_nz_row_t;

typedef struct packed {                      // a line of 32 bytes of such a row
  logic        first;                        // first line of its row
  logic        last;                         // last line of its row
  pto_nz_row_t row;                          // the row
} pto_nz_line_t;

`define PTO_BURST_BITS 55
typedef struct packed {                      // a burst of GM
  logic        cut;                          // no burst: the op ends here, cut short
  logic        last;                         // last burst of its op
  logic [3:0]  id;                           // op number
  logic [39:0] addr;                         // address of the first bus word
  logic [8:0]  beats;                        // beats, 1 to 256, within a 4 KiB page
} pto_burst_t;

`define PTO_GM_ROW_BITS 69
typedef struct packed {                      // a row of GM
  logic        cut;                          // no row: the op ends here, cut short
  logic        last;                         // last record of its op
  logic [3:0]  id;                           // op number
  logic [39:0] addr;                         // byte address
  logic [22:0] len;                          // bytes, at least 1 unless cut
} pto_gm_row_t;

typedef struct packed {                      // write-back: loops over L0C words
  logic [3:0]  id;                           // op number
  logic        by_group;                     // the innermost words are groups, else rows
  logic        halves;                       // half groups
  logic [7:0]  last_group;                   // groups of 16 columns less 1
  logic [4:0]  tail;                         // columns of the last group, 1 to 16
  logic [13:0] src;                          // first word
  logic [12:0] inner_last;                   // innermost words less 1
  logic [12:0] inner_final;                  // the same in the last tile
  logic [13:0] inner_step;                   // from one to the next
  logic [12:0] outer_last;                   // second loop
  logic [13:0] outer_step;                   // of two half groups where there are such
  logic [6:0]  tile_last;                    // tiles less 1
  logic [13:0] tile_step;                    // words between tiles
  logic [15:0] rep_last;                     // repeats less 1
  logic [13:0] rep_step;                     // words between repeats
} pto_fix_walk_t;

typedef struct packed {                      // write-back: loops over runs of destination bytes
  logic [3:0]  id;                           // op number
  logic [2:0]  space;                        // destination memory
  logic        swap;                         // the second repeat goes to UB sub-block 1
  logic [39:0] dst;                          // first byte
  logic [12:0] run_last;                     // runs less 1
  logic [39:0] run_pitch;                    // bytes from one to the next
  logic [26:0] run_len;                      // bytes of a run, at least 1
  logic [26:0] run_final;                    // the same in the last tile
  logic [6:0]  tile_last;                    // tiles less 1
  logic [39:0] run_tile;                     // bytes between tiles
  logic [15:0] rep_last;                     // repeats less 1
  logic [39:0] run_rep;                      // bytes between repeats
} pto_fix_runs_t;

`define PTO_FIX_NOTE_BITS 20
typedef struct packed {                      // write-back: what accompanies an L0C word
  logic [3:0]  id;                           // op number
  logic [7:0]  group;                        // group of 16 columns
  logic        last;                         // last word of its op
  logic [4:0]  cols;                         // columns that count, 1 to 16
  logic        high;                         // columns 8 to 15 count, not 0 to 7
  logic        close;                        // last row of a tile
} pto_fix_note_t;

typedef struct packed {                      // write-back: a piece of a run, within a 4 KiB page
  logic [3:0]  id;                           // op number
  logic        first;                        // first piece of its run
  logic        last;                         // last piece of its op
  logic [2:0]  space;                        // destination memory
  logic [39:0] addr;                         // byte address
  logic [12:0] len;                          // bytes, 1 to 4096
  logic [26:0] run;                          // with the first piece: bytes of its run
} pto_fix_piece_t;

`endif
