// What the page shows, as the part of its address behind the #: it survives a reload and the back button, and can be sent to somebody.

/** A change that comes sooner after another one replaces it, so that moving a slider is one step back. Milliseconds. */
const TOGETHER = 1500;

let last = null;

export const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Puts a state into the address, without what is empty. */
export function write(state) {
  const kept = Object.entries(state).filter(([, value]) => value);
  const text = `#${new URLSearchParams(kept)}`;
  const isStep = last !== null && performance.now() - last > TOGETHER;
  last ??= performance.now();
  if (text === location.hash) return;
  history[isStep ? "pushState" : "replaceState"](null, "", text);
  last = performance.now();
}

/** Calls `restore` with the state that the back button, the forward button or an edited address leads to. */
export function watch(restore) {
  addEventListener("popstate", () => {
    // What is written next is this very state.
    last = null;
    restore(read());
  });
}
