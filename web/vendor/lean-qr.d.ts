// What the page uses of lean-qr.

export const correction: { L: number, M: number, Q: number, H: number };

/** The smallest code of a text with at least this error correction. */
export function generate(text: string, options: { minCorrectionLevel: number }): {
  /** Modules on a side, without the quiet zone. */
  readonly size: number,
  /** Whether a module is dark. */
  get(x: number, y: number): boolean,
};
