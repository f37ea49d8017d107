// What a player sees and can press, by roles and accessible names.
const nameOf = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim().replace(/\s+/g, " ");
const choices = (elements) => [...elements].map((element) => ({
  name: nameOf(element),
  enabled: !element.disabled && element.ariaDisabled !== "true",
  pressed: element.getAttribute("aria-pressed") === "true",
  focused: element === document.activeElement,
  element,
}));
const labelled = (role, name) =>
  [...document.querySelectorAll(`[role="${role}"]`)].find((one) => one.getAttribute("aria-label") === name);
const group = (name) => choices(labelled("group", name)?.querySelectorAll("button") ?? []);
const moves = [...document.querySelectorAll("details")].find((one) => one.querySelector("summary")?.textContent === "All moves");
return {
  // The second is that of a page before 0.3.0.
  team: [...document.querySelectorAll("[data-result]"), ...document.querySelectorAll("h2")]
    .filter((one) => one.matches("[data-result]") || /have won$/.test(one.textContent)).map(nameOf)[0] ?? null,
  todo: labelled("status", "What to do")?.innerText ?? "",
  happened: labelled("log", "What happened")?.lastElementChild?.textContent ?? "",
  alerts: [...document.querySelectorAll('[role="alert"]')].map((one) => one.textContent.trim()),
  hand: group("Your hand"),
  board: group("Board"),
  ranks: group("Joker as"),
  advice: choices(document.querySelectorAll('ul[aria-label="Suggestions"] button')),
  moves: choices(moves?.querySelectorAll("button") ?? []),
  buttons: choices([...document.querySelectorAll("button")]
    .filter((one) => !one.closest('details, [role="group"], ul[aria-label="Suggestions"]'))),
  focus: document.activeElement === document.body ? null : nameOf(document.activeElement),
  log: document.querySelectorAll("details.log li").length,
};
