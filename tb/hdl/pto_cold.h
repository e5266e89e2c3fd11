// SPDX-License-Identifier: Apache-2.0
//
// Verilator includes this in its model (-FI). The checkers report from some hundred places, almost
// never: as a cold function the report has its calls moved out of the code that runs in each clock,
// which is larger than the instruction cache of most processors. Without effect where Verilator
// names the function otherwise.
#include <cstdint>
#include <string>

class Vtop___024root;
void Vtop___024root____Vdpiimwrap_pto_harness__DOT__pto_error_TOP(
    uint32_t slot, std::string text, uint64_t a, uint64_t b) __attribute__((cold));
