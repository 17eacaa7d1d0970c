const FIRST_MS = 250
const LONGEST_MS = 5000

/** Milliseconds before the next attempt. Doubles each time; half is random, so that clients do not reconnect together. */
export function backoff(attempts: number, random: () => number = Math.random): number {
  const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 16))
  return delay * (0.5 + random() / 2)
}
