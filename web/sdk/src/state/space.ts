/** The state of one space: loaded once, then updated by its numbered events. */
import type { Reacted, SpaceEvent } from '../events.ts'
import type { Member, Message, Space, SpaceFacts } from '../types.ts'
import { insert, updates, type History } from './history.ts'

export interface SpaceState {
  readonly facts: SpaceFacts
  /** Ordered by the time they joined. */
  readonly members: readonly Member[]
  readonly headSeq: number
  readonly seenSeq: number
  readonly lastSeenMessageId: string | null
  /** The numbers of unread messages that mention the user. */
  readonly mentions: readonly number[]
  readonly lastMessage: Message | null
  /** The newest event that this state includes. */
  readonly eventSeq: number
  /** null until it is loaded. */
  readonly history: History | null
}

/** Never negative: a read position can arrive before its message. */
export const unread = (space: SpaceState): number => Math.max(0, space.headSeq - space.seenSeq)

export function loadedSpace(space: Space, history: readonly Message[] | null, me: string): SpaceState {
  const { members, lastMessage, lastSeenMessageId, lastSeenSeq, eventSeq, role: _, unreadCount: __, unreadMentions, ...facts } = space
  const state: SpaceState = {
    facts,
    members: inOrder(members),
    headSeq: lastMessage?.seq ?? 0,
    seenSeq: lastSeenSeq,
    lastSeenMessageId,
    mentions: unreadMentions ?? [],
    lastMessage,
    eventSeq,
    history,
  }
  // The history may be newer than the space, because it was loaded later.
  return (history ?? []).reduce((known, message) => addMessage(known, message, me), state)
}

export function applyToSpace(space: SpaceState, event: SpaceEvent, me: string): SpaceState {
  if (event.type === 'space.read') {
    return event.entityId === me ? setSeen(space, event.lastSeenSeq, event.lastSeenMessageId) : space
  }
  const known = event.eventSeq <= space.eventSeq
  const next = known ? space : { ...space, eventSeq: event.eventSeq }
  // Always applied: the history may be older than the space, and messages are deduped by their own numbers.
  if (event.type === 'space.message') return addMessage(next, withCurrentName(next, event.message), me)
  if (event.type === 'message.reactions') return addReactions(next, event, me)
  if (known) return space
  switch (event.type) {
    case 'space.member.joined':
    case 'space.member.updated':
      return named(setMember(next, event.member), me)
    case 'space.member.left':
      return { ...next, members: next.members.filter((member) => member.id !== event.entityId) }
    case 'space.updated':
      return named({ ...next, facts: event.space }, me)
    default:
      return next // from a newer server
  }
}

export function addMessage(space: SpaceState, message: Message, me: string): SpaceState {
  const isNew = message.seq > space.headSeq
  const seen = isNew && message.sender.id === me ? setSeen(space, message.seq, message.id) : space
  const newest = isNew || (space.lastMessage !== null && updates(message, space.lastMessage))
  const history = seen.history && insert(seen.history, message)
  if (!newest && history === seen.history) return seen
  const mentions = mentionsWith(seen, message, me)
  return newest ? { ...seen, headSeq: message.seq, lastMessage: message, history, mentions } : { ...seen, history, mentions }
}

/** An edit can add a mention, and an edit or a deletion can take it away. */
function mentionsWith(space: SpaceState, message: Message, me: string): readonly number[] {
  const mentioned = message.seq > space.seenSeq && message.mentions.includes(me)
  if (mentioned === space.mentions.includes(message.seq)) return space.mentions
  return mentioned ? [...space.mentions, message.seq].toSorted((a, b) => a - b) : space.mentions.filter((seq) => seq !== message.seq)
}

function addReactions(space: SpaceState, event: Reacted, me: string): SpaceState {
  const known = [...(space.history ?? []), ...(space.lastMessage ? [space.lastMessage] : [])].find((message) => message.id === event.messageId)
  return known ? addMessage(space, { ...known, reactions: event.reactions, revision: event.revision }, me) : space
}

export function setSeen(space: SpaceState, seq: number, messageId: string): SpaceState {
  if (seq <= space.seenSeq) return space
  return { ...space, seenSeq: seq, lastSeenMessageId: messageId, mentions: space.mentions.filter((each) => each > seq) }
}

function setMember(space: SpaceState, member: Member): SpaceState {
  const members = inOrder([...space.members.filter((other) => other.id !== member.id), member])
  const next = { ...space, members }
  return {
    ...next,
    lastMessage: next.lastMessage && withCurrentName(next, next.lastMessage),
    history: next.history && next.history.map((message) => withCurrentName(next, message)),
  }
}

/** A direct conversation has the name of the other member. */
function named(space: SpaceState, me: string): SpaceState {
  const other = space.facts.direct ? space.members.find((member) => member.id !== me) : undefined
  return other && other.name !== space.facts.name ? { ...space, facts: { ...space.facts, name: other.name } } : space
}

/** The server returns messages with the current name of the sender. */
function withCurrentName(space: SpaceState, message: Message): Message {
  const sender = space.members.find((member) => member.id === message.sender.id)
  if (!sender || sender.name === message.sender.name) return message
  return { ...message, sender: { ...message.sender, name: sender.name } }
}

function inOrder(members: readonly Member[]): readonly Member[] {
  return members.toSorted((a, b) => compare(a.joinedAt, b.joinedAt) || compare(a.id, b.id))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
