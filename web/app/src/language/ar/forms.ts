/** The six plural forms of Arabic. */
import type { Forms } from '../language.ts'

/** Each form in full. */
export const forms = (zero: string, one: string, two: string, few: string, many: string, other: string): Forms => ({ zero, one, two, few, many, other })

/** A number of things: the words for none, one and two, then what stands after 3–10, 11–99 and 100. */
export const things = (none: string, one: string, two: string, few: string, many: string, other = many): Forms =>
  forms(none, one, two, `{n} ${few}`, `{n} ${many}`, `{n} ${other}`)
