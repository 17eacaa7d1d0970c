/** The mention being typed. The server finds the mentions in a finished text. */
import type { Member } from '@majlis/client'

/** `from` is the position of the @, `typed` the text after it. */
export interface TypedMention {
  from: number
  typed: string
}

export function mentionAt(text: string, caret: number): TypedMention | null {
  const found = /(^|[\s(])@([^\s@]{0,32}(?: [^\s@]{0,32})?)$/.exec(text.slice(0, caret))
  return found ? { from: caret - found[2]!.length - 1, typed: found[2]! } : null
}

export function suggestions(members: readonly Member[], typed: string, me: string): Member[] {
  const wanted = plain(typed)
  const others = members.filter((member) => member.id !== me && plain(member.name).includes(wanted))
  // Names that start with the typed text come first, and agents before people.
  const rank = (member: Member) => (plain(member.name).startsWith(wanted) ? 0 : 2) + (member.type === 'agent' ? 0 : 1)
  return others.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, 8)
}

const plain = (text: string): string => text.normalize('NFKD').toLocaleLowerCase()
