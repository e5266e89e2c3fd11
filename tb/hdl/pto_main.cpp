// SPDX-License-Identifier: Apache-2.0
//
// cocotb's main loop for Verilator with a shortcut. After each time step cocotb looks for
// callbacks of every kind, which takes a third of the time of a simulation in which Python runs
// once in thousands of clocks. Here time advances as long as no callback has been called and none
// is registered for the current time step: only changes of monitored signals and the time of the
// next timer are checked. Callbacks and their order are unchanged.
//
// With PTO_MAIN_CLOCKS the loop also drives the clocks and calls the memory at the falling edge,
// like the processes in pto_harness.v for other simulators: a process with delays is a coroutine,
// which is taken from a queue, resumed and queued again twice a clock, and without one at the
// falling edge there is little to evaluate then.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"

// Ticks of simulated time in 1 ns; known once the model is made.
static vluint64_t ticks() {
    vluint64_t found = 1;
    for (int unit = Verilated::threadContextp()->timeprecision(); unit < -9; ++unit) found *= 10;
    return found;
}

static const vluint64_t HALF_CLOCK = 5;  // ns, as HalfClock in pto_harness.v
static const vluint64_t NEVER = ~0ULL;

// For tb/run/warm.py, in a fork of this process before anything is evaluated: adds plusargs to
// those of the command line. A fork has no threads of Verilator's pool, whose destructor would
// wait for them: it ends without destructors.
extern "C" void pto_forked(int count, const char *const *plusargs) {
    Verilated::threadContextp()->commandArgsAdd(count, const_cast<const char **>(plusargs));
    on_exit(
        [](int code, void *) {
            fflush(nullptr);
            _exit(code);
        },
        nullptr);
}

#if VM_TRACE
// Waves are recorded from one clock to another, given by the plusargs +pto_waves_from=CLOCK and
// +pto_waves_to=CLOCK; by default from the beginning, and to the end.
#include <csignal>
#if VM_TRACE_FST
#include "verilated_fst_c.h"
typedef VerilatedFstC PtoTraceBase;
#else
#include "verilated_vcd_c.h"
typedef VerilatedVcdC PtoTraceBase;
#endif

class PtoTrace final : public PtoTraceBase {
public:
    PtoTrace();
    // True for a time step that is to be recorded.
    bool wants(vluint64_t time) const { return time >= from && time <= to; }
    // Overrides the base class: cocotb's loop calls it for each time step.
    void dump(vluint64_t time) {
        if (wants(time)) PtoTraceBase::dump(time);
    }

private:
    vluint64_t from = 0, to = NEVER;
};
#define VerilatedFstC PtoTrace
#define VerilatedVcdC PtoTrace
#endif

// Wraps the model for cocotb's loop: an evaluation continues to the next callback of Python.
class PtoTop final : public Vtop {
public:
    using Vtop::Vtop;
    void eval_step();
#ifdef PTO_MAIN_CLOCKS
    // Overrides the base class: the model has no events for these clocks.
    bool eventsPending() { return true; }
    vluint64_t nextTimeSlot();
#endif

private:
    void drive_clocks();
    bool settle();
    bool next_slot(vluint64_t &time);
#ifdef PTO_MAIN_CLOCKS
    void tick();
    const vluint64_t ns = ticks();
    unsigned run = 15;                       // slots that have the next rising edge of clk
    vluint64_t next_edge = HALF_CLOCK * ns;  // of clk
    vluint64_t next_copy = NEVER;            // when copy_pins changes
#endif
};

#define Vtop PtoTop
#include "verilator.cpp"
#undef Vtop
#if VM_TRACE
#undef VerilatedFstC
#undef VerilatedVcdC

// Ticks of simulated time before a clock given as a plusarg; 0 without it.
static vluint64_t clock_ticks(const char *name) {
    const char *found = Verilated::commandArgsPlusMatch(name);
    const char *value = strchr(found, '=');
    return value ? strtoull(value + 1, nullptr, 10) * 2 * HALF_CLOCK * ticks() : 0;
}

// A simulation that is ended during a hang shows where it is.
static void close_and_end(int) {
    if (tfp) tfp->close();
    _exit(128 + SIGTERM);
}

PtoTrace::PtoTrace() {
    from = clock_ticks("pto_waves_from=");
    if (vluint64_t end = clock_ticks("pto_waves_to=")) to = end;
    std::signal(SIGTERM, close_and_end);
}
#endif

// $stop and $finish of a design, in the form of pto_vpi.h, in place of VL_STOP_MT() and
// VL_FINISH_MT(): the linker redirects the calls. The first is called after the message of an error,
// too: the simulation goes on, as in other simulators, and tb/run/messages.py distinguishes both.
static void end_of(const char *task, const char *file, int line) {
    VL_PRINTF("pto: %s: %s:%d, time %llu, scope -\n", task, file, line,
              static_cast<unsigned long long>(main_time));
}

extern "C" void __wrap__Z10VL_STOP_MTPKciS0_b(const char *file, int line, const char *hier,
                                              bool maybe) {
    if (!maybe) return vl_stop(file, line, hier);
    end_of("$stop", file, line);
    fflush(stdout);
}

extern "C" void __wrap__Z12VL_FINISH_MTPKciS0_(const char *file, int line, const char *hier) {
    if (*file) end_of("$finish", file, line);  // cocotb ends without a place
    vl_finish(file, line, hier);
}

#ifdef PTO_MAIN_CLOCKS
extern "C" int pto_tick(int pins, int active);

vluint64_t PtoTop::nextTimeSlot() {
    vluint64_t of_model = Vtop::eventsPending() ? Vtop::nextTimeSlot() : NEVER;
    return std::min(of_model, std::min(next_edge, next_copy));
}

// As at the falling edge in pto_harness.v, with the TICK_ bits of pto_state.h.
void PtoTop::tick() {
    const int flags = pto_tick(pins_used, activity);
    ++cycle;
    avail = flags & 15;
    wake ^= flags >> 4 & 1;
    reseed = flags >> 5 & 1;
    new_knobs ^= reseed;
    run = flags >> 6 & 15;
    report ^= flags >> 10 & 1;
    new_faults ^= flags >> 11 & 1;
    watch = flags >> 12 & 15;
}

// Applies the changes due now, once; called before each evaluation.
void PtoTop::drive_clocks() {
    if (main_time >= next_copy) {
        copy_pins = !copy_pins;
        next_copy = NEVER;
    }
    if (main_time < next_edge) return;
    next_edge += HALF_CLOCK * ns;
    clk = !clk;
    // A reset begins at any time: the running clocks are known at the edge.
    const unsigned edges = !clk ? 0 : all_running ? 15 : run;
    mte1_clk = edges >> 0 & 1;
    mte2_clk = edges >> 1 & 1;
    mte3_clk = edges >> 2 & 1;
    fix_clk = edges >> 3 & 1;
    if (clk) return;
    tick();
    if (pins_used) next_copy = main_time + ns;
}
#else
void PtoTop::drive_clocks() {}
#endif

// Evaluates until no signal changes, as cocotb's loop does; true if a callback ran.
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

// Finds the next time step; false when it does not depend on the model alone.
bool PtoTop::next_slot(vluint64_t &time) {
#if VM_TRACE
    if (tfp && tfp->wants(main_time)) return false;  // the loop is to dump this step
#endif
    if (Verilated::gotFinish() || !eventsPending()) return false;
    time = nextTimeSlot();
    return time < VerilatedVpi::cbNextDeadline();
}

void PtoTop::eval_step() {
    drive_clocks();
    // A callback may have written values or registered for a later phase of this time step.
    if (settle()) return;
    if (VerilatedVpi::hasCbs(cbReadWriteSynch) || VerilatedVpi::hasCbs(cbReadOnlySynch)) return;
    vluint64_t time;
    while (next_slot(time)) {
        eval_end_step();
        main_time = time;
        if (VerilatedVpi::callCbs(cbNextSimTime)) {
            settle_value_callbacks();
            drive_clocks();
            settle();
            return;
        }
        drive_clocks();
        Vtop::eval_step();
        if (settle_value_callbacks()) {
            if (VerilatedVpi::evalNeeded()) settle();
            return;
        }
    }
}
