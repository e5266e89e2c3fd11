# SPDX-License-Identifier: Apache-2.0
"""A counterexample as a waveform: the circuit of a property is run with the inputs that ABC found.

The circuit is an AIGER file of Yosys (format: the AIGER paper of Biere, Heljanko and Wieringa,
2011, binary form), its signals are named by the map beside it (``write_aiger -vmap``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path


class Circuit:
    """And-inverter graph with latches, from a binary AIGER file.

    Attributes:
        inputs: Number of inputs.
        bad: Literals of the properties: twice a variable, and 1 more if it is inverted.
    """

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        head, at = data[: data.index(b"\n")], data.index(b"\n") + 1
        _, self.inputs, latches, outputs, ands, bad, *more = map(int, head.split()[1:])
        rows = latches + outputs + bad + sum(more)
        lines = data[at:].split(b"\n", rows)
        self._next = [int(line.split()[0]) for line in lines[:latches]]
        self.bad = [int(line) for line in lines[latches + outputs :][:bad]]
        self._ands: list[tuple[int, int]] = []
        codes, at = lines[rows], 0
        for gate in range(self.inputs + latches + 1, self.inputs + latches + ands + 1):
            deltas = []
            for _ in range(2):
                delta = shift = 0
                while codes[at] & 0x80:
                    delta |= (codes[at] & 0x7F) << shift
                    shift, at = shift + 7, at + 1
                deltas.append(delta | codes[at] << shift)
                at += 1
            left = 2 * gate - deltas[0]
            self._ands.append((left, left - deltas[1]))

    def run(self, rows: Sequence[str]) -> Iterator[list[int]]:
        """Yields the value of each variable in each clock; latches begin with 0.

        Args:
            rows: Inputs of each clock, as digits.
        """
        state = [0] * len(self._next)
        for row in rows:
            values = [0, *(digit == "1" for digit in row), *state]
            for left, right in self._ands:
                values.append((values[left >> 1] ^ (left & 1)) & (values[right >> 1] ^ (right & 1)))
            yield values
            state = [values[literal >> 1] ^ (literal & 1) for literal in self._next]


def write(circuit: Path, names: Path, rows: Sequence[str], wave: Path) -> None:
    """Writes the named signals of each clock as a VCD file, one clock each 10 ns.

    Args:
        circuit: AIGER file.
        names: Its map.
        rows: Inputs of each clock, as digits.
        wave: The file to write.
    """
    signals: dict[str, dict[int, int]] = {}
    for line in names.read_text().splitlines():
        kind, literal, bit, name = (line.split(maxsplit=3) + [""] * 3)[:4]
        if kind == "wire" and "$" not in name and name != "clk":
            signals.setdefault(name, {})[int(bit)] = int(literal)
    lines = ["$timescale 1ns $end", "$scope module prove $end", "$var wire 1 clk clk $end"]
    for code, name in enumerate(signals):
        *scopes, last = name.split(".")
        lines += [f"$scope module {scope} $end" for scope in scopes]
        lines.append(f"$var wire {max(signals[name]) + 1} s{code} {last} $end")
        lines += ["$upscope $end"] * len(scopes)
    lines += ["$upscope $end", "$enddefinitions $end"]
    before: dict[str, str] = {}
    for clock, values in enumerate(Circuit(circuit).run(rows)):
        lines += [f"#{10 * clock}", "1clk"]
        for code, (name, bits) in enumerate(signals.items()):
            now = "".join(
                str(values[bits[bit] >> 1] ^ (bits[bit] & 1)) if bit in bits else "x"
                for bit in range(max(bits), -1, -1)
            )
            if before.get(name) != now:
                before[name] = now
                lines.append(f"b{now} s{code}")
        lines += [f"#{10 * clock + 5}", "0clk"]
    wave.write_text("\n".join([*lines, f"#{10 * len(rows)}", ""]))
