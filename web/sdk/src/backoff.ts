/** How long to wait before the next try. */

const FIRST_MS = 250
const LONGEST_MS = 5000

/** Doubles with each try, and half of it is chance: clients that were cut off together do not return together. */
export function backoff(tries: number, chance: () => number = Math.random): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 16))
  return whole * (0.5 + chance() / 2)
}
