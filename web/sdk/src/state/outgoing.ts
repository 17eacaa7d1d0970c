/** Messages on their way: shown at once, and replaced by the stored one, which carries the same `clientId`. */
import type { Message } from '../types.ts'

export interface Draft {
  readonly text: string
  readonly replyTo?: string
  readonly mentions?: readonly string[]
}

export interface Sending extends Draft {
  readonly clientId: string
  readonly at: string
  /** `waiting`: nobody could be reached; it goes out by itself later. `refused`: it needs a person. */
  readonly status: 'sending' | 'waiting' | 'refused'
  readonly problem?: string
}

/** By space, in the order of writing. */
export type SendingState = Readonly<Record<string, readonly Sending[]>>

export function begin(state: SendingState, spaceId: string, sending: Sending): SendingState {
  return { ...state, [spaceId]: [...(state[spaceId] ?? []), sending] }
}

/** Nothing happens to what has arrived meanwhile: an event may be quicker than the answer that reports a failure. */
export function change(
  state: SendingState,
  spaceId: string,
  clientId: string,
  status: Sending['status'],
  problem?: string,
): SendingState {
  if (!state[spaceId]?.some((each) => each.clientId === clientId)) return state
  const change = (each: Sending): Sending => {
    const { problem: _, ...rest } = each
    return problem === undefined ? { ...rest, status } : { ...rest, status, problem }
  }
  const next = state[spaceId].map((each) => (each.clientId === clientId ? change(each) : each))
  return { ...state, [spaceId]: next }
}

export function discard(state: SendingState, spaceId: string, clientId: string): SendingState {
  const rest = state[spaceId]?.filter((each) => each.clientId !== clientId)
  if (!rest || rest.length === state[spaceId]?.length) return state
  return { ...state, [spaceId]: rest }
}

export function arrived(state: SendingState, message: Message, me: string): SendingState {
  if (message.sender.id !== me || message.clientId === null) return state
  return discard(state, message.spaceId, message.clientId)
}
