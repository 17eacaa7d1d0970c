/** Which messages were on the screen: ranges of message numbers, in order and apart from each other. */

export type Ranges = readonly (readonly [from: number, to: number])[]

/** Adds a range. Ranges that touch or overlap become one. */
export function addRange(ranges: Ranges, from: number, to: number): Ranges {
  if (to < from || ranges.some((each) => each[0] <= from && to <= each[1])) return ranges
  const apart = ranges.filter((each) => each[1] < from - 1 || each[0] > to + 1)
  const joined = ranges.filter((each) => !apart.includes(each))
  const whole = [Math.min(from, ...joined.map((each) => each[0])), Math.max(to, ...joined.map((each) => each[1]))] as const
  return [...apart, whole].toSorted((a, b) => a[0] - b[0])
}

/** The last message that was seen together with all messages before it. */
export const seenUpTo = (ranges: Ranges, read: number): number => addRange(ranges, 0, read)[0]![1]

/** How many messages of a range were not on the screen. */
export function countUnseen(ranges: Ranges, from: number, to: number): number {
  const seen = ranges.reduce((sum, each) => sum + Math.max(0, Math.min(each[1], to) - Math.max(each[0], from) + 1), 0)
  return Math.max(0, to - from + 1 - seen)
}
