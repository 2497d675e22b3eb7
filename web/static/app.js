// Keys, the mark of the selected column, and the sign of a lost connection. Nothing else: every
// action is a link on the page, and no number is computed here.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const press = (id) => byId(id)?.click();

  const columns = () => document.querySelectorAll(".hits a");

  const step = (id) => {
    if (byId(id) || byId("clear")) return press(id);
    const all = columns();
    all[id === "next" ? 0 : all.length - 1]?.click();
  };

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

  const keys = {
    n: () => change(1),
    p: () => change(-1),
    j: () => step("next"),
    k: () => step("previous"),
    m: () => press("miss"),
    o: () => press("open"),
    c: () => press("compare"),
    ",": () => press("move-back"),
    ".": () => press("move-forward"),
    "+": () => press("move-in"),
    "=": () => press("move-in"),
    "-": () => press("move-out"),
    f: () => press("move-fit"),
    "?": () => press("help"),
    "/": () => byId("filter")?.focus(),
    Escape: () => press("clear"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // A click with a modifier opens the page in a new tab instead of swapping a fragment.
  document.addEventListener("click", (event) => {
    if ((event.ctrlKey || event.metaKey || event.shiftKey) && event.target.closest("a[hx-get]")) {
      event.stopPropagation();
    }
  }, true);

  const markSelected = () => {
    const seq = byId("panel")?.dataset.seq;
    for (const link of document.querySelectorAll(".hits a[aria-current]")) {
      if (link.id && link.id !== `c${seq}`) link.removeAttribute("aria-current");
    }
    if (seq) byId(`c${seq}`)?.setAttribute("aria-current", "true");
  };

  // "gone": the server does not answer; "refused": it answered one request with an error.
  const sign = byId("lost");
  const goneText = sign?.textContent;
  let trouble = "";
  const tell = (kind, text) => {
    if (!sign) return;
    trouble = kind;
    sign.hidden = !kind;
    sign.textContent = text;
    document.body.classList.toggle("is-lost", kind === "gone");
  };

  let scrolled = 0;
  document.addEventListener("htmx:beforeSwap", () => {
    scrolled = document.querySelector(".scroll")?.scrollLeft ?? 0;
  });
  document.addEventListener("htmx:afterSettle", () => {
    const box = document.querySelector(".scroll");
    if (box && scrolled) box.scrollLeft = scrolled;
    markSelected();
  });
  document.addEventListener("htmx:sendError", () => tell("gone", goneText));
  document.addEventListener("htmx:timeout", () => tell("gone", goneText));
  document.addEventListener("htmx:responseError", (event) => {
    tell("refused", `The server answered ${event.detail.xhr.status}. Reload the page to see why.`);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful || !trouble) return;
    if (trouble === "gone" || event.target.id !== "live") tell("", "");
  });
})();
