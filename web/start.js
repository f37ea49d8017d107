// Chooses the language, and has its words and the modules loaded. Says why the page does not start: the
// browser is too old, or a part of the page did not arrive. Every browser can read this file, and it
// needs no other one. It may be of another version than the page that names it.

(function () {
  /** @type {Record<string, string[]>} */
  var words = {
    en: ["This page needs a newer browser: ", " or later.", "The page could not be loaded.", "Load again", "There is a new version."],
    de: ["Diese Seite braucht einen neueren Browser: ", " oder neuer.", "Die Seite konnte nicht geladen werden.", "Neu laden", "Es gibt eine neue Version."],
    fr: ["Cette page demande un navigateur plus récent : ", " ou plus récent.", "La page n’a pas pu être chargée.", "Recharger", "Il y a une nouvelle version."],
    it: ["Questa pagina richiede un browser più recente: ", " o più recente.", "Impossibile caricare la pagina.", "Ricarica", "C’è una nuova versione."]
  };
  /** The language of a tag such as `de-CH`, if the page has it. @param {unknown} tag */
  function known(tag) {
    var language = String(tag).slice(0, 2).toLowerCase();
    return words[language] ? language : "";
  }

  // The language of `?lang=`, which is remembered; or the one remembered; or the first of the
  // browser's that the page has; or English.
  var asked = /[?&]lang=(\w\w)/.exec(location.search);
  var lang = known(asked && asked[1]);
  try {
    if (lang) localStorage.setItem("dog.language", JSON.stringify(lang));
    else lang = known(JSON.parse(localStorage.getItem("dog.language") || "null"));
  } catch (error) {
    // The storage is full or blocked.
  }
  var own = navigator.languages || [navigator.language];
  for (var index = 0; !lang && index < own.length; index += 1) lang = known(own[index]);
  lang = lang || "en";
  document.documentElement.lang = lang;

  var icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
  var link = document.createElement("link");
  link.rel = "preload";
  link.setAttribute("as", "fetch");
  link.crossOrigin = "anonymous";
  link.href = icon.href.replace("icon.svg", "lang/" + lang + ".json");
  document.head.appendChild(link);

  var browsers = "Chrome 93, Edge 93, Firefox 92, Safari 15.4";
  var old = !("noModule" in document.createElement("script")) || !Array.prototype.at || !Object.hasOwn
    || !window.Intl || !Intl.ListFormat || !window.BroadcastChannel || !window.ReadableStream;
  /** Whether the server has another version of the page. */
  var isOther = false;
  /** The files of the page. @type {string[]} */
  var files = [];

  function tell() {
    var opening = document.getElementById("opening");
    if (!opening || opening.getElementsByTagName("p").length > 0) return;
    // What an old browser could draw of the page would not work.
    if (old) /** @type {Element} */ (opening.parentNode).removeAttribute("id");
    var told = words[lang];
    var text = document.createElement("p");
    text.textContent = old ? told[0] + browsers + told[1] : told[isOther ? 4 : 2];
    text.setAttribute("role", "alert");
    opening.appendChild(text);
    if (!old) {
      var again = document.createElement("button");
      again.textContent = told[3];
      again.onclick = function () { location.reload(); };
      opening.appendChild(again);
    }
  }

  /** Milliseconds before each further attempt to get a file: 30 s in all. */
  var PAUSES = [300, 400, 500, 700, 900, 1200, 1500, 2000, 2600, 3400, 4400, 5700, 6400];

  /**
   * Has the browser keep a file. While servers are replaced, some do not have this version yet or any more.
   *
   * @param {string} url @param {number} attempt @returns {Promise<unknown>}
   */
  function get(url, attempt) {
    return fetch(url).then(function (answer) {
      isOther = answer.status === 404;
      if (!answer.ok) throw new TypeError("a file of the page is missing");
      return answer.text();
    }).catch(function (error) {
      if (attempt === PAUSES.length) throw error;
      return new Promise(function (resolve) { setTimeout(resolve, PAUSES[attempt]); })
        .then(function () { return get(url, attempt + 1); });
    });
  }

  /** Milliseconds in which the page starts again only once. */
  var SOON = 10000;
  /** Whether something did not arrive, and whether it is asked for again. */
  var failed = false;
  var trying = false;

  /** Gets what did not arrive, and starts again: a browser does not ask twice for a module. */
  function retry() {
    failed = true;
    if (trying || files.length === 0 || !document.getElementById("opening")) return;
    trying = true;
    Promise.all(files.map(function (url) { return get(url, 0); })).then(function () {
      var last = Number(sessionStorage.getItem("dog.tab.retried"));
      sessionStorage.setItem("dog.tab.retried", String(Date.now()));
      if (Date.now() - last < SOON) tell();
      else location.reload();
    }).catch(tell);
  }

  /** @param {any} event */
  function fail(event) {
    var target = event.target;
    // A missing picture is not a reason.
    if (target && target.tagName && target.tagName !== "SCRIPT" && target.rel !== "stylesheet") return;
    if (event.error instanceof SyntaxError) old = true;
    if (old) tell();
    else retry();
  }

  function begin() {
    var scriptless = document.getElementById("scriptless");
    if (scriptless) /** @type {Element} */ (scriptless.parentNode).removeChild(scriptless);
    var modules = /** @type {HTMLTemplateElement | null} */ (document.getElementById("modules"));
    // A page of a version before 0.3.0 gets this file in place of its own.
    if (old || !modules) return tell();
    files = Array.prototype.slice.call(document.querySelectorAll("link[rel=stylesheet], link[as=fetch]"))
      .concat(Array.prototype.slice.call(modules.content.querySelectorAll("link, script")))
      .map(function (one) { return one.href || one.src; });
    if (failed) return retry();
    function load() { document.head.appendChild(/** @type {HTMLTemplateElement} */ (modules).content); }
    // Modules that the browser has kept would all be compiled before anything is shown.
    if (!navigator.serviceWorker || !navigator.serviceWorker.controller || document.hidden) load();
    else requestAnimationFrame(function () { setTimeout(load); });
  }

  window.addEventListener("error", fail, true);
  window.addEventListener("unhandledrejection", fail);
  document.addEventListener("DOMContentLoaded", begin);
})();
