"use strict";
// What the page does: shows a chunk under the pointer or the keyboard, jumps, and keeps two texts side by side.
// Text is only ever put in as text. Offsets in here count as JavaScript does, in UTF-16.
(() => {
  const LONGEST = 20000; // characters of an embedded text that are shown unasked
  const MOST_MARKS = 1000;
  const INVISIBLE = /([\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb])/;
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const body = document.body;
  const info = get("info");
  const said = get("said");

  const panes = data.panes.map((pane, index) => {
    const view = get("text-" + "ab"[index]);
    const segments = [...view.children];
    const starts = [];
    let length = 0;
    for (const segment of segments) {
      starts.push(length);
      length += segment.textContent.length;
    }
    const places = new Map(pane.chunks.map((chunk, place) => [chunk.n, place]));
    const blocks = pane.chunks.map(() => []);
    for (const segment of segments) {
      for (const n of owners(segment)) blocks[places.get(n)].push(segment);
    }
    return { ...pane, index, view, segments, starts, length, places, blocks,
      links: [...document.querySelectorAll(`.list[data-pane="${index}"] li > a`)],
      now: document.querySelector(`.plot[data-pane="${index}"] .now`) };
  });
  const text = panes[0].view.textContent;

  let active = panes[0]; // the text that the keyboard moves in
  let leader = panes[0]; // the text that the other one follows
  let chosen = null; // what was clicked or moved to: { pane, place }
  let shown = null; // what the panel shows: that, or what the pointer is on
  let together = true;

  function owners(segment) {
    return segment.dataset.o ? segment.dataset.o.split(" ").map(Number) : [];
  }

  function element(name, content, classes) {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    made.append(...(Array.isArray(content) ? content : [content ?? ""]));
    return made;
  }

  const number = (value) => value.toLocaleString("en");
  const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

  // The panel.

  function show(pane, place) {
    if (shown && shown.pane === pane && shown.place === place) return;
    light("over", false);
    shown = { pane, place };
    light("over", true);
    const chunk = pane.chunks[place];
    const whose = panes.length > 1 ? ` of ${pane.name}` : "";
    get("which").textContent = `Chunk ${chunk.n}${whose}`;
    get("where").textContent = pane.paths[chunk.path].join(" › ") || "no heading";
    const spread = element("div", [element("div", about(pane, place)), element("div", embedded(pane, place))], "spread");
    said.replaceChildren(spread);
    said.scrollTop = 0;
    for (const each of panes) if (each.now) each.now.setAttribute("visibility", each === pane ? "visible" : "hidden");
    if (pane.now) pane.now.setAttribute("x", place);
  }

  // Marks the chunk that the panel shows, and what holds the same text in the other strategy.
  function light(name, on) {
    if (!shown) return;
    for (const segment of shown.pane.blocks[shown.place]) segment.classList.toggle(name, on);
    for (const { pane, place } of twins(shown.pane, shown.place)) {
      for (const segment of pane.blocks[place]) segment.classList.toggle("twin", on);
    }
  }

  function twins(pane, place) {
    const { at, till } = pane.chunks[place];
    return panes.filter((other) => other !== pane).flatMap((other) =>
      other.chunks.flatMap((chunk, index) => (chunk.at < till && chunk.till > at ? [{ pane: other, place: index }] : [])));
  }

  function about(pane, place) {
    const chunk = pane.chunks[place];
    const path = element("p", [], "path");
    pane.paths[chunk.path].forEach((title, depth) => {
      if (depth) path.append(element("i", " › "));
      path.append(element("bdi", title));
    });
    if (!path.childNodes.length) path.append(element("i", "no heading above it"));
    const share = Math.round((100 * chunk.embedded) / pane.max);
    const facts = element("dl", [], "facts");
    const say = (name, ...lines) =>
      facts.append(element("dt", name), element("dd", lines.map((line) => element("div", line))));
    say("place", `${number(place + 1)} of ${number(pane.chunks.length)}`);
    say("to embed", `${count(chunk.embedded, "token")}, ${share} % of ${number(pane.max)}`, gauge(chunk, pane.max));
    say("raw_content", `${count(chunk.tokens, "token")}, ${count(chunk.to - chunk.from, "character")}`);
    say("characters", `${number(chunk.from)} to ${number(chunk.to)}`);
    if (chunk.flags) {
      say("flags", ...chunk.flags.map((flag) => [element("code", flag), data.flags[flag] ? `: ${data.flags[flag]}` : ""]));
    }
    if (chunk.goes_on) say("continuation", "a later piece of its section");
    for (const [name, value] of chunk.facts || []) say(name, value);
    const others = twins(pane, place);
    if (others.length) say(`in ${others[0].pane.name}`, others.flatMap((other, index) => [index ? ", " : "", link(other)]));
    return [path, facts];
  }

  function link({ pane, place }) {
    const made = element("a", String(pane.chunks[place].n));
    made.href = `#${"ab"[pane.index]}${pane.chunks[place].n}`;
    return made;
  }

  function gauge(chunk, max) {
    const space = "http://www.w3.org/2000/svg";
    const drawn = document.createElementNS(space, "svg");
    drawn.setAttribute("class", "gauge");
    drawn.setAttribute("aria-hidden", "true");
    drawn.setAttribute("viewBox", "0 0 100 1");
    drawn.setAttribute("preserveAspectRatio", "none");
    const whole = Math.max(max, chunk.embedded);
    const part = (name, from, to) => {
      const bar = document.createElementNS(space, "rect");
      const box = { class: name, x: (100 * from) / whole, width: Math.max(0, (100 * (to - from)) / whole), height: 1 };
      for (const [key, value] of Object.entries(box)) bar.setAttribute(key, value);
      drawn.append(bar);
    };
    part("room", 0, whole);
    part("raw", 0, Math.min(chunk.tokens, chunk.embedded));
    part("rest", Math.min(chunk.tokens, chunk.embedded), chunk.embedded);
    part("over", max, chunk.embedded);
    return [drawn];
  }

  function embedded(pane, place) {
    const pieces = piecesOf(pane, place);
    const total = pieces.reduce((sum, [, content]) => sum + content.length, 0);
    const box = element("pre", [], "embedded");
    box.lang = "";
    const fill = (most) => {
      box.replaceChildren();
      let left = most;
      for (const [kind, content] of pieces) {
        if (left > 0) box.append(element("span", seen(content.slice(0, left)), kind));
        left -= content.length;
      }
    };
    fill(LONGEST);
    const parts = [element("h3", "Embedded text"), box];
    if (total > LONGEST) {
      const all = element("button", `Show the other ${number(total - LONGEST)} characters`);
      all.type = "button";
      all.addEventListener("click", () => { fill(Infinity); all.remove(); });
      parts.push(all);
    }
    const names = { crumb: "breadcrumb", wrap: "raw_prefix, raw_suffix", again: "in the chunk before or after too" };
    const used = Object.keys(names).filter((kind) => pieces.some(([each, content]) => each === kind && content));
    if (used.length) parts.push(element("p", used.map((kind) => element("span", names[kind], kind)), "key"));
    return parts;
  }

  // A text with the characters named that cannot be seen; a carriage return by itself ends a line.
  function seen(content) {
    const parts = content.replace(/\r(?!\n)/g, "\n").split(INVISIBLE, MOST_MARKS);
    if (parts.length === MOST_MARKS) return content;
    return parts.map((part, index) => {
      if (index % 2 === 0) return part;
      const made = element("span", part, "x");
      made.dataset.x = `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
      return made;
    });
  }

  // The embedded text as [kind, content]; the breadcrumb's blank line is not marked.
  function piecesOf(pane, place) {
    const chunk = pane.chunks[place];
    if (chunk.content !== undefined) return [["", chunk.content]];
    const crumb = pane.crumbs[chunk.crumb].replace(/\n\n$/, "");
    const before = pane.chunks.slice(Math.max(0, place - 3), place);
    const after = pane.chunks.slice(place + 1, place + 4);
    const own = Math.min(chunk.till, Math.max(chunk.at, ...before.map((each) => each.till)));
    const end = Math.max(own, Math.min(chunk.till, ...after.map((each) => each.at)));
    return [
      ["crumb", crumb], ["", crumb && "\n\n"], ["wrap", chunk.prefix || ""],
      ["again", text.slice(chunk.at, own)], ["", text.slice(own, end)], ["again", text.slice(end, chunk.till)],
      ["wrap", chunk.suffix || ""],
    ];
  }

  // Choosing a chunk.

  let remembering = 0;
  function choose(pane, place, { focus = true } = {}) {
    if (place < 0 || place >= pane.chunks.length) return;
    unmark();
    chosen = { pane, place };
    activate(pane);
    show(pane, place);
    const chunk = pane.chunks[place];
    for (const segment of pane.blocks[place]) segment.classList.add("on");
    const path = pane.paths[chunk.path].join(", ");
    const words = `Chunk ${chunk.n}, ${place + 1} of ${pane.chunks.length}, ${chunk.embedded} tokens${path && `, ${path}`}`;
    get("status").textContent = words;
    const [first] = pane.blocks[place];
    if (first) {
      first.tabIndex = 0;
      first.setAttribute("role", "group");
      first.setAttribute("aria-label", words);
      leader = pane;
      bring(pane, place);
      if (focus) first.focus({ preventScroll: true });
    }
    const entry = pane.links[place];
    if (entry) {
      entry.classList.add("on");
      entry.setAttribute("aria-current", "true");
      entry.scrollIntoView({ block: "nearest" });
    }
    clearTimeout(remembering); // a browser refuses to do this a hundred times a second
    remembering = setTimeout(() => {
      try { history.replaceState(null, "", `#${"ab"[pane.index]}${chunk.n}`); } catch { /* not for this address */ }
    }, 300);
  }

  function unmark() {
    if (!chosen) return;
    const { pane, place } = chosen;
    pane.blocks[place].forEach((segment) => segment.classList.remove("on"));
    if (pane.blocks[place][0]) pane.blocks[place][0].removeAttribute("tabindex");
    const entry = pane.links[place];
    if (entry) {
      entry.classList.remove("on");
      entry.removeAttribute("aria-current");
    }
  }

  function letGo() {
    light("over", false);
    unmark();
    chosen = shown = null;
    get("which").textContent = get("where").textContent = "";
    said.replaceChildren(element("p", "No chunk is chosen.", "hint"));
    for (const pane of panes) if (pane.now) pane.now.setAttribute("visibility", "hidden");
    info.classList.remove("open");
    get("more").setAttribute("aria-expanded", "false");
  }

  function activate(pane) {
    const where = active === pane ? null : position(active);
    active = pane;
    body.classList.toggle("second", pane.index === 1);
    for (const tab of document.querySelectorAll(".tabs button")) {
      tab.setAttribute("aria-pressed", String(Number(tab.dataset.pane) === pane.index));
    }
    for (const list of document.querySelectorAll(".list")) list.hidden = Number(list.dataset.pane) !== pane.index;
    if (where && together) place(pane, where);
  }

  function step(by) {
    const pane = active;
    if (!pane.chunks.length) return;
    if (chosen && chosen.pane === pane && isSeen(pane, chosen.place)) choose(pane, chosen.place + by);
    else choose(pane, firstSeen(pane));
  }

  function isSeen(pane, place) {
    const box = pane.view.getBoundingClientRect();
    return pane.blocks[place].some((segment) => {
      const seen = segment.getBoundingClientRect();
      return seen.bottom > box.top && seen.top < box.bottom;
    });
  }

  // The first chunk that begins below the upper edge of the text, or else the last one.
  function firstSeen(pane) {
    const edge = pane.view.getBoundingClientRect().top - 1;
    const found = pane.blocks.findIndex((some) => some.length && some[0].getBoundingClientRect().top >= edge);
    return found < 0 ? pane.chunks.length - 1 : found;
  }

  // Scrolls as little as shows the chunk, its first line near the upper edge when it was out of sight.
  function bring(pane, place, again = true) {
    const some = pane.blocks[place];
    const box = pane.view.getBoundingClientRect();
    const top = some[0].getBoundingClientRect().top;
    const bottom = some[some.length - 1].getBoundingClientRect().bottom;
    const above = Math.min(64, box.height / 4); // what stands over it is often its heading
    if (top >= box.top && (bottom <= box.bottom || top < box.top + above - 20)) return;
    pane.view.scrollTop += top - box.top - above;
    if (again) requestAnimationFrame(() => bring(pane, place, false)); // heights above may have been guesses
  }

  // Where a text stands: the character at its upper edge, and how far below the edge its line begins.

  function lastAtOrBefore(values, wanted) {
    let low = 0, high = values.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (values[middle] <= wanted) low = middle; else high = middle - 1;
    }
    return low;
  }

  function nodesOf(segment) {
    const walker = document.createTreeWalker(segment, NodeFilter.SHOW_TEXT);
    const nodes = [], starts = [];
    let length = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      nodes.push(node);
      starts.push(length);
      length += node.data.length;
    }
    return { nodes, starts, length };
  }

  const range = document.createRange();
  function boxAt({ nodes, starts, length }, offset) {
    for (let at = offset; at < Math.min(length, offset + 4); at++) { // some characters have no box
      const index = lastAtOrBefore(starts, at);
      range.setStart(nodes[index], at - starts[index]);
      range.setEnd(nodes[index], Math.min(at - starts[index] + 1, nodes[index].data.length));
      const [box] = range.getClientRects();
      if (box) return box;
    }
    return null;
  }

  function position(pane) {
    const { view, segments, starts } = pane;
    if (!segments.length) return null;
    const edge = view.getBoundingClientRect().top;
    let low = 0, high = segments.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (segments[middle].getBoundingClientRect().bottom > edge + 1) high = middle; else low = middle + 1;
    }
    const nodes = nodesOf(segments[low]);
    let from = 0, to = Math.max(0, nodes.length - 1);
    while (from < to) {
      const middle = (from + to) >> 1;
      const box = boxAt(nodes, middle);
      if (!box || box.bottom > edge + 1) to = middle; else from = middle + 1;
    }
    const box = nodes.length ? boxAt(nodes, from) : null;
    const end = view.scrollHeight - view.clientHeight;
    return {
      at: starts[low] + from,
      below: (box || segments[low].getBoundingClientRect()).top - edge,
      isTop: view.scrollTop <= 1,
      isEnd: end > 0 && view.scrollTop >= end - 1,
    };
  }

  function place(pane, where, again = true) {
    const { view, segments, starts } = pane;
    if (where.isTop) view.scrollTop = 0;
    else if (where.isEnd) view.scrollTop = view.scrollHeight;
    else {
      const index = lastAtOrBefore(starts, where.at);
      const box = boxAt(nodesOf(segments[index]), where.at - starts[index]) || segments[index].getBoundingClientRect();
      view.scrollTop += box.top - view.getBoundingClientRect().top - where.below;
      if (again) requestAnimationFrame(() => place(pane, where, false));
    }
  }

  // The pointer.

  let due = false;
  for (const pane of panes) {
    const { view } = pane;
    const lead = () => { leader = pane; };
    for (const kind of ["pointerdown", "pointerenter", "wheel", "touchstart", "focusin"]) {
      view.addEventListener(kind, lead, { passive: true });
    }
    view.addEventListener("scroll", () => {
      if (!together || panes.length < 2 || leader !== pane || due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        const where = position(leader);
        if (where) for (const other of panes) if (other !== leader) place(other, where, false);
      });
    }, { passive: true });
    view.addEventListener("pointerover", (event) => {
      const segment = event.target.closest(".s");
      if (event.pointerType === "mouse" && segment && segment.dataset.o) show(pane, pane.places.get(owners(segment).at(-1)));
    });
    view.addEventListener("pointerleave", back);
    view.addEventListener("click", (event) => {
      const segment = event.target.closest(".s");
      if (!segment || !segment.dataset.o || String(getSelection())) return;
      const here = owners(segment).map((n) => pane.places.get(n)).reverse();
      // A second click where chunks overlap goes to the other one.
      const held = chosen && chosen.pane === pane ? here.indexOf(chosen.place) : -1;
      choose(pane, here[(held + 1) % here.length], { focus: false });
    });
  }

  function back() {
    if (chosen) show(chosen.pane, chosen.place);
  }

  for (const drawn of document.querySelectorAll(".plot")) {
    const pane = panes[Number(drawn.dataset.pane)];
    const under = (event) => {
      const box = drawn.getBoundingClientRect();
      const at = Math.floor((pane.chunks.length * (event.clientX - box.left)) / box.width);
      return Math.max(0, Math.min(pane.chunks.length - 1, at));
    };
    drawn.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") show(pane, under(event)); });
    drawn.addEventListener("pointerleave", back);
    drawn.addEventListener("click", (event) => choose(pane, under(event), { focus: false }));
  }

  // Links, buttons and keys.

  function follow(hash) {
    const match = /^#([ab])(-?\d+)$/.exec(hash);
    const pane = match && panes["ab".indexOf(match[1])];
    if (!pane || !pane.places.has(Number(match[2]))) return false;
    choose(pane, pane.places.get(Number(match[2])));
    return true;
  }

  document.addEventListener("click", (event) => {
    const entry = event.target.closest("a[href]");
    if (entry && follow(entry.getAttribute("href"))) {
      event.preventDefault();
      drawer(false);
    }
  });
  // A click beside the open list closes it and does nothing else.
  document.addEventListener("click", (event) => {
    if (!body.classList.contains("drawer") || event.target.closest("#chunks, #list")) return;
    event.preventDefault();
    event.stopPropagation();
    drawer(false);
  }, true);
  window.addEventListener("hashchange", () => follow(location.hash));

  for (const button of document.querySelectorAll("[data-flag]")) {
    const pane = panes[Number(button.dataset.pane)];
    button.addEventListener("click", () => {
      const from = chosen && chosen.pane === pane ? chosen.place + 1 : 0;
      for (let step = 0; step < pane.chunks.length; step++) {
        const at = (from + step) % pane.chunks.length;
        if ((pane.chunks[at].flags || []).includes(button.dataset.flag)) return choose(pane, at, { focus: false });
      }
    });
  }

  for (const list of document.querySelectorAll(".list")) {
    const entries = [...list.querySelectorAll("li")];
    const input = list.querySelector("input");
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let found = 0;
      for (const entry of entries) {
        entry.hidden = !entry.textContent.toLowerCase().includes(wanted);
        found += !entry.hidden;
      }
      list.querySelector(".none").hidden = found > 0;
    });
  }

  function pressed(button, on) {
    if (button) button.setAttribute(button.hasAttribute("aria-expanded") ? "aria-expanded" : "aria-pressed", String(on));
    return on;
  }
  const isPressed = (button) => (button.getAttribute("aria-expanded") ?? button.getAttribute("aria-pressed")) === "true";

  function drawer(open) {
    body.classList.toggle("drawer", pressed(get("list"), open));
  }
  function setWrap(on) {
    const where = position(active);
    body.classList.toggle("nowrap", !pressed(get("wrap"), on));
    for (const pane of panes) if (where && (together || pane === active)) place(pane, where);
  }
  function setSync(on) {
    together = pressed(get("sync"), on);
    const where = together && position(active);
    if (where) for (const pane of panes) if (pane !== active) place(pane, where);
  }
  function openFilter() {
    if (get("list").offsetParent) drawer(true);
    document.querySelector(".list:not([hidden]) input").focus();
  }
  const buttons = {
    list: () => drawer(!isPressed(get("list"))),
    wrap: () => setWrap(!isPressed(get("wrap"))),
    sync: () => setSync(!isPressed(get("sync"))),
    help: () => get("legend").classList.toggle("open", pressed(get("help"), !isPressed(get("help")))),
    more: () => info.classList.toggle("open", pressed(get("more"), !isPressed(get("more")))),
    before: () => step(-1),
    next: () => step(1),
  };
  for (const [id, does] of Object.entries(buttons)) if (get(id)) get(id).addEventListener("click", does);
  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.addEventListener("click", () => activate(panes[Number(tab.dataset.pane)]));
  }

  const goTo = (index) => {
    if (!panes[index]) return;
    activate(panes[index]);
    panes[index].view.focus({ preventScroll: true });
  };
  const keys = {
    n: () => step(1), ArrowRight: () => step(1), p: () => step(-1), ArrowLeft: () => step(-1),
    l: buttons.list, w: buttons.wrap, s: () => get("sync") && buttons.sync(), "?": buttons.help, "/": openFilter,
    1: () => goTo(0), 2: () => goTo(1),
    Escape: () => (body.classList.contains("drawer") ? drawer(false) : letGo()),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest("input");
    if (typing && event.key !== "Escape") return;
    if (event.key.startsWith("Arrow") && body.classList.contains("nowrap") && event.target === active.view) return;
    const does = Object.hasOwn(keys, event.key) && keys[event.key];
    if (!does) return;
    event.preventDefault();
    if (typing) typing.blur();
    does();
  });

  activate(panes[0]);
  follow(location.hash);
})();
