/** Members that fit a mention that is being typed. The server finds the mentions in a finished text. */
import type { Member } from '@majlis/client'

export function suggestMembers(members: readonly Member[], typed: string, me: string): Member[] {
  const wanted = plain(typed)
  const others = members.filter((member) => member.id !== me && plain(member.name).includes(wanted))
  // Names that start with the typed text come first, and agents before people.
  const rank = (member: Member) => (plain(member.name).startsWith(wanted) ? 0 : 2) + (member.type === 'agent' ? 0 : 1)
  return others.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name)).slice(0, 8)
}

const plain = (text: string): string => text.normalize('NFKD').toLocaleLowerCase()
