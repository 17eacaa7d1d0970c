/** Decides which messages are folded: those that fill about two screens. Code blocks scroll on their own and count as one part of a screen. */

const LINE_CHARACTERS = 85
const LONG_LINES = 75
const CODE_LINES = 18
const SHOWN_LINES = 40
const FIRST_LINES = new RegExp(String.raw`^(?:.*\n){0,${SHOWN_LINES}}.*`)

export const isLong = (text: string): boolean => isMany(linesOf(text))
export const isMany = (lines: number): boolean => lines > LONG_LINES

/** The number of lines on screen, estimated. */
export function linesOf(text: string): number {
  let [lines, code] = [0, -1]
  for (const line of text.split('\n')) {
    if (/^ {0,3}(```|~~~)/.test(line)) code = code < 0 ? 0 : -1
    else if (code >= 0) lines += code++ < CODE_LINES ? 1 : 0
    else lines += Math.max(1, Math.ceil(line.length / LINE_CHARACTERS))
  }
  return lines
}

const counted = new WeakMap<object, number>()

/** The same for a message. Counted once: a switch to a space asks for all of its messages. */
export function linesIn(message: { text: string }): number {
  const known = counted.get(message)
  if (known !== undefined) return known
  const lines = linesOf(message.text)
  counted.set(message, lines)
  return lines
}

export const startOf = (text: string): string => FIRST_LINES.exec(text)![0].slice(0, SHOWN_LINES * LINE_CHARACTERS)
