// SPDX-License-Identifier: Apache-2.0
// Inputs of a unit in prove.cpp: an index space to sweep, and constructed corners.
#ifndef PTO_ARITH_INPUTS_H
#define PTO_ARITH_INPUTS_H

#include <cstdint>
#include <vector>

struct Operands {
  uint32_t a, b, c = 0;
};

struct Unit {
  const char *name;
  const char *title;
  int number;                 // enum ref_unit
  std::vector<int> modes;     // all of them are tried on every input
  uint64_t size;              // indices 0..size-1 of the sweep
  Operands (*input)(uint64_t index);
  std::vector<Operands> (*corners)();
};

const std::vector<Unit> &units();

#endif
