// What swaps do to each other and to the reader: their order, and what a swap would lose.
"use strict";
const swaps = (() => {
  const byId = (id) => document.getElementById(id);

  // A click that swaps something is answered before the next one is asked: the next one's link is
  // one of the page to which the first one leads. `counts` is what it waits for: clicks, and the
  // panel that follows a board; `own` is what a box asks for by itself.
  const flights = new Map();
  const waiting = [];
  let left = false;
  let behind = false;
  const flying = (test) => [...flights.values()].some(test);
  const busy = () => flying((flight) => flight.counts);
  const whenFree = (action) => (busy() ? waiting.push(action) : action());

  // The same link in what has taken the place of the one that was clicked.
  const twin = (link) => {
    const links = [...document.querySelectorAll("a[hx-get]")];
    return byId(link.id) ?? links.find((e) => e.title && e.title === link.title);
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[hx-get]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !busy()) return;
    event.preventDefault();
    event.stopPropagation();
    waiting.push(() => (link.isConnected ? link : twin(link))?.click());
  }, true);

  // A box leaves in peace what is pressed or selected in it, and loads again afterwards. So it does
  // where news came while an answer was on its way, which may be older than the news.
  const stale = new Set();
  let pressed = false;
  const held = (box) => {
    const selection = getSelection();
    return pressed || (box.id !== "live" && selection.type === "Range" && selection.containsNode(box, true));
  };
  const catchUp = () => {
    for (const id of stale) {
      const boxes = [...document.querySelectorAll('[hx-trigger~="again"]')];
      const late = boxes.filter((box) => !id || box.id === id);
      if (late.some((box) => held(box) || flying((flight) => flight.target === box))) continue;
      stale.delete(id);
      for (const box of late) htmx.trigger(box, "again");
    }
  };
  const release = () => {
    pressed = false;
    catchUp();
  };
  document.addEventListener("pointerdown", (event) => (pressed = event.button === 0), true);
  document.addEventListener("pointerup", () => setTimeout(release), true);  // after the click
  document.addEventListener("pointercancel", release, true);
  document.addEventListener("pointermove", (event) => pressed && !event.buttons && release(), true);
  document.addEventListener("selectionchange", catchUp);

  document.addEventListener("revision", () => {
    for (const flight of flights.values()) flight.late ||= flight.target.id !== "live";
  }, true);
  document.addEventListener("board", () => {
    for (const flight of flights.values()) {
      if (flight.own && flight.target.id === "panel") flight.late = flight.counts = behind = true;
    }
  }, true);
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    const own = detail.elt === detail.target;
    const follows = detail.target.id === "panel" && behind;
    const counts = !own || follows || detail.requestConfig.triggeringEvent?.type === "board";
    behind &&= !(own && follows);
    flights.set(detail.xhr, { target: detail.target, own, counts, late: false });
    detail.xhr.addEventListener("loadend", ({ target: { status } }) => {
      const flight = flights.get(detail.xhr);
      flights.delete(detail.xhr);
      if (flight.late || !status || (!own && status >= 400)) stale.add(flight.target.id);
      if (status) catchUp();  // without an answer, when there is one again
      while (waiting.length && !busy() && !left) waiting.shift()();
    });
  });
  // The page is loaded anew, and what was asked on it has come too late.
  addEventListener("popstate", (event) => (left ||= Boolean(event.state?.htmx)));

  // A swap keeps what is unfolded, what has the focus and how far boxes are scrolled; another
  // request's panel starts at its top. It is put back in the task of the swap itself: until htmx
  // settles, the next swap may already have looked at what is unfolded.
  const BOXES = ["#panel", ".lanes", ".scroll"];
  const alike = (element) =>
    [...document.querySelectorAll(element.localName)].filter((e) => e.textContent === element.textContent);
  let kept = null;
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const { target, own, counts } = flights.get(detail.xhr);
    const asked = own && flying((flight) => !flight.own && flight.target === target);
    const inHand = own && !counts && held(target);
    if (inHand) stale.add(target.id);
    if (left || asked || inHand) detail.shouldSwap = false;
    if (!detail.shouldSwap) return;
    const focus = document.activeElement;
    kept = {
      seq: byId("panel")?.dataset.seq,
      open: [...document.querySelectorAll("details[id][open]")].map((e) => e.id),
      at: BOXES.map((name) => document.querySelector(name)).map((e) => [e?.scrollLeft, e?.scrollTop]),
      focus: !focus.id && target.contains(focus) && { focus, nth: alike(focus).indexOf(focus) },
    };
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (!kept) return;
    for (const id of kept.open) {
      const folded = byId(id);
      if (folded) folded.open = true;
    }
    BOXES.forEach((name, i) => {
      const box = document.querySelector(name);
      if (!box || (name === "#panel" && box.dataset.seq !== kept.seq)) return;
      [box.scrollLeft, box.scrollTop] = kept.at[i];
    });
    if (kept.focus) alike(kept.focus.focus)[kept.focus.nth]?.focus({ preventScroll: true });
    kept = null;
  });

  return { whenFree, busy };
})();
