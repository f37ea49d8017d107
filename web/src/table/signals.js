// What tells a player who is not looking that something happens: sounds, vibration, the title and
// icon of the page, and a notification if the page is hidden. All but the title and the icon have
// one switch. While somebody is seated, the screen stays on.

import { useEffect, useRef } from "../../vendor/preact-hooks.js";
import { clockAhead } from "../api.js";
import { addressOf } from "../game.js";
import { capitalize, t } from "../lang.js";
import { state } from "../store.js";
import { isShared } from "../words.js";
import { stepTime } from "./animate.js";
import { calling, capturing, dealing, walking } from "./sounds.js";

/** @import {GameEvent, Part, Table} from "../types.js" */

/** Whether the game waits for the player. @param {Table} table */
const isYourTurn = ({ game, seat }) =>
  seat !== null && game?.phase !== "finished" && (game?.actions.some((one) => one.seat === seat) ?? false);

/** Shows another icon, from the same folder. @param {string} name */
function showIcon(name) {
  const icon = document.querySelector("link[rel=icon]");
  icon?.setAttribute("href", icon.getAttribute("href")?.replace(/[\w-]+\.svg$/, `${name}.svg`) ?? "");
}

/** Milliseconds after which nobody hears what has happened, for instance while the network was away. */
const OLD = 5000;
/** Milliseconds for which a tab that is seen goes first, and for which no other tab says the same. */
const FIRST = 300;
const SAID = 5000;

/** @param {number} time */
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Signals something in one tab of a game: in the one that is seen, if there is one. @param {string} name @param {() => void} signal */
async function signalOnce(name, signal) {
  if (document.hidden) await pause(FIRST);
  try {
    await navigator.locks.request(`dog.${name}`, { ifAvailable: true }, (lock) => {
      if (!lock) return undefined;
      signal();
      return pause(SAID);
    });
  } catch {
    // Over plain http and with a blocked storage there are no locks.
    signal();
  }
}

/** @param {GameEvent} event */
export function sound(event) {
  if (event.type === "cards_dealt") dealing(event.size);
  if (event.type !== "card_played") return;
  const parts = /** @type {Part[]} */ (event.move.parts);
  const steps = parts.reduce((sum, part) => sum + Math.max(part.steps, 1), 0);
  const seconds = stepTime(steps) / 1000;
  walking(event.move.parts.length > 0 ? steps : 0, seconds);
  if (event.move.captures.length > 0) capturing(steps * seconds);
}

/** Notifies the player of a game if the page is hidden and they have allowed it. @param {string} id */
async function notify(id) {
  if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
  // The worker opens the game, and phones show no other notifications.
  const worker = await navigator.serviceWorker?.getRegistration();
  const options = { body: t("turn.title"), tag: id, renotify: true, data: addressOf(id, null) };
  await worker?.showNotification("DOG", options);
}

/** Removes the notification of a game. @param {string} id */
async function removeNote(id) {
  const worker = await navigator.serviceWorker?.getRegistration();
  for (const note of await worker?.getNotifications?.({ tag: id }) ?? []) note.close();
}

/** Asks whether the page may notify. */
export const askToNotify = () => Notification.requestPermission();

/** Whether the page may ask that: in a game with people, once. @param {Table} table */
export const mayAskToNotify = (table) => table.seat !== null && isShared(table) && globalThis.isSecureContext
  && globalThis.Notification?.permission === "default";

/** @param {Table} table */
export function useSignals(table) {
  const { game, id, log, seat } = table;
  const yours = isYourTurn(table);
  useEffect(() => {
    const round = game && game.round > 0 ? [capitalize(t("table.round", { round: game.round }))] : [];
    document.title = [...(yours ? [t("turn.title")] : []), ...round, "DOG"].join(" · ");
    showIcon(yours ? "icon-turn" : "icon");
  }, [yours, game?.round]);
  useEffect(() => () => showIcon("icon"), []);

  // What happened before the table was opened is not heard.
  const heard = useRef(/** @type {number | null} */ (null));
  const newest = log.at(-1);
  useEffect(() => {
    if (!game) return;
    const before = heard.current;
    heard.current = Math.max(before ?? 0, game.version, newest?.version ?? 0);
    if (before === null || !state.sound) return;
    const old = Date.now() + clockAhead - OLD;
    for (const { version, at, events } of log.slice(-8)) {
      if (version > before && Date.parse(at) > old) signalOnce(`heard.${id}.${version}`, () => events.forEach(sound));
    }
  }, [newest?.version, game?.version]);
  const called = useRef(true);
  useEffect(() => {
    if (!game) return;
    const before = called.current;
    called.current = yours;
    if (yours && !before && state.sound) {
      signalOnce(`called.${id}.${game.version}`, () => {
        calling();
        // Before the first press, a browser refuses.
        if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(80);
        if (isShared(table) && called.current) notify(id);
      });
    }
    if (!yours && before) removeNote(id);
  }, [yours, game?.version]);

  const playing = seat !== null && game !== null && game.phase !== "finished";
  useEffect(() => {
    if (!playing) return undefined;
    /** @type {WakeLockSentinel | null} */
    let lock = null;
    const over = new AbortController();
    // The browser takes the lock from a hidden page.
    const keep = async () => {
      if (document.hidden) return;
      lock = await navigator.wakeLock?.request("screen").catch(() => null) ?? null;
      if (over.signal.aborted) lock?.release();
    };
    keep();
    document.addEventListener("visibilitychange", keep, { signal: over.signal });
    return () => {
      over.abort();
      lock?.release();
    };
  }, [playing]);
}
