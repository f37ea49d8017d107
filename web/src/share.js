// Links to a table: as a QR code, to share, to copy, or to select.

import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { otherServer, request } from "./api.js";
import { loadModule } from "./files.js";
import { t } from "./lang.js";
import { dispatch, state } from "./store.js";
import { Later, Select, html } from "./view.js";

/** @import {Addresses} from "./types.js" */

const loadQr = async () => (await loadModule("./qr.js", () => import("./qr.js"))).Qr;

/** Whether only this computer reaches the page at its address. */
const loopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

/** Asks at which addresses others reach the page, if its own is of no use to them. */
async function readAddresses() {
  /** @type {string[]} */
  let list = [];
  try {
    list = (await request("GET", "/v1/addresses")).addresses;
  } catch {
    // The page then says what to do.
  }
  dispatch({ type: "set", change: { addresses: { list, chosen: 0 } } });
}

/** Where others reach the page; null while the page asks. @param {Addresses | null} addresses */
function originFor(addresses) {
  if (!loopback || otherServer !== "") return location.origin;
  return addresses && (addresses.list[addresses.chosen] ?? location.origin);
}

/** The same, for a view. @param {Addresses | null} addresses */
export function useOrigin(addresses) {
  const origin = originFor(addresses);
  useEffect(() => { if (origin === null) readAddresses(); }, []);
  return origin;
}

/**
 * A link with its QR code.
 *
 * @param {{path: string, name: string, text?: string, whole?: boolean, addresses: Addresses | null}} props `path` is the
 *   fragment, `name` says what the link is for, `text` goes with it, `whole` also where the link is copied
 */
export function Share({ path, name, text = t("share.text"), whole = false, addresses }) {
  const origin = useOrigin(addresses);
  const [copied, setCopied] = useState("");
  const [selected, setSelected] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  if (origin === null) return html`<p class="small">${t("do.wait")}</p>`;
  const link = `${origin}${location.pathname}#${path}`;
  const all = whole ? `${text} ${link}` : link;
  // Only a secure context has these: https, or the server's own computer.
  const clipboard = globalThis.isSecureContext ? navigator.clipboard : undefined;
  const select = () => {
    field.current?.focus();
    field.current?.select();
    setSelected(link);
  };
  const share = async () => {
    try {
      await navigator.share({ title: "DOG", text, url: link });
    } catch (error) {
      // Otherwise the person closed the sheet.
      if (!(error instanceof DOMException && error.name === "AbortError")) select();
    }
  };
  const copy = async () => {
    try {
      await clipboard?.writeText(all);
      setCopied(link);
      setSelected("");
    } catch {
      select();
    }
  };
  return html`
    <div class="share" role="group" aria-label=${name}>
      <${Later} part load=${loadQr} text=${link} name=${t("share.qr", { name })} />
      <div class="link">
        <p class="small">${t("share.how")}</p>
        <label>${name}
          <input readonly value=${all} ref=${field} onFocus=${(/** @type {FocusEvent} */ event) =>
            /** @type {HTMLInputElement} */ (event.target).select()} /></label>
        ${(clipboard || "share" in navigator) && html`<div class="buttons">
          ${"share" in navigator && html`<button type="button" onClick=${share}>${t("share.send")}</button>`}
          ${clipboard && html`<button type="button" onClick=${copy}>${t("share.copy")}</button>`}
          <span role="status" class="small">${selected === link ? t("share.selected") : copied === link && t("share.copied")}</span>
        </div>`}
        <${Reachable} addresses=${addresses} />
      </div>
    </div>`;
}

/** Which address is in the links, where that is a question. @param {{addresses: Addresses | null}} props */
function Reachable({ addresses }) {
  if (!loopback || otherServer !== "" || !addresses) return null;
  const { list, chosen } = addresses;
  if (list.length === 0) {
    return html`<p class="problem">${t("share.alone")} <code>dog serve --listen 0.0.0.0:${location.port || 80}</code></p>`;
  }
  if (list.length === 1) return null;
  const choose = (/** @type {string} */ one) =>
    dispatch({ type: "set", change: { addresses: { list, chosen: list.indexOf(one) } } });
  return html`
    <${Select} label=${t("share.address")} values=${list} chosen=${list[chosen]} words=${String} then=${choose} />`;
}

/** A button that shows and hides what belongs to it. @param {{name: string, label?: string, children: unknown, shown?: boolean}} props */
export function Reveal({ name, label, children, shown = false }) {
  const [open, setOpen] = useState(shown);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { if (open) root.current?.scrollIntoView({ block: "nearest" }); }, [open]);
  return html`
    <div class="reveal" ref=${root}>
      <button type="button" aria-label=${label} aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${name}</button>
      ${open && children}
    </div>`;
}

/** The link that opens the person's own seat on another device. @param {{id: string, seat: number, token: string}} props */
export const OtherDevice = ({ id, seat, token }) => html`
  <${Reveal} name=${t("device")}>
    <p class="small">${t("device.about")}</p>
    <${Share} path=${`/games/${id}/${seat}-${token}`} name=${t("device.link")} addresses=${state.addresses} />
  <//>`;
