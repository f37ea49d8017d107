// QR codes, which are loaded with the first link that is shared.

import { useMemo } from "../vendor/preact-hooks.js";
import { correction, generate } from "../vendor/lean-qr.js";
import { html } from "./view.js";

/** Modules of the quiet zone around a code. */
const QUIET = 4;

/** A QR code: dark on white, even in the dark theme. @param {{text: string, name: string}} props */
export function Qr({ text, name }) {
  const { size, path } = useMemo(() => {
    const code = generate(text, { minCorrectionLevel: correction.M });
    const modules = Array.from({ length: code.size * code.size }, (_, index) =>
      ({ x: index % code.size, y: Math.floor(index / code.size) }));
    const dark = modules.filter(({ x, y }) => code.get(x, y));
    return { size: code.size + 2 * QUIET, path: dark.map(({ x, y }) => `M${x + QUIET} ${y + QUIET}h1v1h-1z`).join("") };
  }, [text]);
  return html`
    <svg class="qr" role="img" aria-label=${name} viewBox=${`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width=${size} height=${size} fill="#fff" />
      <path d=${path} fill="#000" />
    </svg>`;
}
