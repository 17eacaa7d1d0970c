/**
 * The client's state as a value: loaded once, then updated by events. Pure functions; nothing is fetched here.
 *
 * Load after `connected`, then apply every event. Events that the loaded state already includes change nothing.
 */
import type { LiveEvent, RunEvent, SpaceEvent, StreamEvent } from '../events.ts'
import type { Me, Message, PendingCall, Preferences, Run, Space } from '../types.ts'
import {
  applyConnected,
  applyProgress,
  applyRun,
  applyStream,
  applyToolMessage,
  applyUnsent,
  clearWorking,
  finishStream,
  loadRuns,
  noActivity,
  removeSpace,
  type AgentsState,
} from './activity.ts'
import { addPage, type History } from './history.ts'
import { removeStored, type OutgoingState } from './outgoing.ts'
import { applyPresence, applyTyping, connectedPeople, endTyping, noPeople, type PeopleState } from './people.ts'
import { withPictures, type Pictured, type PicturesState } from './pictures.ts'
import { addMessage, applyToSpace, loadedSpace, setSeen, type SpaceState } from './space.ts'

export interface State {
  readonly me: Me | null
  /** While `lost`, the state may be out of date. */
  readonly connection: 'connecting' | 'live' | 'lost' | 'ended'
  readonly spaces: Readonly<Record<string, SpaceState>>
  readonly agents: AgentsState
  readonly people: PeopleState
  readonly outgoing: OutgoingState
  /** The paths of members' pictures, by id. */
  readonly pictures: PicturesState
  /** Null until the app has loaded them. */
  readonly preferences: Preferences | null
  /** Joined spaces, and spaces where events were missed: fetch them and call `loadSpace`. */
  readonly toFetch: ReadonlySet<string>
}

export const emptyState: State = {
  me: null,
  connection: 'connecting',
  spaces: {},
  agents: noActivity,
  people: noPeople,
  outgoing: {},
  pictures: {},
  preferences: null,
  toFetch: new Set(),
}

/** Replaces everything: all spaces, the histories of watched spaces, and active runs. */
export function load(
  state: State,
  me: Me,
  spaces: readonly Space[],
  histories: Readonly<Record<string, readonly Message[]>>,
  runs: readonly Run[],
  calls: readonly PendingCall[] = [],
): State {
  const pictures = withPictures(state.pictures, [me])
  const empty = { ...state, me, pictures, spaces: {}, toFetch: new Set<string>(), agents: loadRuns(state.agents, runs, calls) }
  return spaces.reduce<State>((next, space) => loadSpace(next, space, histories[space.id] ?? null), empty)
}

export function loadSpace(state: State, space: Space, history: readonly Message[] | null): State {
  const toFetch = new Set(state.toFetch)
  toFetch.delete(space.id)
  const loaded = loadedSpace(space, history, idOf(state))
  const pictures = withPictures(state.pictures, space.members)
  const next = { ...state, toFetch, pictures, spaces: { ...state.spaces, [space.id]: loaded } }
  return (history ?? []).reduce<State>(withoutStored, next)
}

/** Active runs, loaded after these spaces: their missed events may have been about runs. */
export function reloadRuns(state: State, spaceIds: ReadonlySet<string>, runs: readonly Run[], calls: readonly PendingCall[]): State {
  return { ...state, agents: loadRuns(clearWorking(state.agents, spaceIds), runs, calls) }
}

/** Adds a page of messages, or replaces the history with it. */
export function loadHistory(state: State, spaceId: string, page: readonly Message[], replace = false): State {
  const space = state.spaces[spaceId]
  if (!space) return state
  const history: History = replace || !space.history ? page : addPage(space.history, page)
  const me = idOf(state)
  const next = page.reduce<SpaceState>((known, message) => addMessage(known, message, me), { ...space, history })
  return page.reduce<State>(withoutStored, put(state, next))
}

export function dropSpace(state: State, spaceId: string): State {
  const { [spaceId]: _, ...spaces } = state.spaces
  const toFetch = new Set(state.toFetch)
  toFetch.delete(spaceId)
  return { ...state, spaces, toFetch, agents: removeSpace(state.agents, spaceId) }
}

/** The response to sending a message. Its event can come before or after. */
export function applySent(state: State, message: Message): State {
  const space = state.spaces[message.spaceId]
  const next = space ? put(state, addMessage(space, message, idOf(state))) : state
  return withoutStored(next, message)
}

export function markSeen(state: State, spaceId: string, seq: number, messageId: string): State {
  const space = state.spaces[spaceId]
  return space ? put(state, setSeen(space, seq, messageId)) : state
}

/** A member or the person themselves, with their picture as it is now. */
export function showPicture(state: State, entity: Pictured): State {
  const pictures = withPictures(state.pictures, [entity])
  if (pictures === state.pictures) return state
  return { ...state, pictures, me: state.me?.id === entity.id ? { ...state.me, picture: entity.picture ?? null } : state.me }
}

/** Loaded, answered or of an event: an older state changes nothing. */
export const applyPreferences = (state: State, preferences: Preferences): State =>
  state.preferences && state.preferences.revision >= preferences.revision ? state : { ...state, preferences }

export function apply(state: State, event: LiveEvent, now: number): State {
  if (event.type === 'connected') return { ...state, agents: applyConnected(state.agents, event, now), people: connectedPeople(event) }
  if (event.type === 'presence') return { ...state, people: applyPresence(state.people, event) }
  if (event.type === 'preferences.changed') return applyPreferences(state, event.preferences)
  if (event.type === 'resync' || !('spaceId' in event)) return state
  if (event.type === 'tool-call.progress') {
    return state.spaces[event.spaceId] ? { ...state, agents: applyProgress(state.agents, event) } : state
  }
  if (event.type === 'space.typing') return { ...state, people: applyTyping(state.people, event, now) }
  if (event.type === 'run.unsent') return { ...state, agents: applyUnsent(state.agents, event) }
  if (isStreamEvent(event)) {
    return state.spaces[event.spaceId] ? { ...state, agents: applyStream(state.agents, event) } : state
  }
  if (isOwnMembership(event, idOf(state))) return applyOwnMembership(state, event)
  const space = state.spaces[event.spaceId]
  if (!space) return state
  const next = markGap(state, space, event)
  return isRunEvent(event) ? applyRunEvent(next, space, event, now) : applySpaceEvent(next, space, event)
}

function applySpaceEvent(state: State, space: SpaceState, event: SpaceEvent): State {
  const next = put(event.type === 'space.member.joined' || event.type === 'space.member.updated' ? showPicture(state, event.member) : state, applyToSpace(space, event, idOf(state)))
  if (event.type === 'wait.updated') return { ...next, agents: { ...next.agents, waitChanges: next.agents.waitChanges + 1 } }
  if (event.type !== 'space.message') return next
  const stored = withoutStored(next, event.message)
  const agents = applyToolMessage(stored.agents, event.message)
  const people = endTyping(stored.people, event.message)
  return { ...stored, people, agents: event.streamId ? finishStream(agents, event.streamId) : agents }
}

/** Applied even if the space already includes it: `connected` listed the working runs before the space was loaded. */
function applyRunEvent(state: State, space: SpaceState, event: RunEvent, now: number): State {
  const next = { ...state, agents: applyRun(state.agents, event, now) }
  return event.eventSeq > space.eventSeq ? put(next, { ...space, eventSeq: event.eventSeq }) : next
}

/** Events of a space are numbered without gaps. If one is missing, the space is fetched. */
function markGap(state: State, space: SpaceState, event: SpaceEvent | RunEvent): State {
  const number = 'eventSeq' in event ? event.eventSeq : space.eventSeq
  const missed = number > space.eventSeq + 1
  return missed ? { ...state, toFetch: new Set([...state.toFetch, space.facts.id]) } : state
}

type Membership = Extract<SpaceEvent, { type: 'space.member.joined' | 'space.member.left' | 'space.member.updated' }>

/** The user joined a space, which is fetched, or left one, which is dropped. */
function applyOwnMembership(state: State, event: Membership): State {
  const space = state.spaces[event.spaceId]
  if (space && event.eventSeq <= space.eventSeq) return state
  if (event.type === 'space.member.left') return dropSpace(state, event.spaceId)
  return { ...dropSpace(state, event.spaceId), toFetch: new Set([...state.toFetch, event.spaceId]) }
}

function isOwnMembership(event: SpaceEvent | RunEvent, me: string): event is Membership {
  return (event.type === 'space.member.joined' || event.type === 'space.member.left') && event.entityId === me
}

const isStreamEvent = (event: LiveEvent): event is StreamEvent => event.type.startsWith('tool-')
const isRunEvent = (event: SpaceEvent | RunEvent): event is RunEvent => /^(run|agent)\./.test(event.type)

function withoutStored(state: State, message: Message): State {
  const outgoing = removeStored(state.outgoing, message, idOf(state))
  return outgoing === state.outgoing ? state : { ...state, outgoing }
}

function put(state: State, space: SpaceState): State {
  return state.spaces[space.facts.id] === space
    ? state
    : { ...state, spaces: { ...state.spaces, [space.facts.id]: space } }
}

const idOf = (state: State): string => state.me?.id ?? ''
