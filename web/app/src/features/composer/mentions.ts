/** `@Name`: finding the one that is being written, and those that a text holds. */
import type { Member } from '@majlis/client'

export interface Asking {
  /** Where the @ stands, and what was written after it. */
  from: number
  typed: string
}

export function askingAt(text: string, caret: number): Asking | null {
  const found = /(^|[\s(])@([^\s@]{0,32}(?: [^\s@]{0,32})?)$/.exec(text.slice(0, caret))
  return found ? { from: caret - found[2]!.length - 1, typed: found[2]! } : null
}

export function suggestions(members: readonly Member[], typed: string, me: string): Member[] {
  const wanted = plain(typed)
  const others = members.filter((member) => member.id !== me && plain(member.name).includes(wanted))
  // Names that begin so come first; agents before people, since one mostly calls them.
  const rank = (member: Member) => (plain(member.name).startsWith(wanted) ? 0 : 2) + (member.type === 'agent' ? 0 : 1)
  return others.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, 8)
}

export function mentioned(text: string, members: readonly Member[]): string[] {
  return members.filter((member) => pattern(member.name).test(text)).map((member) => member.id)
}

/** Not in the middle of a word: neither an address nor "@Annabel" names Anna. */
function pattern(name: string): RegExp {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}_.])@${escaped}(?![\p{L}\p{N}_])`, 'iu')
}

const plain = (text: string): string => text.normalize('NFKD').toLocaleLowerCase()
