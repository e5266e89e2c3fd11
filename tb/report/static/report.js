// SPDX-License-Identifier: Apache-2.0
// Sorting, filters and copying. Without it every page is complete, in the order that it was written in.
"use strict";

(() => {
  // Tables: <table id data-sortable>, heads with data-type="number" or "text" and a data-column name.
  // A cell's value is its data-value, else its text.

  const cellValue = (cell) => cell?.dataset.value ?? cell?.textContent.trim() ?? "";
  const numberOf = (text) => {
    const plain = text.replace(/[\s\u202f\u00a0,%+]/g, "").replace("\u2212", "-");
    return plain === "" ? Number.NEGATIVE_INFINITY : Number.parseFloat(plain);
  };

  // Equal rows stay in the order of the page: sorting is stable.
  function compare(kind, descending) {
    const sign = descending ? -1 : 1;
    return (one, other) => {
      let order;
      if (kind === "number") {
        const [a, b] = [numberOf(one.value), numberOf(other.value)];
        order = a === b ? 0 : a < b ? -1 : 1;
      } else {
        order = one.value < other.value ? -1 : one.value > other.value ? 1 : 0;
      }
      return sign * order;
    };
  }

  class Table {
    constructor(element) {
      this.element = element;
      this.body = element.tBodies[0];
      this.heads = [...element.tHead.rows[element.tHead.rows.length - 1].cells];
      this.rows = [...this.body.rows].map((row) => ({ row, text: null }));
      this.columns = new Map();
      this.heads.forEach((head, index) => {
        if (head.dataset.column) this.columns.set(head.dataset.column, index);
      });
      this.sorted = "";
      this.onSort = null;
      if (!("sortable" in element.dataset)) return;
      this.heads.forEach((head) => {
        if (!head.dataset.type) return;
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => this.click(head));
      });
    }

    nameOf(head) {
      return head.dataset.column || String(this.heads.indexOf(head));
    }

    click(head) {
      const name = this.nameOf(head);
      // Numbers are looked at from the greatest down, names from A on; a third click is the page's order.
      const first = head.dataset.type === "number" ? `-${name}` : name;
      const second = head.dataset.type === "number" ? name : `-${name}`;
      this.sort(this.sorted === first ? second : this.sorted === second ? "" : first);
      if (this.onSort) this.onSort();
    }

    sort(wanted) {
      const descending = wanted.startsWith("-");
      const name = descending ? wanted.slice(1) : wanted;
      const head = this.heads.find((each) => each.dataset.type && this.nameOf(each) === name);
      this.heads.forEach((each) => each.removeAttribute("aria-sort"));
      this.sorted = head ? wanted : "";
      let order = [...this.rows];
      if (head) {
        const index = this.heads.indexOf(head);
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        order = order.map((each) => ({ ...each, value: cellValue(each.row.cells[index]) }));
        order.sort(compare(head.dataset.type, descending));
      }
      this.body.append(...order.map((each) => each.row));
    }

    // `wanted` maps column names to values; `words` must all be somewhere in a row.
    filter(wanted, words) {
      const tests = [...wanted].map(([name, value]) => [this.columns.get(name), value]);
      let shown = 0;
      for (const each of this.rows) {
        let keep = tests.every(([index, value]) => cellValue(each.row.cells[index]) === value);
        if (keep && words.length) {
          each.text ??= `${each.row.textContent} ${each.row.dataset.text ?? ""}`.toLowerCase();
          keep = words.every((word) => each.text.includes(word));
        }
        each.row.hidden = !keep;
        shown += keep;
      }
      return shown;
    }
  }

  // Filters: <form data-filters="table id">. Their state is the address's hash, so that a link or the
  // back button gives it again: #state=fail&q=gm256&sort=-seconds

  function connect(form, table) {
    const output = form.querySelector("output");
    const fields = [...form.elements].filter((field) => field.name);

    const apply = () => {
      const wanted = new Map();
      let words = [];
      for (const field of fields) {
        if (field.name === "q") words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        else if (field.value) wanted.set(field.name, field.value);
      }
      const shown = table.filter(wanted, words);
      output.value =
        shown === table.rows.length ? `${shown} rows` : `${shown} of ${table.rows.length} rows`;
    };

    const write = () => {
      const state = new URLSearchParams();
      for (const field of fields) if (field.value) state.set(field.name, field.value);
      if (table.sorted) state.set("sort", table.sorted);
      const hash = state.toString();
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    };

    const read = () => {
      // An anchor of the page is no state of the filters.
      if (location.hash && !location.hash.includes("=")) return false;
      const state = new URLSearchParams(location.hash.slice(1));
      for (const field of fields) {
        const value = state.get(field.name) ?? "";
        // A value that is no choice is one that no row has: shown as it is, so that it can be cleared.
        if (field.options && value && ![...field.options].some((option) => option.value === value)) {
          field.add(new Option(value));
        }
        field.value = value;
      }
      table.sort(state.get("sort") ?? "");
      return true;
    };

    let waiting = 0;
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        apply();
        write();
      }, 60);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      setTimeout(() => {
        table.sort("");
        apply();
        write();
      });
    });
    table.onSort = write;
    window.addEventListener("hashchange", () => {
      if (read()) apply();
    });
    read();
    apply();
    showAnchor();
  }

  // A row that a link leads to is shown even if the browser went there before the filters were there.
  function showAnchor() {
    if (!location.hash || location.hash.includes("=")) return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) target.scrollIntoView({ block: "center" });
  }

  // Copying: <button data-copy="text">.
  async function copy(button) {
    const text = button.dataset.copy;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not every browser has a clipboard for pages from a file.
      const area = document.createElement("textarea");
      area.value = text;
      area.style.position = "fixed";
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const label = (button.dataset.label ??= button.textContent);
    button.textContent = done ? "copied" : "not copied";
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });

  // On a phone the pages stand in one line: show the one that this is.
  const current = document.querySelector("nav [aria-current]");
  if (current) {
    const nav = current.parentElement;
    nav.scrollLeft = current.offsetLeft - nav.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
  }

  const tables = new Map();
  for (const element of document.querySelectorAll("table[data-sortable], table[data-filtered]")) {
    tables.set(element.id, new Table(element));
  }
  for (const form of document.querySelectorAll("form[data-filters]")) {
    const table = tables.get(form.dataset.filters);
    if (table) connect(form, table);
  }
})();
