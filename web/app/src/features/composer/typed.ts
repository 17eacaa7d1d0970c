/** The word at the caret that can be completed: a mention, an emoji, or a command at the beginning. */
export interface Typed {
  kind: 'mention' | 'emoji' | 'command'
  /** The position of the @, : or /. */
  from: number
  /** The text after it. */
  text: string
}

const MENTION = /(?:^|[\s(])@([^\s@]{0,32}(?: [^\s@]{0,32})?)$/
/** Two letters at least, so that times and smileys are left alone. */
const EMOJI = /(?:^|[\s(]):([a-z][a-z_]{1,31})$/
const COMMAND = /^\/([a-z]{0,16})$/

export function typedAt(text: string, caret: number): Typed | null {
  const before = text.slice(0, caret)
  for (const [kind, pattern] of [['mention', MENTION], ['emoji', EMOJI], ['command', COMMAND]] as const) {
    const found = pattern.exec(before)
    if (found) return { kind, from: caret - found[1]!.length - 1, text: found[1]! }
  }
  return null
}
