// The board: a picture with every piece, and a button on each place that can be chosen.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { nextStep, previewOf } from "../choose.js";
import { choose } from "../game.js";
import { t } from "../lang.js";
import { dispatch } from "../store.js";
import { html, once } from "../view.js";
import { captureWords, people, spotName } from "../words.js";
import { animateMove, stop } from "./animate.js";
import { POWERS, Rank } from "./card.js";
import {
  boundsOf, cardSize, centreOf, distance, gapOf, ownerOf, pieceSize, piecesOf, placed, pointOf, pressedAt, spread, trackLength,
  wayOf,
} from "./geometry.js";
import { shapePath } from "./shapes.js";

/** @import {Bounds, Capture, Layout, Move, Offer, Part, Point, Preview, SeatBoard, Spot, Table} from "../types.js" */
/** @import {VNode} from "../../vendor/preact.js" */
/** @import {Step} from "../choose.js" */

/** The smallest size of a button, in CSS pixels (WCAG 2.2, 2.5.8, with some room). */
const TARGET = 25;

/** @param {Point} point */
const xy = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** What a layout is drawn in. @typedef {{layout: Layout, box: string, bounds: Bounds, unit: number, gap: number}} Frame */

/**
 * @param {{
 *   table: Table, board: SeatBoard[], last: {version: number, move: Move} | null, turn: number | null,
 * }} props `board` may be a step of a replay.
 */
export function Board({ table, board, last, turn }) {
  const { confirm } = table.choice;
  const preview = confirm && confirm !== "fold" ? confirm : table.preview ?? table.tapped?.preview ?? null;
  const step = nextStep(table);
  // The parts of a seven that were chosen so far: the board shows the position after them.
  const begun = table.choice.seven.flatMap(({ part }) => part ?? []);
  return html`<${Picture} layout=${table.game && table.layout} board=${board} last=${last} turn=${turn} preview=${preview}
    below=${(/** @type {Frame} */ { layout, gap }) => html`
      ${begun.length > 0 && html`<${Way} layout=${layout} parts=${begun.map(({ part }) => part)}
        captures=${begun.flatMap(({ captures }) => captures)} board=${board} kind="begun" />`}
      <${Chosen} layout=${layout} board=${board} step=${step} gap=${gap} />`}
    buttons=${(/** @type {Frame} */ frame) => html`
      <${Places} table=${table} step=${step} board=${board} ...${frame} />
      ${step.stage === "target" && !confirm && html`
        <svg class="above marks" viewBox=${frame.box} aria-hidden="true">
          <${Threats} layout=${frame.layout} captures=${step.offers.flatMap(({ captures }) => captures)} gap=${frame.gap} />
        </svg>`}`} />`;
}

/**
 * The picture of a board, and buttons on it.
 *
 * @param {{
 *   layout: Layout | null, board: SeatBoard[], last?: {version: number, move: Move} | null, turn?: number | null,
 *   preview: Preview | null, below?: (frame: Frame) => VNode, buttons?: (frame: Frame) => VNode, room?: number,
 *   label?: string,
 * }} props `below` is drawn below the pieces, `room` is the margin in fields
 */
export function Picture({ layout, board, last = null, turn = null, preview, below, buttons, room, label }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [width, setWidth] = useState(400);
  useEffect(() => {
    const element = root.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [layout !== null]);
  const bounds = layout && boundsOf(layout, room);
  // What is the same need not be looked at again.
  const wood = useMemo(() => bounds && html`<${Wood} layout=${layout} bounds=${bounds} turn=${turn} />`, [layout, turn]);
  // The last move is animated when it arrives, not when the table is opened.
  const seen = useRef(last?.version ?? null);
  useLayoutEffect(() => {
    const version = last?.version ?? null;
    if (root.current) stop(root.current);
    // A replay that goes back shows no move the wrong way round.
    if (layout && bounds && root.current && last && seen.current !== null && last.version > seen.current) {
      animateMove(root.current, layout, bounds, last.move, board);
    }
    seen.current = version ?? 0;
  }, [last?.version, board]);
  if (!layout || !bounds) return html`<div class="board empty"></div>`;
  const gap = gapOf(layout);
  const box = `${bounds.x} ${bounds.y} ${bounds.width} ${bounds.height}`;
  const frame = { layout, box, bounds, unit: bounds.width / Math.max(width, 1), gap };
  return html`
    <div class="board" role="group" aria-label=${label ?? t("board")} ref=${root}>
      <svg viewBox=${box} aria-hidden="true">
        ${wood}
      </svg>
      <svg class="above" viewBox=${box} aria-hidden="true">
        ${last && html`<${Way} layout=${layout} parts=${last.move.parts} captures=${last.move.captures}
          board=${board} kind="last" />`}
        ${below?.(frame)}
      </svg>
      <div class="pieces" aria-hidden="true">
        ${last && html`<${LastCard} layout=${layout} bounds=${bounds} move=${last.move} />`}
        <${Pieces} layout=${layout} bounds=${bounds} board=${board} gap=${gap} />
      </div>
      ${preview && html`
        <svg class="above" viewBox=${box} aria-hidden="true">
          <${Way} layout=${layout} parts=${preview.parts} captures=${preview.captures} board=${board} kind="preview" />
        </svg>`}
      ${buttons?.(frame)}
    </div>`;
}

/** Lines between all points that are near each other. @param {Point[]} points @param {number} limit */
const near = (points, limit) => points.flatMap((a, index) => points.slice(index + 1)
  .filter((b) => distance(a, b) < limit).map((b) => `M${xy(a)}L${xy(b)}`)).join("");

/** What never moves: the wood, the track, goals and kennels. @param {{layout: Layout, bounds: Bounds, turn: number | null}} props */
function Wood({ layout, bounds, turn }) {
  const parts = useMemo(() => {
    const gap = gapOf(layout);
    const length = trackLength(layout);
    const track = Array.from({ length }, (_, field) => layout.places[field]);
    return { gap, track, ring: `M${track.map(xy).join("L")}Z` };
  }, [layout]);
  const { gap, track, ring } = parts;
  const starts = new Map(layout.seats.map((seat, index) => [seat.start, index]));
  /** @param {number} seat @param {string} kind */
  const places = (seat, kind) => [0, 1, 2, 3].map((index) => layout.places[`${seat}:${kind}:${index}`]);
  return html`
    ${[["wood", undefined], ["grain", "url(#grain)"], ["sheen", "url(#sheen)"]].map(([name, fill]) => html`
      <rect class=${name} x=${bounds.x + 3} y=${bounds.y + 3} width=${bounds.width - 6} height=${bounds.height - 6} rx="40" fill=${fill} />`)}
    <path class="groove" d=${ring} stroke-width=${1.16 * gap} />
    ${layout.seats.map((one, seat) => {
      const goal = places(seat, "goal");
      const kennel = places(seat, "kennel");
      return html`
        <g class=${turn === seat ? "home turn" : "home"} color=${one.colour} key=${seat}>
          <path class="edge" d=${near(kennel, 1.5 * gap)} stroke-width=${1.34 * gap} />
          <path class="edge" d=${`M${goal.map(xy).join("L")}`} stroke-width=${1.34 * gap} />
          <path class="tray" d=${near(kennel, 1.5 * gap)} stroke-width=${1.1 * gap} />
          <path class="tray" d=${`M${goal.map(xy).join("L")}`} stroke-width=${1.1 * gap} />
          ${[...goal, ...kennel].map((point) => html`
            <circle class="hole" fill="url(#dent)" cx=${point.x} cy=${point.y} r=${0.37 * gap} stroke-width=${0.06 * gap} />`)}
        </g>`;
    })}
    ${track.map((point, field) => {
      const seat = starts.get(field);
      if (seat === undefined) {
        return html`<circle class="hole" fill="url(#dent)" cx=${point.x} cy=${point.y} r=${0.37 * gap} stroke-width=${0.06 * gap} />`;
      }
      const { colour, shape } = layout.seats[seat];
      return html`
        <g color=${colour}>
          <circle class="start" cx=${point.x} cy=${point.y} r=${0.52 * gap} stroke-width=${0.1 * gap} />
          <path class="mark" d=${shapePath(shape)} transform=${`translate(${xy(point)}) scale(${0.26 * gap})`} />
        </g>`;
    })}`;
}

/**
 * What moves is an element of its own in place of a part of a picture, and keeps it, so that a browser moves
 * it without a new layout or painting it again.
 *
 * @param {{layout: Layout, bounds: Bounds, board: SeatBoard[], gap: number}} props
 */
function Pieces({ layout, bounds, board, gap }) {
  const pieces = new Map(piecesOf(board).map((one) => [Object.values(one).join(" "), one]));
  const order = useRef(/** @type {string[]} */ ([]));
  const come = [...pieces.keys()].filter((name) => !order.current.includes(name));
  order.current = [...order.current.map((name) => (pieces.has(name) ? name : come.shift() ?? "")), ...come];
  return html`${order.current.map((name, index) => {
    const piece = pieces.get(name);
    if (!piece) return null;
    const { seat, place, slot } = piece;
    const point = pointOf(layout, { seat, place }, slot);
    const { colour, shape, start } = layout.seats[seat];
    const fresh = board[seat].fresh && place === String(start);
    return html`
      <div key=${index} data-seat=${seat} data-place=${place} data-slot=${slot}
        class="piece" style=${{ color: colour, ...placed(point, pieceSize(place, gap), bounds) }}>
        <svg viewBox="-1.55 -1.55 3.1 3.1">
          ${fresh && html`<circle class="fresh" r="1.38" stroke-width=".22" />`}
          <circle cx=".14" cy=".26" r="1.25" fill="url(#shadow)" />
          <circle class="marble" r="1" stroke-width=".1" />
          <circle r="1" fill="url(#shine)" />
        </svg>
        <svg class="badge" viewBox="-1.55 -1.55 3.1 3.1">
          <path d=${shapePath(shape)} transform="scale(.56)" stroke-width="0.28" />
        </svg>
      </div>`;
  })}`;
}

/** The card of the last move, in the middle. @param {{layout: Layout, bounds: Bounds, move: Move}} props */
function LastCard({ layout, bounds, move }) {
  if (!move.card) return null;
  const { colour, shape } = layout.seats[move.seat];
  return html`
    <div class="last-card" data-power=${POWERS[move.card]} style=${placed(centreOf(bounds), cardSize(layout, bounds), bounds)}>
      <svg viewBox="-1.6 -2.2 3.2 4.4">
        <rect x="-1.5" y="-2.1" width="3" height="4.2" rx="0.35" stroke-width="0.06" />
        <rect class="frame" x="-1.36" y="-1.96" width="2.72" height="3.92" rx="0.24" stroke-width="0.09" />
        <${Rank} card=${move.as ?? move.card} x="-1.2" y="-1.45" width="2.4" height="1.65" />
        ${move.as && html`<${Rank} card="joker" x="-1.45" y="-2.1" width="1.1" height="0.8" />`}
        <path d=${shapePath(shape)} color=${colour} transform="translate(0 1.1) scale(.42)" stroke-width="0.2" />
      </svg>
    </div>`;
}

/** The piece that was chosen, or the only one that can move. @param {{layout: Layout, board: SeatBoard[], step: Step, gap: number}} props */
function Chosen({ layout, board, step, gap }) {
  if (step.stage !== "target" || step.offers.length === 0) return null;
  const { from } = step.offers[0];
  const { x, y } = pointOf(layout, from, board[from.seat].kennel ?? 1);
  return html`<circle class="chosen" cx=${x} cy=${y} r=${0.56 * gap} stroke-width=${0.12 * gap} />`;
}

/** A mark on each piece that a choice would capture. @param {{layout: Layout, captures: Capture[], gap: number}} props */
function Threats({ layout, captures, gap }) {
  const places = new Map(captures.map((one) => [`${one.seat} ${one.from}`, { seat: one.seat, place: one.from }]));
  return html`${[...places].map(([key, spot]) => {
    const { x, y } = pointOf(layout, spot);
    return html`
      <g key=${key} class="threat" data-place=${spot.place} transform=${`translate(${x + 0.4 * gap} ${y - 0.4 * gap}) scale(${0.27 * gap})`}>
        <circle r="1" stroke-width="0.22" />
        <path d="M-.42-.42L.42 .42M.42-.42L-.42 .42" stroke-width="0.3" />
      </g>`;
  })}`;
}

/**
 * The way of a move: of the last one, of the parts of a begun seven, or of one that can be chosen.
 *
 * @param {{layout: Layout, parts: Part[], captures: Capture[], board: SeatBoard[], kind: "last" | "begun" | "preview"}} props
 */
export function Way({ layout, parts, captures, board, kind }) {
  const gap = gapOf(layout);
  const drawn = parts.map((part) => ({
    ...layout.seats[part.seat],
    // After a move the piece is gone from the kennel; in a preview it is still there.
    way: wayOf(layout, part, (board[part.seat].kennel ?? 0) + (kind === "preview" ? 0 : 1)),
  }));
  // A swap ends where it begins: what is at the ends is above.
  return html`
    <g class=${`way ${kind}`}>
      ${drawn.map(({ colour, way }) => html`
        <g color=${colour}>
          <path class="under" d=${`M${way.map(xy).join("L")}`} stroke-width=${0.3 * gap} />
          <path class="line" d=${`M${way.map(xy).join("L")}`} stroke-width=${0.16 * gap} />
          <circle class="from" cx=${way[0].x} cy=${way[0].y} r=${0.42 * gap} stroke-width=${0.12 * gap} />
        </g>`)}
      ${drawn.map(({ colour, shape, way }) => {
        const end = way[way.length - 1];
        return html`
          <g color=${colour}>
            <circle class="end" cx=${end.x} cy=${end.y} r=${0.62 * gap} stroke-width=${0.12 * gap} />
            ${kind === "preview" && html`<path class="ghost" d=${shapePath(shape)}
              transform=${`translate(${xy(end)}) scale(${0.45 * gap})`} stroke-width="0.2" />`}
          </g>`;
      })}
      ${captures.map((one) => {
        const { x, y } = pointOf(layout, { seat: one.seat, place: one.from });
        const size = 0.42 * gap;
        return html`<path class="cross" stroke-width=${0.16 * gap}
          d=${`M${x - size} ${y - size}L${x + size} ${y + size}M${x + size} ${y - size}L${x - size} ${y + size}`} />`;
      })}
    </g>`;
}

/**
 * The buttons on the places that can be chosen.
 * @param {{table: Table, step: Step, board: SeatBoard[]} & Frame} props
 *   `unit` is the size of a CSS pixel in the units of the layout.
 */
function Places({ table, step, layout, board, box, bounds, unit, gap }) {
  const who = people(table);
  const confirm = table.choice.confirm;
  /** @type {{key: string, spot: Spot, name: string, label: string, taken: boolean, press: () => void, offer: Offer | null}[]} */
  let places = [];
  if (step.stage === "piece") {
    places = step.pieces.map(({ key, spot }) => ({
      key, spot, offer: null, label: "", taken: true,
      name: spotName(who, spot, spot.seat),
      press: () => dispatch({ type: "piece", piece: key }),
    }));
  } else if (step.stage === "target" && !confirm) {
    places = step.offers.flatMap((offer) => {
      const { to } = offer;
      if (!to) return [];
      const owner = ownerOf(board, to.place);
      const name = spotName(who, to, owner);
      return [{
        key: offer.id, spot: to, offer, taken: owner !== null, label: offer.part ? String(offer.part.part.steps) : "",
        name: offer.captures.length === 0 ? name : `${name}, ${captureWords(who, offer.captures)}`,
        press: () => choose(offer),
      }];
    });
  }
  if (places.length === 0) return null;
  const size = Math.max(TARGET * unit, 0.94 * gap);
  const points = places.map(({ spot }) => pointOf(layout, spot, board[spot.seat].kennel ?? 1));
  // Side by side on the track they may touch, unless fields are closer than targets can be.
  const apart = 0.97 * gap < (TARGET - 1) * unit ? size : Math.min(size, 0.97 * gap);
  const spots = spread(points, size, apart, bounds);
  return html`
    <svg class="leaders above" viewBox=${box} aria-hidden="true">
      ${spots.map((spot, index) => (distance(spot, points[index]) < 0.55 * size ? null : html`
        <path d=${`M${xy(points[index])}L${xy(spot)}`} stroke-width=${0.1 * gap} />
        <circle cx=${points[index].x} cy=${points[index].y} r=${0.3 * gap} />`))}
    </svg>
    ${places.map(({ key, name, label, taken, press, offer }, index) => html`
      <button type="button" key=${`${step.stage} ${key}`} class=${`place ${step.stage}${taken ? " taken" : ""}`} aria-label=${name} title=${name}
        disabled=${table.sending || table.choice.asking}
        style=${pressedAt(spots[index], size, bounds)}
        data-text=${label} onClick=${once(press)} ...${previewing(offer)}></button>`)}`;
}

/**
 * Handlers that preview an offer while it is hovered over or has the focus of a keyboard. A pointer
 * leaves the focus where it has pressed, which says nothing.
 *
 * @param {Preview | null} offer
 */
export function previewing(offer) {
  if (!offer) return {};
  const show = () => dispatch({ type: "table", change: { preview: previewOf(offer) } });
  const hide = () => dispatch({ type: "table", change: { preview: null } });
  const focus = (/** @type {FocusEvent} */ { currentTarget }) => {
    if (currentTarget instanceof Element && currentTarget.matches(":focus-visible")) show();
  };
  return { onPointerEnter: show, onPointerLeave: hide, onFocus: focus, onBlur: hide };
}
