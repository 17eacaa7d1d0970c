/** Messages that are not stored yet. The stored message has the same `clientId` and replaces them. */
import type { FileInfo, Message } from '../types.ts'

export interface Draft {
  readonly text: string
  readonly replyTo?: string
  readonly mentions?: readonly string[]
  /** Uploaded files. */
  readonly files?: readonly FileInfo[]
}

export interface OutgoingMessage extends Draft {
  readonly clientId: string
  readonly at: string
  /** `waiting` messages are sent again automatically; `refused` ones need the author. */
  readonly status: 'sending' | 'waiting' | 'refused'
  readonly problem?: string
}

/** By space, oldest first. */
export type OutgoingState = Readonly<Record<string, readonly OutgoingMessage[]>>

export function addOutgoing(state: OutgoingState, spaceId: string, message: OutgoingMessage): OutgoingState {
  return { ...state, [spaceId]: [...(state[spaceId] ?? []), message] }
}

/** Does nothing if the message is already stored: its event can come before the response that reports a failure. */
export function setStatus(
  state: OutgoingState,
  spaceId: string,
  clientId: string,
  status: OutgoingMessage['status'],
  problem?: string,
): OutgoingState {
  if (!state[spaceId]?.some((each) => each.clientId === clientId)) return state
  const change = (each: OutgoingMessage): OutgoingMessage => {
    const { problem: _, ...rest } = each
    return problem === undefined ? { ...rest, status } : { ...rest, status, problem }
  }
  const next = state[spaceId].map((each) => (each.clientId === clientId ? change(each) : each))
  return { ...state, [spaceId]: next }
}

export function removeOutgoing(state: OutgoingState, spaceId: string, clientId: string): OutgoingState {
  const rest = state[spaceId]?.filter((each) => each.clientId !== clientId)
  if (!rest || rest.length === state[spaceId]?.length) return state
  return { ...state, [spaceId]: rest }
}

export function removeStored(state: OutgoingState, message: Message, me: string): OutgoingState {
  if (message.sender.id !== me || message.clientId === null) return state
  return removeOutgoing(state, message.spaceId, message.clientId)
}
