// SPDX-License-Identifier: Apache-2.0
// Sorting, filters and copying. Without it every page is complete, in the order that it was written in.
"use strict";

(() => {
  // A cell's value is its data-value, else its text.
  const cellValue = (cell) => cell?.dataset.value ?? cell?.textContent.trim() ?? "";
  const numberOf = (cell) => {
    const plain = cellValue(cell).replace(/[\s\u202f\u00a0,%+]/g, "").replace("\u2212", "-");
    return Number.isNaN(Number.parseFloat(plain)) ? Number.NEGATIVE_INFINITY : Number.parseFloat(plain);
  };

  // A table: heads of class "num" and "text" sort by their column, which data-column names.
  class Table {
    constructor(element) {
      this.body = element.tBodies[0];
      this.heads = [...element.tHead.rows[0].cells];
      this.rows = [...this.body.rows];
      this.sorted = "";
      this.onSort = () => {};
      for (const head of this.heads) {
        if (!head.matches(".num, .text")) continue;
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => this.click(head));
      }
    }

    columnOf(name) {
      return this.heads.findIndex((head) => head.dataset.column === name);
    }

    click(head) {
      // Numbers from the greatest down, names from A on; a third click gives the page's order.
      const name = head.dataset.column;
      const orders = head.matches(".num") ? [`-${name}`, name, ""] : [name, `-${name}`, ""];
      this.sort(orders[(orders.indexOf(this.sorted) + 1) % 3]);
      this.onSort();
    }

    // Equal rows stay in the order of the page: sorting is stable.
    sort(wanted) {
      const descending = wanted.startsWith("-");
      const column = this.columnOf(descending ? wanted.slice(1) : wanted);
      this.heads.forEach((head) => head.removeAttribute("aria-sort"));
      this.sorted = column < 0 ? "" : wanted;
      const order = [...this.rows];
      if (column >= 0) {
        const head = this.heads[column];
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const valueOf = head.matches(".num") ? numberOf : cellValue;
        const values = new Map(order.map((row) => [row, valueOf(row.cells[column])]));
        const sign = descending ? -1 : 1;
        const compare = (a, b) => (a < b ? -sign : a > b ? sign : 0);
        order.sort((one, other) => compare(values.get(one), values.get(other)));
      }
      this.body.append(...order);
    }

    // `wanted` has [column name, value]; `words` must all be somewhere in a row.
    filter(wanted, words) {
      const tests = wanted.map(([name, value]) => [this.columnOf(name), value]);
      for (const row of this.rows) {
        const text = words.length ? `${row.textContent} ${row.dataset.text ?? ""}`.toLowerCase() : "";
        row.hidden = !(
          tests.every(([column, value]) => cellValue(row.cells[column]) === value) &&
          words.every((word) => text.includes(word))
        );
      }
      return this.rows.filter((row) => !row.hidden).length;
    }
  }

  // Filters: <form data-filters="table id">. Their state is the address's hash, so that a link or the
  // back button gives it again: #state=fail&q=gm256&sort=-seconds
  function connect(form, table) {
    const fields = [...form.elements].filter((field) => field.name);

    const apply = () => {
      const chosen = fields.filter((field) => field.name !== "q" && field.value);
      const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = table.filter(chosen.map((field) => [field.name, field.value]), words);
      const all = table.rows.length;
      form.querySelector("output").value = shown === all ? `${all} rows` : `${shown} of ${all} rows`;
    };

    const write = () => {
      const state = new URLSearchParams();
      for (const field of fields) if (field.value) state.set(field.name, field.value);
      if (table.sorted) state.set("sort", table.sorted);
      const hash = state.toString();
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    };

    const read = () => {
      // An anchor of the page is not a state of the filters.
      if (location.hash && !location.hash.includes("=")) return;
      const state = new URLSearchParams(location.hash.slice(1));
      for (const field of fields) {
        const value = state.get(field.name) ?? "";
        // A value that is not a choice is one that no row has: shown as it is, so that it can be cleared.
        if (field.options && value && ![...field.options].some((option) => option.value === value)) {
          field.add(new Option(value));
        }
        field.value = value;
      }
      table.sort(state.get("sort") ?? "");
      apply();
    };

    let waiting = 0;
    const update = () => {
      apply();
      write();
    };
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(update, 60);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => {
      table.sort("");
      setTimeout(update);
    });
    table.onSort = write;
    window.addEventListener("hashchange", read);
    read();
    apply();
    showAnchor();
  }

  // A row that a link leads to is shown even if the browser went there before the filters were there.
  function showAnchor() {
    if (!location.hash || location.hash.includes("=")) return;
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ block: "center" });
  }

  // Copying: <button data-copy="text">. Where the browser refuses, the text beside it is selected.
  async function copy(button) {
    const area = document.createElement("textarea");
    area.value = button.dataset.copy;
    let done = true;
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      // Not every browser has a clipboard for pages from a file.
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const text = button.closest(".command")?.querySelector("code");
    if (!done && text) getSelection().selectAllChildren(text);
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

  // A region that scrolls sideways: classes for the sides with columns out of sight, and words above it.
  function watch(region) {
    const words = document.createElement("p");
    words.className = "scrolls";
    words.textContent = "\u2190 scroll sideways for all columns \u2192";
    region.before(words);
    const mark = () => {
      const hidden = getComputedStyle(region).overflowX === "auto" ? region.scrollWidth - region.clientWidth : 0;
      words.hidden = hidden <= 1;
      region.classList.toggle("more-left", hidden > 1 && region.scrollLeft > 1);
      region.classList.toggle("more-right", hidden - region.scrollLeft > 1);
    };
    region.addEventListener("scroll", mark, { passive: true });
    const sizes = new ResizeObserver(mark);
    for (const element of [region, ...region.children]) sizes.observe(element);
  }

  for (const region of document.querySelectorAll(".scroll")) watch(region);

  for (const element of document.querySelectorAll("table:has(thead [data-column])")) {
    const table = new Table(element);
    const form = document.querySelector(`form[data-filters="${element.id}"]`);
    if (form) connect(form, table);
  }
})();
