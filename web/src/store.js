// Holds the state and draws it.

import { render } from "../vendor/preact.js";
import { initial, reduce } from "./state.js";
import { savedGames, savedPerson } from "./storage.js";

/** @import {State, Table} from "./types.js" */
/** @import {Event} from "./state.js" */
/** @import {VNode} from "../vendor/preact.js" */

/** @type {State} */
export let state = initial(savedPerson(), savedGames());

/** @type {((state: State) => VNode) | null} */
let view = null;
let scheduled = false;

/** Changes the state, and draws it before the next frame. @param {Event} event */
export function dispatch(event) {
  state = reduce(state, event);
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(draw);
}

function draw() {
  scheduled = false;
  const page = document.getElementById("page");
  if (view && page) render(view(state), page);
}

/** Draws the state with this view from now on. @param {(state: State) => VNode} chosen */
export function show(chosen) {
  view = chosen;
  document.getElementById("page")?.replaceChildren();
  draw();
}

/** Does something if the table is still on the screen. @param {Table} table @param {() => void} then */
export function at(table, then) {
  if (state.table?.id === table.id) then();
}
