// The demo's page: the field for URLs, the sliders between before and after, and the choice of formats.

/** Milliseconds without a change after which the URL is requested. */
const PAUSE = 400;
const byId = (id) => document.getElementById(id);
let asking = new AbortController();
let timer = 0;

for (const stack of document.querySelectorAll(".stack")) {
  const slider = stack.querySelector("input");
  slider.addEventListener("input", () => stack.style.setProperty("--cut", `${slider.value}%`));
}

for (const pair of document.querySelectorAll(".pair")) {
  const choose = () => {
    const { value, nextElementSibling: said } = pair.querySelector(".chips :checked");
    pair.querySelector(".after").src = value;
    pair.querySelector(".right b").textContent = said.querySelector("b").textContent;
    const link = pair.querySelector(".url");
    link.href = value;
    link.firstElementChild.textContent = value;
  };
  pair.querySelector(".chips").addEventListener("change", choose);
  choose();
}

for (const button of document.querySelectorAll(".try")) {
  button.addEventListener("click", () => {
    byId("url").value = button.value;
    byId("url").focus();
    byId("try").scrollIntoView();
    show();
  });
}

byId("url").addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(show, PAUSE);
});
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});

/** Requests the URL of the field. An error is shown above the last successful image, which stays. */
async function show() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const url = `/${byId("url").value.trim().replace(/^\/+/, "")}`;
  try {
    const began = performance.now();
    const response = await fetch(url, { signal });
    const body = await response.blob();
    const took = performance.now() - began;
    if (!response.ok) throw new Error(`${response.status}: ${(await body.text()).trim()}`);
    const image = new Image();
    image.alt = "The answer to the URL";
    image.src = URL.createObjectURL(body);
    await image.decode().catch(() => { throw new Error(`${body.type} is nothing that this browser shows.`); });
    const cache = response.headers.get("cache-status")?.includes("; hit") ? "from the cache" : "made just now";
    if (signal.aborted) return;
    byId("shown").replaceChildren(image);
    byId("said").textContent = `${image.naturalWidth} × ${image.naturalHeight} px · ${body.size.toLocaleString("en")} bytes · ${body.type} · ${took.toFixed(0)} ms, ${cache}`;
    fail("");
  } catch (error) {
    if (error.name !== "AbortError") fail(error.message);
  }
}

function fail(why) {
  byId("error").textContent = why;
  byId("shown").classList.toggle("stale", why !== "");
}

show();
