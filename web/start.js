// Chooses the language, and has its words, the styles and the modules loaded. Says why the page does
// not start: the browser is too old, or a part of the page did not arrive. Every browser can read this
// file, and it needs no other one. It may be of another version than the page that names it.

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

  var browsers = "Chrome 93, Edge 93, Firefox 92, Safari 15.4";
  var old = !("noModule" in document.createElement("script")) || !Array.prototype.at || !Object.hasOwn
    || !window.Intl || !Intl.ListFormat || !window.BroadcastChannel || !window.ReadableStream;
  /** Whether the server has another version of the page. */
  var isOther = false;

  function tell() {
    var opening = document.getElementById("opening");
    if (!opening || opening.getElementsByTagName("p").length > 0) return;
    var page = /** @type {HTMLElement} */ (opening.parentNode);
    page.hidden = false;
    // What an old browser could draw of the page would not work.
    if (old) page.removeAttribute("id");
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

  /** @param {any} event */
  function fail(event) {
    // A missing picture is not a reason.
    if (event.target && event.target.tagName && event.target.tagName !== "SCRIPT") return;
    if (event.error instanceof SyntaxError) old = true;
    tell();
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

  /** What a template has, when its files are there. @param {string} id @param {string[]} more files in the same folder */
  function ready(id, more) {
    var content = /** @type {HTMLTemplateElement} */ (document.getElementById(id)).content;
    /** @type {any[]} */
    var elements = Array.prototype.slice.call(content.querySelectorAll("link, script"));
    var files = elements.map(function (one) { return one.href || one.src; });
    var folder = files[files.length - 1].replace(/src\/main\.js$/, "");
    var all = files.concat(more.map(function (name) { return folder + name; }));
    // What the service worker keeps is whole.
    /** @type {Promise<any>} */
    var kept = navigator.serviceWorker && navigator.serviceWorker.controller
      ? caches.match(files[0], { cacheName: "dog.kept" }) : Promise.resolve(undefined);
    return kept.catch(function () {}).then(function (found) {
      return found || Promise.all(all.map(function (url) { return get(url, 0); }));
    }).then(function () { return { content: content, elements: elements }; });
  }

  function begin() {
    var scriptless = document.getElementById("scriptless");
    if (scriptless) /** @type {Element} */ (scriptless.parentNode).removeChild(scriptless);
    // A page of a version before 0.3.0 has no template for styles, and gets this file in place of its own.
    if (old || !document.getElementById("styles")) return tell();
    var styled = ready("styles", []).then(function (styles) {
      document.head.appendChild(styles.content);
      return Promise.all(styles.elements.map(function (link) {
        return new Promise(function (resolve, reject) { link.onload = resolve; link.onerror = reject; });
      }));
    }).then(function () {
      /** @type {HTMLElement} */ (document.getElementById("page")).hidden = false;
    });
    Promise.all([ready("modules", ["lang/" + lang + ".json"]), styled]).then(function (all) {
      function load() { document.head.appendChild(all[0].content); }
      // Modules that the browser has kept would all be compiled before anything is shown.
      if (document.hidden) load();
      else requestAnimationFrame(function () { setTimeout(load); });
    }).catch(tell);
  }

  window.addEventListener("error", fail, true);
  window.addEventListener("unhandledrejection", fail);
  document.addEventListener("DOMContentLoaded", begin);
})();
