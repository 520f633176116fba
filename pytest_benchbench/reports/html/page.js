"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // Tables: a button in each header sorts, a field above hides the lines that do not match.

  function sortValue(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent;
    return { text, number: text.trim() === "" ? NaN : Number(text) };
  }

  function sortTable(header) {
    const table = header.closest("table");
    const column = header.cellIndex;
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, ...sortValue(row, column) }));
    const isNothing = (value) => value.text === "—" || value.text === "";
    const compared = new Intl.Collator("en", { numeric: true }).compare;
    rows.sort((a, b) => {
      const nothing = isNothing(a) - isNothing(b); // always last
      if (nothing) return nothing;
      const numbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
      const order = numbers ? a.number - b.number : compared(a.text, b.text);
      return descending ? -order : order;
    });
    body.append(...rows.map(({ row }) => row));
  }

  function filterTable(field) {
    const rows = byId(field.dataset.filter).tBodies[0].rows;
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    byId(`${field.dataset.filter}-shown`).textContent = wanted === "" ? "" : `${shown} of ${rows.length} lines`;
  }

  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => sortTable(button.closest("th")));
  }
  for (const field of document.querySelectorAll("[data-filter]")) {
    field.addEventListener("input", () => filterTable(field));
  }

  // Copying, and opening the cases that are shown one by one.

  async function copy(text, button) {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "hidden";
      document.body.append(area);
      area.select();
      done = document.execCommand("copy"); // where a page from disk has no clipboard of its own
      area.remove();
      button.focus();
    }
    const label = (button.dataset.label ??= button.textContent);
    button.textContent = done ? "Copied" : "Not copied";
    clearTimeout(Number(button.dataset.timer));
    button.dataset.timer = setTimeout(() => { button.textContent = label; }, 1500);
  }

  const cards = Array.from(document.querySelectorAll("details.case"));

  function openCase(card) {
    card.open = true;
    card.scrollIntoView();
    card.querySelector("summary").focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-copy],[data-open],[data-close],[data-card]") : null;
    if (target === null) return;
    if (target.dataset.copy !== undefined) copy(target.dataset.copy, target);
    else if (target.dataset.card !== undefined) openCase(cards[Number(target.dataset.card)]);
    else for (const card of cards) card.open = target.dataset.open !== undefined;
  });

  let openedToPrint = [];
  window.addEventListener("beforeprint", () => {
    openedToPrint = cards.filter((card) => !card.open);
    for (const card of openedToPrint) card.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const card of openedToPrint) card.open = false;
  });

  // All cases: columns that are unpacked when the page is there, a list of which only what is seen is drawn.

  const ROW_HEIGHT = 60;
  const DRAWN_BEYOND = 6;
  const COPIED_AT_MOST = 10000;
  const KIND_FIELDS = ["suite", "params", "adapter", "state", "transform", "arm", "expected", "status", "manifest", "run"];

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
    return bytes;
  }

  async function unpacked(element) {
    const packed = new Blob([bytesOf(element.textContent.trim())]);
    element.remove();
    return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  }

  function caseIdOf(name) {
    return name.replace(/(?:\+[0-9A-F]{2})+/g, (escaped) => {
      const bytes = Uint8Array.from(escaped.slice(1).split("+"), (digits) => parseInt(digits, 16));
      return new TextDecoder().decode(bytes);
    });
  }

  class Cases {
    constructor(header) {
      this.kinds = header.kinds.map((places) => {
        const kind = { unstable: places[KIND_FIELDS.length] === 1 };
        KIND_FIELDS.forEach((name, place) => { kind[name] = places[place] < 0 ? null : header.texts[places[place]]; });
        return kind;
      });
      this.blocks = [];
      this.count = 0;
    }

    take(buffer, outcome) {
      const [rows, nameBytes, reasonBytes] = new Uint32Array(buffer, 0, 3);
      const kinds = new Uint32Array(buffer, 12, rows);
      const lines = new Int32Array(buffer, 12 + 4 * rows, rows);
      for (let row = 1; row < rows; row++) lines[row] += lines[row - 1];
      const decoder = new TextDecoder();
      const names = decoder.decode(new Uint8Array(buffer, 12 + 8 * rows, nameBytes));
      const reasons = decoder.decode(new Uint8Array(buffer, 12 + 8 * rows + nameBytes, reasonBytes));
      this.blocks.push({
        begin: this.count, rows, outcome, kinds, lines, names: names.split("\n"), reasons: reasons.split("\n"),
        text: null, hasEscapes: names.includes("+"),
      });
      this.count += rows;
    }

    place(number) {
      let low = 0;
      let high = this.blocks.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.blocks[middle].begin <= number) low = middle;
        else high = middle - 1;
      }
      return [this.blocks[low], number - this.blocks[low].begin];
    }

    row(number) {
      const [block, place] = this.place(number);
      const kind = this.kinds[block.kinds[place]];
      const name = block.names[place];
      return {
        kind, name, outcome: block.outcome, line: block.lines[place], reason: block.reasons[place],
        node: `${kind.suite}::${kind.adapter}::${name}`,
      };
    }

    // Lower-case texts of a block's rows: id and reason, as they are read.
    texts(block) {
      block.text ??= block.names.map((name, place) => {
        const id = block.hasEscapes ? `${name} ${caseIdOf(name)}` : name;
        return `${id} ${block.reasons[place]}`.toLowerCase();
      });
      return block.text;
    }

    matching(wanted) {
      const fits = this.kinds.map((kind) =>
        ["adapter", "state", "transform"].every((name) => wanted[name] === "" || wanted[name] === (kind[name] ?? "—")));
      const everyKind = fits.every(Boolean);
      const found = new Uint32Array(this.count);
      const text = wanted.text.toLowerCase();
      let count = 0;
      for (const block of this.blocks) {
        const wantsUnstable = wanted.outcome === "unstable";
        if (wanted.outcome !== "" && !wantsUnstable && wanted.outcome !== block.outcome) continue;
        const texts = text === "" ? null : this.texts(block);
        for (let place = 0; place < block.rows; place++) {
          if (!everyKind && !fits[block.kinds[place]]) continue;
          if (wantsUnstable && !this.kinds[block.kinds[place]].unstable) continue;
          if (texts !== null && !texts[place].includes(text)) continue;
          found[count++] = block.begin + place;
        }
      }
      return found.subarray(0, count);
    }
  }

  class CaseList {
    constructor(cases) {
      this.cases = cases;
      this.box = document.querySelector(".list");
      this.list = this.box.querySelector("ol");
      this.found = new Uint32Array(0);
      this.drawn = new Map();
      this.hasRuns = new Set(cases.kinds.map((kind) => kind.run)).size > 1;
      this.cards = new Map(cards.map((card, number) => [`${card.dataset.run} ${card.dataset.node}`, number]));
      this.box.addEventListener("scroll", () => this.draw(), { passive: true });
      this.box.addEventListener("keydown", (event) => this.move(event));
      new ResizeObserver(() => this.draw()).observe(this.box);
    }

    show(found) {
      this.found = found;
      this.list.style.height = `${found.length * ROW_HEIGHT}px`;
      this.box.scrollTop = 0;
      this.list.replaceChildren();
      this.drawn.clear();
      this.draw();
    }

    move(event) {
      const ends = { Home: 0, End: this.list.offsetHeight };
      if (event.target !== this.box || !(event.key in ends)) return;
      this.box.scrollTop = ends[event.key];
      event.preventDefault();
    }

    draw() {
      const first = Math.max(0, Math.floor(this.box.scrollTop / ROW_HEIGHT) - DRAWN_BEYOND);
      const beyond = Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW_HEIGHT) + DRAWN_BEYOND;
      const last = Math.min(this.found.length, beyond);
      for (const [place, item] of this.drawn) {
        if (place >= first && place < last) continue;
        if (item.contains(document.activeElement)) continue; // the keyboard does not lose its place
        item.remove();
        this.drawn.delete(place);
      }
      let before = null;
      for (let place = last - 1; place >= first; place--) {
        let item = this.drawn.get(place);
        if (item === undefined) {
          item = this.item(place);
          this.drawn.set(place, item);
          this.list.insertBefore(item, before);
        }
        before = item;
      }
    }

    item(place) {
      const row = this.cases.row(this.found[place]);
      const item = document.createElement("li");
      item.style.transform = `translateY(${place * ROW_HEIGHT}px)`;
      item.setAttribute("aria-setsize", this.found.length);
      item.setAttribute("aria-posinset", place + 1);
      const id = caseIdOf(row.name);
      const first = document.createElement("div");
      first.className = "line";
      first.title = row.node;
      const chip = document.createElement("span");
      chip.className = `chip ${row.outcome}`;
      chip.textContent = row.outcome.replace("_", " ") + (row.kind.unstable ? ", unstable" : "");
      const name = document.createElement("span");
      name.className = "id";
      name.textContent = id;
      first.append(chip, " ", name);
      const second = document.createElement("div");
      second.className = "line what";
      const { adapter, state, transform, expected, status, manifest, params } = row.kind;
      const where = row.line ? `${manifest}:${row.line}` : manifest;
      const said = [row.reason, expected ? `expected ${expected}, observed ${status}` : `observed ${status}`];
      const run = this.hasRuns ? row.kind.run : null;
      second.textContent = [adapter, params, state, transform, ...said, where, run].filter(Boolean).join(" · ");
      second.title = second.textContent;
      const doing = document.createElement("div");
      doing.className = "do";
      const card = this.cards.get(`${row.kind.run} ${row.node}`);
      if (card !== undefined) doing.append(this.button("Show", `Show ${id}`, "card", card));
      doing.append(this.button("Copy", `Copy the node id of ${id}`, "copy", row.node));
      item.append(first, second, doing);
      return item;
    }

    button(text, label, name, value) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.dataset[name] = value;
      return button;
    }
  }

  function offer(select, values) {
    for (const value of [...new Set(values)].sort(new Intl.Collator("en", { numeric: true }).compare)) {
      select.append(new Option(value, value));
    }
    select.closest("label").hidden = select.options.length <= 2;
  }

  async function showCases() {
    const header = JSON.parse(new TextDecoder().decode(await unpacked(byId("case-header"))));
    const cases = new Cases(header);
    const blocks = document.querySelectorAll(".case-block");
    for (const [number, element] of blocks.entries()) cases.take(await unpacked(element), header.blocks[number][0]);
    const outcomes = header.blocks.map(([outcome]) => outcome);
    if (cases.kinds.some((kind) => kind.unstable)) outcomes.push("unstable");
    const selects = { outcome: byId("case-outcome"), adapter: byId("case-adapter"), state: byId("case-state"), transform: byId("case-transform") };
    offer(selects.outcome, outcomes);
    for (const name of ["adapter", "state", "transform"]) offer(selects[name], cases.kinds.map((kind) => kind[name] ?? "—"));
    const list = new CaseList(cases);
    const text = byId("case-text");
    const copyButton = byId("case-copy");
    const update = () => {
      const wanted = { text: text.value.trim() };
      for (const [name, select] of Object.entries(selects)) wanted[name] = select.value;
      list.show(cases.matching(wanted));
      byId("case-count").textContent = `${list.found.length} of ${cases.count} listed cases`;
      copyButton.disabled = list.found.length === 0 || list.found.length > COPIED_AT_MOST;
      copyButton.title = list.found.length > COPIED_AT_MOST ? `At most ${COPIED_AT_MOST} at once: filter first` : "";
    };
    let waiting = 0;
    text.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(update, 120);
    });
    for (const select of Object.values(selects)) select.addEventListener("change", update);
    copyButton.addEventListener("click", () => {
      copy(Array.from(list.found, (number) => cases.row(number).node).join("\n"), copyButton);
    });
    byId("cases").hidden = false;
    update();
    document.documentElement.dataset.ready = "";
  }

  showCases().catch((fault) => {
    byId("case-fault").textContent = `The list of cases cannot be shown: ${fault.message}`;
  });
})();
