// Lets a browser translate the page. A translation puts an element in the place of each text, but
// the page goes on changing and removing the text itself: the old words would stay for ever.
//
// So the text is put back, empty, before the element. As soon as the page changes or removes the
// text, the element is removed, and the browser translates the new words.

/**
 * The texts that are translated now: the element with the translation, and the words of the page.
 *
 * @type {Map<Text, {element: Element, words: string}>}
 */
const translated = new Map();

/** Follows what happens to the texts of the page. @param {Element} page */
export function surviveTranslation(page) {
  const observer = new MutationObserver((records) => {
    for (const record of records) find(record);
    settle();
    // Ignore the changes that were made here.
    observer.takeRecords();
  });
  observer.observe(page, { subtree: true, childList: true, characterData: true });
}

/** @param {Node | null} node @returns {node is Element} whether a translation made it: the page makes no such element */
const isTranslation = (node) => node?.nodeName === "FONT";

/** Finds texts that a translation has replaced, or has moved into its element. @param {MutationRecord} record */
function find({ target, addedNodes, removedNodes, previousSibling, nextSibling }) {
  if (target instanceof Element && target.closest("font")) return;
  for (const text of removedNodes) {
    if (!(text instanceof Text) || text.parentNode === target || translated.has(text)) continue;
    const element = [...addedNodes, previousSibling, nextSibling].filter(isTranslation)
      .find((one) => one.parentNode === target);
    if (!element) continue;
    translated.set(text, { element, words: text.data });
    text.replaceWith(text.cloneNode());
    element.before(text);
    text.data = "";
  }
}

/** Removes translations where the page or the browser has changed something. */
function settle() {
  /** @type {Set<Node>} */
  const changed = new Set();
  for (const [text, { element }] of translated) {
    const parent = element.parentNode;
    if (text.isConnected && text.data === "" && element.isConnected) {
      // The page moves its own nodes only.
      if (text.nextSibling !== element) text.after(element);
    } else {
      // The sentences of an element are translated as one.
      for (const one of [parent, text.parentNode]) if (one) changed.add(one);
      restore(text);
    }
  }
  for (const text of [...translated.keys()]) {
    if (text.parentNode && changed.has(text.parentNode)) restore(text);
  }
}

/** Shows the words of the page. @param {Text} text */
function restore(text) {
  const { element, words } = translated.get(text) ?? {};
  element?.remove();
  if (text.data === "") text.data = words ?? "";
  translated.delete(text);
}
