// Keys, the mark of the selected column, and the sign of a lost connection. Nothing else: every action
// is a link on the page, and no number is computed here. What swaps do to each other: swaps.js.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const { whenFree, busy } = swaps;

  const press = (id) => whenFree(() => byId(id)?.click());

  const columns = () => document.querySelectorAll(".hits a");

  // Without a selection, the first or last column of the window.
  const step = (id) => whenFree(() => {
    if (byId(id) || byId("clear")) return press(id);
    const all = columns();
    all[id === "next" ? 0 : all.length - 1]?.click();
  });

  // The change after or before the focused one, or the one in view; beyond the last, the next page.
  const change = (step) => {
    const all = [...document.querySelectorAll(".change:not(.equal)")];
    const focused = all.indexOf(document.activeElement.closest(".change:not(.equal)"));
    const below = all.findIndex((e) => e.getBoundingClientRect().top > 50);
    const unfocused = step > 0 ? below : (below < 0 ? all.length : below) - 1;
    const found = all[focused < 0 ? unfocused : focused + step];
    if (!found) return press(step > 0 ? "later" : "earlier");
    found.scrollIntoView();
    found.querySelector("a")?.focus({ preventScroll: true });
  };

  const lanes = () => {
    const menu = byId("lane-menu");
    if (!menu) return;
    menu.open = !menu.open;
    menu.querySelector(menu.open ? "a" : "summary")?.focus();
  };

  const find = () => {
    const field = byId("search") ?? byId("filter");
    field?.focus();
    field?.select();
  };

  const escape = () => {
    if (byId("lane-menu")?.open) return lanes();
    press("clear");
  };

  const keys = {
    n: () => whenFree(() => (byId("row-on") ? press("row-on") : change(1))),
    p: () => whenFree(() => (byId("row-back") ? press("row-back") : change(-1))),
    j: () => step("next"),
    k: () => step("previous"),
    t: () => press("turn-on"),
    T: () => press("turn-back"),
    m: () => press("miss-on"),
    M: () => press("miss-back"),
    o: () => press("open"),
    g: () => press("first"),
    G: () => press("last"),
    c: () => press("compare"),
    l: lanes,
    x: () => whenFree(() => press(byId("x-time") ? "x-time" : "x-request")),
    ",": () => press("move-back"),
    ".": () => press("move-forward"),
    "+": () => press("move-in"),
    "=": () => press("move-in"),
    "-": () => press("move-out"),
    f: () => press("move-fit"),
    " ": () => press("pause"),
    "?": () => byId("keys")?.showModal(),
    "/": find,
    Escape: escape,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys")?.open) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === " " && event.target.closest("a, button, summary, pre")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (!(event.repeat && busy())) action();
  });

  document.addEventListener("click", (event) => {
    // A click with a modifier opens the page in a new tab instead of swapping a fragment.
    const swapped = event.target.closest("a[hx-get]");
    if ((event.ctrlKey || event.metaKey || event.shiftKey) && swapped) event.stopPropagation();
    // A link that sets one parameter keeps what fragments have put into the address since.
    const setting = event.target.closest("a[data-set]");
    if (setting) {
      const address = new URL(location.href);
      address.searchParams.set(...setting.dataset.set.split("="));
      setting.href = address.href;
    }
    const menu = document.querySelector("details.menu[open]");
    if (menu && !menu.contains(event.target)) menu.open = false;
  }, true);

  // What stands in a column's name is shown at once, instead of in the browser's late tooltip.
  const tell = (event) => {
    const column = event.target.closest?.(".hits a");
    const readout = byId("readout");
    if (!column || !readout) return;
    if (column.title) {
      column.setAttribute("aria-label", column.title);
      column.removeAttribute("title");
    }
    readout.textContent = column.getAttribute("aria-label");
    readout.classList.add("told");
  };
  document.addEventListener("mouseover", tell);
  document.addEventListener("focusin", tell);

  let marked;
  const markSelected = () => {
    const seq = byId("panel")?.dataset.seq;
    const moved = seq !== marked;
    marked = seq;
    for (const link of document.querySelectorAll(".hits a[aria-current]")) {
      if (link.id && link.id !== `c${seq}`) link.removeAttribute("aria-current");
    }
    const column = seq && byId(`c${seq}`);
    column?.setAttribute("aria-current", "true");
    const box = document.querySelector(".lanes");
    if (moved && column && box && box.scrollWidth > box.clientWidth) {
      box.scrollLeft = column.offsetLeft - box.clientWidth / 2;
    }
  };
  addEventListener("DOMContentLoaded", markSelected);
  document.addEventListener("htmx:afterSwap", markSelected);

  // "gone": the server does not answer; "refused": it answered one request with an error.
  const sign = byId("lost");
  const goneText = sign?.textContent;
  let trouble = "";
  const warn = (kind, text) => {
    if (!sign) return;
    trouble = kind;
    sign.hidden = !kind;
    sign.textContent = text;
    document.body.classList.toggle("is-lost", kind === "gone");
  };
  document.addEventListener("htmx:sendError", () => warn("gone", goneText));
  document.addEventListener("htmx:timeout", () => warn("gone", goneText));
  document.addEventListener("htmx:responseError", (event) => {
    warn("refused", `The server answered ${event.detail.xhr.status}. Reload the page to see why.`);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful || !trouble) return;
    if (trouble === "gone" || event.target.id !== "live") warn("", "");
  });

  // A link to a plain text copies it; without this script it opens it.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-copy]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const answer = await fetch(link.href).catch(() => null);
    if (!answer?.ok) return warn("refused", "The text could not be fetched: open the link instead.");
    await navigator.clipboard.writeText(await answer.text());
    link.textContent = "copied";
  });
})();
