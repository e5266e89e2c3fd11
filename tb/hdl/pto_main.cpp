// SPDX-License-Identifier: Apache-2.0
//
// cocotb's main loop for Verilator with a shortcut. After each time step cocotb looks for
// callbacks of every kind, which takes a third of the time of a simulation in which Python is
// asked for once in thousands of clocks. Here time goes on as long as no callback has been called
// and none is registered for the time step under way: only changes of watched signals and the
// time of the next timer are looked at. What is called, and in which order, stays as it was.
#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"

// Stands in for the model in cocotb's loop: an evaluation goes on to where Python has a say.
class PtoTop final : public Vtop {
public:
    using Vtop::Vtop;
    void eval_step();

private:
    bool settle();
    bool next_slot(vluint64_t &time);
};

#define Vtop PtoTop
#include "verilator.cpp"
#undef Vtop

// Evaluates until nobody has changed a signal, as cocotb's loop does; true if a callback ran.
bool PtoTop::settle() {
    bool called = false;
    do {
        Vtop::eval_step();
        VerilatedVpi::clearEvalNeeded();
        VerilatedVpi::doInertialPuts();
        called |= settle_value_callbacks();
    } while (VerilatedVpi::evalNeeded());
    return called;
}

// Finds the next time step; false when it is not up to the model alone.
bool PtoTop::next_slot(vluint64_t &time) {
#if VM_TRACE
    if (tfp) return false;  // every step is to be dumped
#endif
    if (Verilated::gotFinish() || !eventsPending()) return false;
    time = nextTimeSlot();
    return time < VerilatedVpi::cbNextDeadline();
}

void PtoTop::eval_step() {
    // Whoever was called may have put values or asked for a later part of this time step.
    if (settle()) return;
    if (VerilatedVpi::hasCbs(cbReadWriteSynch) || VerilatedVpi::hasCbs(cbReadOnlySynch)) return;
    vluint64_t time;
    while (next_slot(time)) {
        eval_end_step();
        main_time = time;
        if (VerilatedVpi::callCbs(cbNextSimTime)) {
            settle_value_callbacks();
            settle();
            return;
        }
        Vtop::eval_step();
        if (settle_value_callbacks()) {
            if (VerilatedVpi::evalNeeded()) settle();
            return;
        }
    }
}
