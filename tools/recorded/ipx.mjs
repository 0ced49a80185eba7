// Records the responses of ipx, as mounted by Nuxt Image: `node ipx.mjs > ../../crates/server/tests/recorded/ipx.json`.

import { createApp, toNodeListener } from "h3";
import { createIPX, createIPXH3Handler, ipxFSStorage, ipxHttpStorage } from "ipx";
import { answer, files, folder, print, serve } from "./answers.mjs";

const BROWSER = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";

/** Modifiers with which a.jpg (400x300) is requested. */
const MODIFIERS = [
  "_", "w_200", "h_100", "w_200&h_100", "w_200,h_100", "h:100", "width=200", "height_100", "w_800", "w_800&enlarge",
  "enlarge&h_600", "s_200x100", "s_100", "resize_100x200", "s_800x300", "s_800x600&enlarge", "s_1000x1000", "s_0x100",
  "s_axb", "s_100x0", "s_100x", "s_200x100&fit_contain", "s_200x100&fit_contain&b_ff0000", "s_200x100&fit_fill",
  "s_200x100&fit_inside", "s_200x100&fit_outside", "s_200x100&fit_cover&pos_top", "s_100x200&position_left",
  "s_100x200&pos_attention", "s_100x200&pos_entropy", "s_100x200&pos_right%20top", "s_200x100&fit_squeeze",
  "s_100x100&pos_middle", "s_100x100&pos_4", "s_100x100&pos_9", "w_0", "w_-5", "w_1.5", "w_x", "w_", "w", "w_undefined",
  "w_null", "w_200&w_100", "w_200&width_100", "q_50", "quality_1", "q_0", "q_101", "q_50.5", "q_x", "q", "f_webp", "f_png",
  "f_png&q_50", "f_jpg", "f_jpeg", "f_gif", "f_tiff", "f_avif", "f_heif", "f_heic", "f_bmp", "format_webp", "f_webp&q_x",
  "rotate_90", "rotate_180", "rotate_270&w_100", "rotate_90&s_200x100", "rotate_90&h_100", "rotate_90&resize_200x100",
  "rotate_45", "rotate_45&w_100", "w_100&rotate_45&b_red", "rotate_-90", "rotate_450", "rotate_12.5", "rotate", "rotate_x",
  "rotate_undefined", "flip", "flop", "flip&flop&w_100", "crop_10_20_100_50", "extract_10_20_100_50",
  "crop_10_20_100_50&w_50", "crop_10_20_100_50&extract_1_2_30_40", "extract_300_0_200_100", "extract_1_2_3", "crop_1_2_0_5",
  "extend_10_20_30_40", "extend_10_20_30_40&b_00ff00", "extend_10", "extend_10_20_30_-1", "trim", "trim_10", "trim_undefined",
  "blur_5", "blur_0.1", "blur", "blur_true", "blur_1001", "sharpen_5", "sharpen_5_1_2", "sharpen", "sharpen_true",
  "sharpen_20000", "median_3", "median", "median_1001", "gamma_2.2", "gamma_2.2_1.5", "gamma", "gamma_4", "negate",
  "normalize", "threshold_100", "threshold", "threshold_256", "threshold_true", "threshold_false", "modulate_1.5",
  "modulate_1.5_2_90", "modulate_0", "modulate_-1", "modulate", "tint_red", "tint_ff0000", "tint_%23ff0000", "tint",
  "grayscale", "grayscale_1", "flatten", "flatten&b_red", "flatten&b_nocolour", "b_nocolour", "background_fff&flatten",
  "kernel_nearest&s_100x100", "kernel_nearest&w_100", "kernel_none&s_100x100", "animated", "a", "nothing_5", "foo",
  "constructor_1", "w_200&&h_100", "w_200&", "w_%32%30%30",
];

const TARGETS = [
  ...MODIFIERS.map((modifiers) => ({ target: `/_ipx/${modifiers}/a.jpg` })),
  ...["_", "w_100", "s_100x100", "rotate_undefined", "rotate_undefined&w_100", "rotate_undefined&crop_10_20_100_50"].map(
    (modifiers) => ({ target: `/_ipx/${modifiers}/turned.jpg` }),
  ),
  ...["w_500", "w_333", "w_100", "s_333x333", "s_777x333&fit_inside", "s_100x75", "h_200"].map((modifiers) => ({
    target: `/_ipx/${modifiers}/large.jpg`,
  })),
  ...["_", "w_50", "flatten", "flatten&b_red", "f_jpg", "f_jpg&b_red", "q_80", "f_webp", "s_50x100&fit_contain", "negate",
    "s_50x100&fit_contain&b_transparent"].map((modifiers) => ({ target: `/_ipx/${modifiers}/alpha.png` })),
  ...["moving.gif", "moving.webp"].flatMap((name) =>
    ["_", "animated", "a", "w_20", "w_20&animated", "f_webp", "f_webp&animated", "f_gif&w_20", "f_png", "f_jpg", "f_auto",
      "animated&f_auto", "w_20&s_10x10&animated", "animated&rotate_90"].map((modifiers) => ({ target: `/_ipx/${modifiers}/${name}` })),
  ),
  ...[BROWSER, "*/*", "*", "", "image/webp", "image/webp,image/avif", "image/png;q=0.5,image/webp;q=0.4", "text/html",
    "image/gif", "image/jpeg, image/png", "image/*", "image/webp;q=0,image/png", "image/heif", "IMAGE/WEBP",
    "image/webp,*/*"].map((accept) => ({ target: "/_ipx/f_auto&w_20/a.jpg", accept })),
  { target: "/_ipx/f_auto&animated/moving.gif", accept: BROWSER },
  { target: "/_ipx/f_auto&animated/moving.gif", accept: "text/html" },
  { target: "/_ipx/w_100/a.jpg", accept: BROWSER },
  { target: "/_ipx/w_50/rgb.png" },
  { target: "/_ipx/w_50/lossy.webp" },
  { target: "/_ipx/w_50/trip/a%20b.jpg" },
  { target: "/_ipx/w_50/trip%2Fa%20b.jpg" },
  { target: "/_ipx/w_50//a.jpg" },
  { target: "/_ipx/w_50/none.jpg" },
  { target: "/_ipx/w_50/trip" },
  { target: "/_ipx/w_50/" },
  { target: "/_ipx/w_50" },
  { target: "/_ipx/" },
  { target: "/_ipx" },
  { target: "/_ipx//a.jpg" },
  { target: "/_ipx/_/text.jpg" },
  { target: "/_ipx/_/corrupt.jpg" },
  { target: "/_ipx/w_50/chart.svg" },
  { target: "/_ipx/w_50&f_png/chart.svg" },
  { target: "/_ipx/w_50/http://elsewhere.example/a.jpg" },
  { target: "/_ipx/w_50/https://elsewhere.example/a.jpg" },
  { target: "/_ipx/w_50/{origin}/a.jpg" },
  { target: "/_ipx/w_50/ftp://127.0.0.1/a.jpg" },
  { target: "/_ipx/w_50/pictures/a.jpg" },
  { target: "/_ipx/w_50/a.jpg?v=1" },
];

const root = await folder();
const origin = await serve(files(root));
const ipx = createIPX({
  alias: { "/pictures": "/" },
  storage: ipxFSStorage({ dir: root }),
  httpStorage: ipxHttpStorage({ domains: ["127.0.0.1"] }),
});
const app = createApp();
app.use("/_ipx", createIPXH3Handler(ipx));
const base = await serve(toNodeListener(app));
const answers = [];
for (const target of TARGETS) answers.push(await answer(base, origin, target));
process.stdout.write(print("ipx 3.1.1, sharp 0.34.5", answers));
