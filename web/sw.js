// Keeps the page for when there is no network: its files, never an answer of the API. The folder of
// the files changes with their content, so what is kept is never stale.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
/** `start.js` reads it, too. */
const KEPT = "dog.kept";
/** A file that only the style sheet names. */
const FACE = "vendor/bevan.woff2";
const LANGUAGES = ["en", "de", "fr", "it"];
/** The address of the page, and of the one file that is not in the folder. */
const home = new URL("./", location.href).href;
const start = `${home}start.js`;
/** What is answered while the server is busy or being started: by itself, or by a proxy. */
const AWAY = [429, 502, 503, 504];

/** The files that a page names: they are all in one folder. @param {string} page */
const filesOf = (page) => [...page.matchAll(/(?:href|src)="(page\/v\/\w+\/)([^"]+)"/g)].map(([, folder, name]) =>
  ({ folder: new URL(folder, home).href, name }));

/** @param {string} url */
const kept = async (url) => (await caches.open(KEPT)).match(url);

/** Whether a file is the one of its version: a server that has another version lets nobody keep its own. @param {Response} answer */
const isForGood = (answer) => answer.ok && /immutable/.test(answer.headers.get("Cache-Control") ?? "");

/** Keeps a page with its files, and forgets those of other versions. @param {Response} answer */
async function keep(answer) {
  const cache = await caches.open(KEPT);
  const page = await answer.clone().text();
  if (await (await cache.match(home))?.text() === page) return;
  const files = filesOf(page);
  const folder = files[0]?.folder;
  // A login in front of the server may answer in its place.
  if (!folder || !answer.ok) return;
  const wanted = [...files.map(({ name }) => name), FACE, ...LANGUAGES.map((one) => `lang/${one}.json`)].map((name) => folder + name);
  const known = (await cache.keys()).map(({ url }) => url);
  const missing = [...new Set(wanted)].filter((url) => !known.includes(url));
  const [starter, ...answers] = await Promise.all([start, ...missing].map((url) => fetch(url)));
  // Without its files, the page that was kept stays.
  if (!starter.ok || !answers.every(isForGood)) return;
  await Promise.all(answers.map((one, index) => cache.put(missing[index], one)));
  await cache.put(start, starter);
  await cache.put(home, answer);
  await Promise.all(known.filter((url) => ![home, start].includes(url) && !url.startsWith(folder)).map((url) => cache.delete(url)));
}

/** The page from the server, or the one that was kept. @param {FetchEvent} event */
async function page(event) {
  try {
    const answer = await event.preloadResponse ?? await fetch(event.request);
    if (answer.ok) event.waitUntil(keep(answer.clone()).catch(() => {}));
    // Only without a worker does a browser ask for the name and the password of a login.
    if (answer.status === 401 && await worker.registration.unregister()) return new Response("", { headers: { Refresh: "0" } });
    return AWAY.includes(answer.status) ? await kept(home) ?? answer : answer;
  } catch {
    return await kept(home) ?? Response.error();
  }
}

/** A file as it was kept, or from the network. @param {Request} request */
const file = async (request) => await kept(request.url) ?? fetch(request);

/** Shows the game of a notification: in its tab, if there is one. @param {string} address after that of the page */
async function showGame(address) {
  const tabs = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ url }) => url.startsWith(home) && url.includes(address));
  return tab ? tab.focus() : worker.clients.openWindow(home + address);
}

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(showGame(event.notification.data));
});

worker.addEventListener("install", (event) => {
  // A worker of another version does no better for the pages that are open.
  worker.skipWaiting();
  event.waitUntil(fetch(home).then(keep));
});

// The browser asks for the page while the worker starts. Versions before 0.3.0 kept files elsewhere.
worker.addEventListener("activate", (event) => event.waitUntil(Promise.all([
  worker.registration.navigationPreload?.enable(), caches.delete("dog.page"),
])));

worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  if (method !== "GET") return;
  if (mode === "navigate" && url.split(/[?#]/)[0] === home) event.respondWith(page(event));
  else if (url === start || url.startsWith(`${home}page/`)) event.respondWith(file(event.request));
});
