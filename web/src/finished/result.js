// The result of a game: who won, what each seat captured, how far the winners were behind. It can
// be shared as a picture with a link.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { server } from "../api.js";
import { isForfeited, teamsOf } from "../choose.js";
import { addressOf } from "../game.js";
import { t } from "../lang.js";
import { useOrigin } from "../share.js";
import { state } from "../store.js";
import { Mark } from "../table/players.js";
import { html, Icon } from "../view.js";
import { nameOf, people, wonWords } from "../words.js";
import { stepsOf } from "./replay.js";

/** @import {LogEntry, SeatBoard, Table} from "../types.js" */

/** The pieces that each seat has captured. @param {LogEntry[]} entries @param {number} seats */
function capturesOf(entries, seats) {
  const captures = Array.from({ length: seats }, () => 0);
  for (const event of entries.flatMap(({ events }) => events)) {
    if (event.type === "card_played") captures[event.seat] += event.move.captures.length;
  }
  return captures;
}

/**
 * By how many pieces in the goal a team was behind another at most, and in which round last.
 *
 * @param {LogEntry[]} entries @param {number} seats @param {number} team
 */
function comebackOf(entries, seats, team) {
  /** @param {SeatBoard[]} board */
  const behind = (board) => {
    const home = teamsOf(seats).map(([one, other]) => board[one].goal.length + board[other].goal.length);
    return Math.max(...home) - home[team];
  };
  return stepsOf(entries, seats).reduce((most, { board, round }) =>
    (behind(board) >= Math.max(most.n, 1) ? { n: behind(board), round } : most), { n: 0, round: 0 });
}

/** @param {{table: Table}} props */
export function Result({ table }) {
  const { game, log, layout } = table;
  const seats = game?.seats.length ?? 0;
  const winner = game?.winner ?? 0;
  const who = people(table);
  const whole = log[0]?.version === 1;
  const { captures, comeback } = useMemo(() => ({
    captures: capturesOf(log, seats), comeback: comebackOf(log, seats, winner),
  }), [log]);
  if (!game) return null;
  // The winners first.
  const order = [...game.seats].sort((a, b) => Number(b.team === winner) - Number(a.team === winner));
  return html`
    ${whole && comeback.n > 0 && html`<p class="small">${t("result.comeback", { ...comeback, team: winner + 1 })}</p>`}
    <ul class="result" aria-label=${t("players")}>
      ${order.map(({ seat, team }) => html`
        <li key=${seat} class=${team === winner ? "won" : ""}>
          <${Mark} layout=${layout} seat=${seat} />
          <bdi class="name">${nameOf(who, seat)}</bdi> ${whole && html`<span class="small">${t("result.captures", { n: captures[seat] })}</span>`}
        </li>`)}
    </ul>`;
}

/** The size of the picture, and of the board in it, in pixels. */
const [WIDTH, HEIGHT, BOARD] = [1080, 1350, 1000];

/** A picture of the end of a game, with who has won. @param {Table} table @returns {Promise<File | null>} */
async function pictureOf(table) {
  const { id, game, seat } = table;
  const board = new Image();
  board.crossOrigin = "anonymous";
  board.src = `${server}/v1/games/${id}/board.svg?theme=light&legend=false&bottom=${seat ?? 0}`;
  await board.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.fillStyle = "#f7f2e7";
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  pen.drawImage(board, (WIDTH - BOARD) / 2, 40, BOARD, (BOARD * board.naturalHeight) / board.naturalWidth);
  pen.fillStyle = "#2b2620";
  pen.textAlign = "center";
  const words = wonWords(people(table), game?.winner ?? 0, "me");
  const how = game && isForfeited(game) ? "finished.forfeited" : "finished.how";
  [words, t(how, { round: game?.round ?? 0 }), "DOG"].forEach((text, line) => {
    pen.font = `${line === 0 ? "700 48px" : "36px"} system-ui, sans-serif`;
    pen.fillText(text, WIDTH / 2, BOARD + 130 + 75 * line, WIDTH - 80);
  });
  const blob = await new Promise((/** @type {(blob: Blob | null) => void} */ done) => canvas.toBlob(done));
  return blob && new File([blob], "dog.png", { type: "image/png" });
}

/**
 * Shares the game, or a step of its replay: by the share sheet of the system if it has one, or else
 * by copying the link.
 *
 * @param {{table: Table, version: number | null}} props
 */
export function Share({ table, version }) {
  const origin = useOrigin(state.addresses);
  const link = `${origin ?? location.origin}${location.pathname}${addressOf(table.id, version)}`;
  const picture = useRef(/** @type {Promise<File | null>} */ (Promise.resolve(null)));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [said, say] = useState({ link: "", key: "" });
  // A browser opens the sheet only right after the press, so the picture is made before.
  useEffect(() => {
    if ("canShare" in navigator) picture.current = pictureOf(table).catch(() => null);
  }, []);
  useLayoutEffect(() => field.current?.select(), [said]);
  const share = async () => {
    const data = { title: "DOG", text: wonWords(people(table), table.game?.winner ?? 0, "me"), url: link };
    try {
      const made = await picture.current;
      const files = made ? [made] : [];
      if (typeof navigator.share !== "function") {
        await navigator.clipboard.writeText(link);
        say({ link, key: "share.copied" });
      } else await navigator.share(files.length > 0 && navigator.canShare({ files }) ? { ...data, files } : data);
    } catch (error) {
      // Otherwise the person closed the sheet.
      if (!(error instanceof DOMException && error.name === "AbortError")) say({ link, key: "share.selected" });
    }
  };
  const shown = said.link === link ? said.key : "";
  return html`
    <button type="button" class=${version === null ? "icon" : ""} onClick=${share}>
      ${version === null && html`<${Icon} path="M12 2l5 5-1.4 1.4L13 5.8V15h-2V5.8L8.4 8.4 7 7zM5 10h3v2H6v8h12v-8h-2v-2h4v12H4V10z" />`}${t("share")}</button>
    ${shown === "share.selected" && html`<input readonly value=${link} ref=${field} aria-label=${t("share")} />`}
    <span role="status" class="small">${shown && t(shown)}</span>`;
}
