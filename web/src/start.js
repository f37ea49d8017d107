// Chooses the language, and has its words and the modules loaded. Says why the page does not start: the
// browser is too old, or a part of the page did not arrive. Every browser can read this file, and it
// needs no other one.

(function () {
  /** @type {Record<string, string[]>} */
  var words = {
    en: ["This page needs a newer browser: ", " or later.", "The page could not be loaded.", "Load again"],
    de: ["Diese Seite braucht einen neueren Browser: ", " oder neuer.", "Die Seite konnte nicht geladen werden.", "Neu laden"],
    fr: ["Cette page demande un navigateur plus récent : ", " ou plus récent.", "La page n’a pas pu être chargée.", "Recharger"],
    it: ["Questa pagina richiede un browser più recente: ", " o più recente.", "Impossibile caricare la pagina.", "Ricarica"]
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

  var script = /** @type {HTMLScriptElement} */ (document.currentScript);
  var link = document.createElement("link");
  link.rel = "preload";
  link.setAttribute("as", "fetch");
  link.crossOrigin = "anonymous";
  link.href = script.src.replace("src/start.js", "lang/" + lang + ".json");
  document.head.appendChild(link);

  var browsers = "Chrome 93, Edge 93, Firefox 92, Safari 15.4";
  var old = !("noModule" in document.createElement("script")) || !Array.prototype.at || !Object.hasOwn
    || !window.Intl || !Intl.ListFormat || !window.BroadcastChannel || !window.ReadableStream;

  function tell() {
    var opening = document.getElementById("opening");
    if (!opening || opening.getElementsByTagName("p").length > 0) return;
    // What an old browser could draw of the page would not work.
    if (old) /** @type {Element} */ (opening.parentNode).removeAttribute("id");
    var told = words[lang];
    var text = document.createElement("p");
    text.textContent = old ? told[0] + browsers + told[1] : told[2];
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

  function load() {
    document.head.appendChild(/** @type {HTMLTemplateElement} */ (document.getElementById("modules")).content);
  }

  // Modules that the browser has kept would all be compiled before anything is shown.
  function begin() {
    if (old) tell();
    else if (!navigator.serviceWorker || !navigator.serviceWorker.controller || document.hidden) load();
    else requestAnimationFrame(function () { setTimeout(load); });
  }

  window.addEventListener("error", fail, true);
  window.addEventListener("unhandledrejection", fail);
  document.addEventListener("DOMContentLoaded", begin);
})();
