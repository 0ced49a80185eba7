// Says in the place of an image that cannot be shown why that is.

/** Puts the server's answer into the place of an image. Without an error in it the image may be on its way, and stays. */
async function explain(image) {
  let why = "the server does not answer";
  try {
    const reply = await fetch(image.src, { cache: "force-cache" });
    if (reply.ok) return;
    why = (await reply.text()).split("\n")[0];
  } catch {
    // Nobody answers, which is said.
  }
  const place = document.createElement("span");
  place.className = "unread error";
  place.textContent = `This image cannot be shown: ${why}`;
  image.replaceWith(place);
}

const isBroken = (it) => it instanceof HTMLImageElement && it.complete && it.naturalWidth === 0;

// Errors of images do not bubble.
addEventListener("error", (event) => { if (isBroken(event.target)) explain(event.target); }, true);
for (const image of document.images) if (isBroken(image)) explain(image);
