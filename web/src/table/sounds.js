// Sounds, made by code: nothing is loaded.

/** @type {AudioContext | null} */
let context = null;

/** Browsers let a page be heard after its first press, and again after a phone call. */
for (const type of ["pointerup", "keydown"]) {
  addEventListener(type, () => { if (context && context.state !== "running") context.resume().catch(() => {}); }, true);
}

/** @returns {AudioContext | null} */
function audio() {
  try {
    context ??= new AudioContext();
  } catch {
    // A browser without sound.
  }
  return context?.state === "running" ? context : null;
}

/**
 * A tone that fades.
 *
 * @param {number} after seconds from now @param {number} from Hz @param {number} to Hz at its end
 * @param {number} length seconds @param {OscillatorType} [type] @param {number} [loudness]
 */
function tone(after, from, to, length, type = "triangle", loudness = 0.14) {
  const out = audio();
  if (!out) return;
  const begin = out.currentTime + after;
  const source = out.createOscillator();
  const volume = out.createGain();
  source.type = type;
  source.frequency.setValueAtTime(from, begin);
  source.frequency.exponentialRampToValueAtTime(to, begin + length);
  volume.gain.setValueAtTime(loudness, begin);
  volume.gain.exponentialRampToValueAtTime(0.001, begin + length);
  source.connect(volume).connect(out.destination);
  source.start(begin);
  source.stop(begin + length);
}

/** A press, soft as a piece that is set down. */
export const clicking = () => tone(0, 420, 160, 0.03, "sine", 0.06);

/** Cards that are dealt. @param {number} cards */
export const dealing = (cards) => Array.from({ length: cards }, (_, card) => tone(card * 0.07, 900, 300, 0.04, "square"));

/** A piece that walks. @param {number} steps @param {number} seconds for one */
export const walking = (steps, seconds) =>
  Array.from({ length: steps }, (_, step) => tone((step + 1) * seconds, 520, 260, 0.05));

/** A piece that goes back to its kennel. @param {number} after seconds */
export const capturing = (after) => tone(after, 220, 55, 0.35, "sine");

/** The turn of the player. */
export const calling = () => [523, 659].forEach((pitch, note) => tone(0.15 + note * 0.13, pitch, pitch, 0.3, "sine"));

/** A lesson that is solved, a game that is won. @param {number} [after] seconds */
export const cheering = (after = 0) => [523, 659, 784, 1047].forEach((pitch, note) => tone(after + note * 0.1, pitch, pitch, 0.4));
