// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the profile that the rows of strided ops depend on. Spec: profiles.md, dma.md 5.
  parameter integer LenBits        = 16,     // lengths and row counts end at 2^LenBits - 1: 16, 21
  parameter integer PadEndBlock    = 0,      // 1: a padded row ends with its last 32-byte block
  parameter integer TailFill       = 0,      // 1: an unpadded row fills its last 32-byte block
  parameter integer RowRepeatLegal = 0,      // 1: the GM stride of a load may be below the length
  parameter integer CompactLegal   = 0,      // 1: rows of any length without a gap are legal
  parameter integer PadUnselectedRegister = 0,  // 1: legacy pad counts alone select padding
  parameter integer LegacyPadElements = 0,   // 1: legacy pad counts are elements
