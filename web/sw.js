// Keeps the page for when there is no network: its files, never an answer of the API. The folder of
// the files changes with their content, so what is kept is never stale.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const KEPT = "dog.page";
const LANGUAGES = ["en", "de", "fr", "it"];
/** The address of the page. */
const home = new URL("./", location.href).href;

/** The files that a page names: they are all in one folder. @param {string} page */
const filesOf = (page) => [...page.matchAll(/(?:href|src)="(page\/\w+\/)([^"]+)"/g)].map(([, folder, name]) =>
  ({ folder: new URL(folder, home).href, name }));

/** Keeps a page with its files, and forgets those of other versions. @param {Response} answer */
async function keep(answer) {
  const cache = await caches.open(KEPT);
  const page = await answer.clone().text();
  if (await (await cache.match(home))?.text() === page) return;
  const files = filesOf(page);
  const folder = files[0]?.folder;
  if (!folder) return;
  const wanted = [...files.map(({ name }) => name), ...LANGUAGES.map((one) => `lang/${one}.json`)].map((name) => folder + name);
  const known = (await cache.keys()).map(({ url }) => url);
  await cache.addAll([...new Set(wanted)].filter((url) => !known.includes(url)));
  await cache.put(home, answer);
  await Promise.all(known.filter((url) => url !== home && !url.startsWith(folder)).map((url) => cache.delete(url)));
}

/** The page from the server, or the one that was kept. @param {FetchEvent} event */
async function page(event) {
  try {
    const answer = await event.preloadResponse ?? await fetch(event.request);
    // Without its files, the page that was kept stays.
    if (answer.ok) event.waitUntil(keep(answer.clone()).catch(() => {}));
    return answer;
  } catch {
    return await caches.match(home) ?? Response.error();
  }
}

/** A file from the network, or as it was kept. @param {Request} request */
const file = async (request) => await caches.match(request.url) ?? fetch(request);

worker.addEventListener("install", (event) => event.waitUntil(fetch(home).then(keep)));

// The browser asks for the page while the worker starts.
worker.addEventListener("activate", (event) => event.waitUntil(worker.registration.navigationPreload?.enable()));

worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  if (method !== "GET") return;
  if (mode === "navigate" && url.split(/[?#]/)[0] === home) event.respondWith(page(event));
  else if (url.startsWith(`${home}page/`)) event.respondWith(file(event.request));
});
