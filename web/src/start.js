// Says why the page does not start: the browser is too old, or a part of the page did not arrive.
// Every browser can read this file, and it needs no other one.

(function () {
  /** @type {Record<string, string[]>} */
  var words = {
    en: ["This page needs a newer browser: ", " or later.", "The page could not be loaded.", "Load again"],
    de: ["Diese Seite braucht einen neueren Browser: ", " oder neuer.", "Die Seite konnte nicht geladen werden.", "Neu laden"],
    fr: ["Cette page demande un navigateur plus récent : ", " ou plus récent.", "La page n’a pas pu être chargée.", "Recharger"],
    it: ["Questa pagina richiede un browser più recente: ", " o più recente.", "Impossibile caricare la pagina.", "Ricarica"]
  };
  var browsers = "Chrome 93, Edge 93, Firefox 92, Safari 15.4";
  var old = !("noModule" in document.createElement("script")) || !Array.prototype.at || !Object.hasOwn
    || !window.Intl || !Intl.ListFormat || !window.BroadcastChannel || !window.ReadableStream;

  function tell() {
    var page = document.getElementById("page");
    if (!page || page.firstChild) return;
    var asked = /[?&]lang=(\w\w)/.exec(location.search);
    var own = words[asked ? asked[1] : String(navigator.language).slice(0, 2)] || words.en;
    var text = document.createElement("p");
    text.textContent = old ? own[0] + browsers + own[1] : own[2];
    text.setAttribute("role", "alert");
    var main = document.createElement("main");
    main.className = "waiting";
    main.appendChild(text);
    if (!old) {
      var again = document.createElement("button");
      again.textContent = own[3];
      again.onclick = function () { location.reload(); };
      main.appendChild(again);
    }
    page.appendChild(main);
  }

  /** @param {any} event */
  function fail(event) {
    // A picture that is missing is no reason.
    if (event.target && event.target.tagName && event.target.tagName !== "SCRIPT") return;
    if (event.error instanceof SyntaxError) old = true;
    tell();
  }

  window.addEventListener("error", fail, true);
  window.addEventListener("unhandledrejection", fail);
  if (old) document.addEventListener("DOMContentLoaded", tell);
})();
