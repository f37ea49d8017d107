// What is too small, cut off, covered or out of reach, in one line each.
const [inSight] = arguments;
const findings = [];
const { scrollWidth } = document.documentElement;
if (scrollWidth > innerWidth) findings.push(`the page is ${scrollWidth} px wide`);
// What is behind an open dialog cannot be used.
const root = document.querySelector("dialog[open]") ?? document;
for (const one of root.querySelectorAll("button, summary, select, input, a")) {
  const box = one.getBoundingClientRect();
  // What is in a closed `details` has a box, but is not shown.
  if (box.width === 0 || !one.checkVisibility()) continue;
  const name = one.getAttribute("aria-label") ?? one.textContent.trim();
  const find = (what) => findings.push(`${one.tagName.toLowerCase()} “${name}” ${what}`);
  if (Math.min(box.width, box.height) < 24) find(`is ${box.width} x ${box.height} px`);
  if (box.left < 0 || box.right > innerWidth) find(`is cut off: from ${box.left} to ${box.right}`);
  if (one.matches("button") && one.scrollWidth > one.clientWidth + 1) find("has text that is cut off");
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const top = document.elementFromPoint(x, y);
  // What has scrolled behind the board of an analysis can be scrolled back.
  const board = top?.closest(".analyse .board");
  if (board && getComputedStyle(board).position === "sticky" && !board.contains(one)) continue;
  const visible = y > 0 && y < innerHeight && !one.closest("ul, ol");
  if (visible && top && !one.contains(top) && !top.contains(one)) find(`is covered by ${top.outerHTML.slice(0, 80)}`);
}
for (const name of inSight) {
  const box = document.querySelector(`[aria-label="${name}"]`)?.getBoundingClientRect();
  if (box && (box.bottom > innerHeight + 1 || box.top < 0)) {
    findings.push(`“${name}” is out of sight: from ${box.top} to ${box.bottom} of ${innerHeight}`);
  }
}
return findings;
