// Starts the page.

import { html } from "./view.js";
import { loadWords } from "./lang.js";
import { navigate } from "./game.js";
import { show } from "./store.js";
import { Home } from "./home.js";
import { TableScreen } from "./table/table.js";

await loadWords();
addEventListener("hashchange", navigate);
navigate();
show((state) => (state.route.name === "home" || !state.table
  ? html`<${Home} state=${state} />`
  : html`<${TableScreen} key=${state.table.id} table=${state.table} />`));
