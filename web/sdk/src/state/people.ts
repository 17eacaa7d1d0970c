/** The people who are online, and who is writing a message where. Known only if the stream asked for presence. */
import type { Connected, PresenceEvent, TypingEvent } from '../events.ts'
import type { Message } from '../types.ts'

export interface PeopleState {
  readonly online: ReadonlySet<string>
  /** When each member was last writing, by space. */
  readonly typing: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export const noPeople: PeopleState = { online: new Set(), typing: {} }

export const connectedPeople = (event: Connected): PeopleState => ({ online: new Set(event.online), typing: {} })

export function applyPresence(state: PeopleState, event: PresenceEvent): PeopleState {
  const online = new Set([...state.online, ...event.online])
  event.offline.forEach((id) => online.delete(id))
  return { ...state, online }
}

export function applyTyping(state: PeopleState, event: TypingEvent, now: number): PeopleState {
  return { ...state, typing: { ...state.typing, [event.spaceId]: { ...state.typing[event.spaceId], [event.entityId]: now } } }
}

/** The member has sent the message. */
export function endTyping(state: PeopleState, message: Message): PeopleState {
  const { [message.sender.id]: known, ...others } = state.typing[message.spaceId] ?? {}
  return known === undefined ? state : { ...state, typing: { ...state.typing, [message.spaceId]: others } }
}
