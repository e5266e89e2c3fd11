// SPDX-License-Identifier: Apache-2.0
// Compares the Verilated functions of prove_arith.v with reference.c. tb/prove/prove.py and the tests
// call it and read what it prints, one record a line, words separated by blanks:
//
//   prove list                             unit NAME SWEEP CORNERS MODES TITLE
//   prove sweep NAME BEGIN END STRIDE [VARIANT]
//   prove corners NAME [VARIANT]           done INPUTS COMPARED WRONG SECONDS
//   prove check COUNT                      done COUNT COUNT WRONG SECONDS; the reference alone
//   prove eval                             for NAME MODE A B C lines of standard input: RTL REFERENCE
//
// sweep and corners print `at INPUTS` while they run, and `wrong MODE A B C RTL REFERENCE` for the
// first differences, each result as 16 hexadecimal digits. Exit code 0 unless the call is wrong.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "Vprove_arith.h"
#include "Vprove_arith___024root.h"
#include "inputs.h"
#include "reference.h"
#include "verilated.h"

namespace {

constexpr int LANES = 256;
constexpr int SHOWN = 5;

// Processor time, so that other work on the machine does not count.
double since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

class Proof {
 public:
  explicit Proof(int variant) : context_(new VerilatedContext), model_(new Vprove_arith(context_.get())) {
    model_->variant_i = static_cast<uint8_t>(variant);
    model_->go_i = 0;
    model_->eval();
  }
  ~Proof() { model_->final(); }

  uint32_t *a() { return &model_->rootp->prove_arith__DOT__op_a[0]; }
  uint32_t *b() { return &model_->rootp->prove_arith__DOT__op_b[0]; }
  uint32_t *c() { return &model_->rootp->prove_arith__DOT__op_c[0]; }

  // Evaluates one unit and mode on the operands in a(), b(), c() and compares the first n.
  void block(const Unit &unit, int mode, int n) {
    model_->unit_i = static_cast<uint8_t>(unit.number);
    model_->mode_i = static_cast<uint8_t>(mode);
    model_->go_i = 1;
    model_->eval();
    model_->go_i = 0;
    model_->eval();
    ref_block(unit.number, mode, n, a(), b(), c(), y_, z_);
    compared_ += n;
    const uint32_t *y = &model_->rootp->prove_arith__DOT__res_y[0];
    const uint32_t *z = &model_->rootp->prove_arith__DOT__res_z[0];
    const bool wide = unit.number == REF_WIDE;
    const size_t bytes = n * sizeof *y;
    if (!std::memcmp(y, y_, bytes) && (!wide || !std::memcmp(z, z_, bytes))) return;
    for (int k = 0; k < n; k++) {
      const uint32_t high = wide ? z[k] : 0;
      if ((y[k] == y_[k] && high == z_[k]) || ref_accepts(unit.number, mode, a()[k], b()[k], y[k], high))
        continue;
      if (wrong_++ < SHOWN)
        std::printf("wrong %d %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "%08" PRIx32
                    " %08" PRIx32 "%08" PRIx32 "\n",
                    mode, a()[k], b()[k], c()[k], high, y[k], z_[k], y_[k]);
    }
  }

  // One input: the results of both, as 64 bits.
  void one(const Unit &unit, int mode, Operands x) {
    a()[0] = x.a;
    b()[0] = x.b;
    c()[0] = x.c;
    block(unit, mode, 1);
    const uint32_t high = unit.number == REF_WIDE ? model_->rootp->prove_arith__DOT__res_z[0] : 0;
    std::printf("%08" PRIx32 "%08" PRIx32 " %08" PRIx32 "%08" PRIx32 "\n", high,
                model_->rootp->prove_arith__DOT__res_y[0], z_[0], y_[0]);
  }

  // All modes on `count` inputs, input k given by make(k).
  template <typename Make>
  void run(const Unit &unit, uint64_t count, Make make) {
    const auto start = std::clock();
    auto last = start;
    for (uint64_t done = 0; done < count;) {
      const int n = static_cast<int>(count - done < LANES ? count - done : LANES);
      for (int k = 0; k < n; k++) {
        const Operands x = make(done + k);
        a()[k] = x.a;
        b()[k] = x.b;
        c()[k] = x.c;
      }
      for (int mode : unit.modes) block(unit, mode, n);
      done += n;
      if (done % (1 << 20) == 0 && since(last) > 0.3) {
        last = std::clock();
        std::printf("at %" PRIu64 "\n", done);
        std::fflush(stdout);
      }
    }
    std::printf("done %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", count, compared_, wrong_,
                since(start));
  }

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vprove_arith> model_;
  uint32_t y_[LANES], z_[LANES];
  uint64_t compared_ = 0, wrong_ = 0;
};

const Unit *find(const char *name) {
  for (const Unit &unit : units())
    if (!std::strcmp(unit.name, name)) return &unit;
  return nullptr;
}

int list() {
  for (const Unit &unit : units())
    std::printf("unit %s %" PRIu64 " %zu %zu %s\n", unit.name, unit.size, unit.corners().size(),
                unit.modes.size(), unit.title);
  return 0;
}

int check(uint64_t count) {
  const auto start = std::clock();
  const uint64_t wrong = ref_self_check(count);
  std::printf("done %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", count, count, wrong, since(start));
  return 0;
}

int evaluate() {
  Proof proof(0);
  char name[32];
  int mode;
  Operands x;
  while (std::scanf("%31s %d %" SCNx32 " %" SCNx32 " %" SCNx32, name, &mode, &x.a, &x.b, &x.c) == 5) {
    const Unit *unit = find(name);
    if (!unit) return 2;
    proof.one(*unit, mode, x);
  }
  return 0;
}

uint64_t number(const char *text) { return std::strtoull(text, nullptr, 0); }

int run(int argc, char **argv) {
  const Unit *unit = find(argv[2]);
  const bool sweep = !std::strcmp(argv[1], "sweep");
  if (!unit || argc < (sweep ? 6 : 3)) return 2;
  const int at = sweep ? 6 : 3;
  Proof proof(argc > at ? static_cast<int>(number(argv[at])) : 0);
  if (sweep) {
    const uint64_t begin = number(argv[3]), end = number(argv[4]), stride = number(argv[5]);
    if (begin > end || end > unit->size || stride == 0) return 2;
    proof.run(*unit, (end - begin + stride - 1) / stride,
              [=](uint64_t k) { return unit->input(begin + k * stride); });
  } else {
    const std::vector<Operands> corners = unit->corners();
    proof.run(*unit, corners.size(), [&](uint64_t k) { return corners[k]; });
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (ref_init()) {
    std::fprintf(stderr, "this host or compiler has no IEEE 754 floats with subnormals\n");
    return 3;
  }
  if (argc == 2 && !std::strcmp(argv[1], "list")) return list();
  if (argc == 2 && !std::strcmp(argv[1], "eval")) return evaluate();
  if (argc == 3 && !std::strcmp(argv[1], "check")) return check(number(argv[2]));
  if (argc >= 3 && (!std::strcmp(argv[1], "sweep") || !std::strcmp(argv[1], "corners")))
    return run(argc, argv);
  return 2;
}
