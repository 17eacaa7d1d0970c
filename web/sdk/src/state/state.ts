/**
 * What a client knows, as a value: loaded once, then folded from events. Pure; it fetches nothing itself.
 *
 * Load after the stream has said `connected`, then apply what comes: an event that the loaded state contains already
 * changes nothing.
 */
import type { Connected, LiveEvent, RunEvent, SpaceEvent, StreamEvent } from '../events.ts'
import type { Me, Message, PendingCall, Run, Space } from '../types.ts'
import {
  applyProgress,
  applyRun,
  applyStream,
  doubtWorking,
  finishStream,
  greet,
  hearTool,
  leaveSpace,
  loadRuns,
  nobody,
  type AgentsState,
} from './activity.ts'
import { join, type History } from './history.ts'
import { arrived, type SendingState } from './outgoing.ts'
import { addMessage, applyToSpace, loadedSpace, see, type SpaceState } from './space.ts'

export interface State {
  readonly me: Me | null
  /** `lost` after a moment without a connection; what is shown may be old. */
  readonly connection: 'connecting' | 'live' | 'lost' | 'ended'
  readonly spaces: Readonly<Record<string, SpaceState>>
  readonly agents: AgentsState
  readonly sending: SendingState
  /** Spaces joined meanwhile, and spaces where something was missed: fetch them and hand them to `loadSpace`. */
  readonly toFetch: ReadonlySet<string>
}

export const nothing: State = {
  me: null,
  connection: 'connecting',
  spaces: {},
  agents: nobody,
  sending: {},
  toFetch: new Set(),
}

/** Everything anew: all of one's spaces, the messages of those that are shown, and the runs under way. */
export function load(
  state: State,
  me: Me,
  spaces: readonly Space[],
  histories: Readonly<Record<string, readonly Message[]>>,
  runs: readonly Run[],
  calls: readonly PendingCall[] = [],
): State {
  const empty = { ...state, me, spaces: {}, toFetch: new Set<string>(), agents: loadRuns(state.agents, runs, calls) }
  return spaces.reduce<State>((next, space) => loadSpace(next, space, histories[space.id] ?? null), empty)
}

export function loadSpace(state: State, space: Space, history: readonly Message[] | null): State {
  const toFetch = new Set(state.toFetch)
  toFetch.delete(space.id)
  const loaded = loadedSpace(space, history, idOf(state))
  const next = { ...state, toFetch, spaces: { ...state.spaces, [space.id]: loaded } }
  return (history ?? []).reduce<State>(takeArrived, next)
}

/** Runs under way, read after these spaces: what agents did there may be among what was missed. */
export function loadRunsAgain(state: State, spaceIds: ReadonlySet<string>, runs: readonly Run[], calls: readonly PendingCall[]): State {
  return { ...state, agents: loadRuns(doubtWorking(state.agents, spaceIds), runs, calls) }
}

/** A page of messages that somebody has asked for. `anew` puts it in the place of what was at hand. */
export function loadHistory(state: State, spaceId: string, page: readonly Message[], anew = false): State {
  const space = state.spaces[spaceId]
  if (!space) return state
  const history: History = anew || !space.history ? page : join(space.history, page)
  const me = idOf(state)
  const next = page.reduce<SpaceState>((known, message) => addMessage(known, message, me), { ...space, history })
  return page.reduce<State>(takeArrived, put(state, next))
}

export function dropSpace(state: State, spaceId: string): State {
  const { [spaceId]: _, ...spaces } = state.spaces
  const toFetch = new Set(state.toFetch)
  toFetch.delete(spaceId)
  return { ...state, spaces, toFetch, agents: leaveSpace(state.agents, spaceId) }
}

/** The answer to one's own sending; the event that tells the same may have come before it or come later. */
export function takeOwn(state: State, message: Message): State {
  const space = state.spaces[message.spaceId]
  const next = space ? put(state, addMessage(space, message, idOf(state))) : state
  return takeArrived(next, message)
}

export function markSeen(state: State, spaceId: string, seq: number, messageId: string): State {
  const space = state.spaces[spaceId]
  return space ? put(state, see(space, seq, messageId)) : state
}

export function hello(state: State, event: Connected, now: number): State {
  return { ...state, agents: greet(state.agents, event, now) }
}

export function apply(state: State, event: LiveEvent, now: number): State {
  if (event.type === 'connected') return hello(state, event, now)
  if (event.type === 'resync' || !('spaceId' in event)) return state
  if (event.type === 'tool-call.progress') {
    return state.spaces[event.spaceId] ? { ...state, agents: applyProgress(state.agents, event) } : state
  }
  if (isStreamEvent(event)) {
    return state.spaces[event.spaceId] ? { ...state, agents: applyStream(state.agents, event) } : state
  }
  if (isOwnMove(event, idOf(state))) return move(state, event)
  const space = state.spaces[event.spaceId]
  if (!space) return state
  const noticed = noticeGap(state, space, event)
  return isRunEvent(event) ? applyRunEvent(noticed, space, event, now) : applySpaceEvent(noticed, space, event)
}

function applySpaceEvent(state: State, space: SpaceState, event: SpaceEvent): State {
  const next = put(state, applyToSpace(space, event, idOf(state)))
  if (event.type !== 'space.message') return next
  const heard = takeArrived(next, event.message)
  const agents = hearTool(heard.agents, event.message)
  return { ...heard, agents: event.streamId ? finishStream(agents, event.streamId) : agents }
}

/**
 * Also when the space knows of it: who is at work was told with `connected`, before the space was read. What happened in
 * between comes in its order, to its end, and so leads to the same as a fresh load.
 */
function applyRunEvent(state: State, space: SpaceState, event: RunEvent, now: number): State {
  const heard = { ...state, agents: applyRun(state.agents, event, now) }
  return event.eventSeq > space.eventSeq ? put(heard, { ...space, eventSeq: event.eventSeq }) : heard
}

/** Events of a space are numbered without holes. One that is missing means: fetch the space. */
function noticeGap(state: State, space: SpaceState, event: SpaceEvent | RunEvent): State {
  const number = 'eventSeq' in event ? event.eventSeq : space.eventSeq
  const missed = number > space.eventSeq + 1
  return missed ? { ...state, toFetch: new Set([...state.toFetch, space.facts.id]) } : state
}

type Move = Extract<SpaceEvent, { type: 'space.member.joined' | 'space.member.left' | 'space.member.updated' }>

/** One's own joining says only that there is a space to fetch; one's own leaving drops it. */
function move(state: State, event: Move): State {
  const space = state.spaces[event.spaceId]
  if (space && event.eventSeq <= space.eventSeq) return state
  if (event.type === 'space.member.left') return dropSpace(state, event.spaceId)
  return { ...dropSpace(state, event.spaceId), toFetch: new Set([...state.toFetch, event.spaceId]) }
}

function isOwnMove(event: SpaceEvent | RunEvent, me: string): event is Move {
  return (event.type === 'space.member.joined' || event.type === 'space.member.left') && event.entityId === me
}

const isStreamEvent = (event: LiveEvent): event is StreamEvent => event.type.startsWith('tool-')
const isRunEvent = (event: SpaceEvent | RunEvent): event is RunEvent => /^(run|agent)\./.test(event.type)

function takeArrived(state: State, message: Message): State {
  const sending = arrived(state.sending, message, idOf(state))
  return sending === state.sending ? state : { ...state, sending }
}

function put(state: State, space: SpaceState): State {
  return state.spaces[space.facts.id] === space
    ? state
    : { ...state, spaces: { ...state.spaces, [space.facts.id]: space } }
}

const idOf = (state: State): string => state.me?.id ?? ''
