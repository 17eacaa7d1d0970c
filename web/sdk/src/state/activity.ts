/** The activity of agents: working runs, waiting runs, open text streams and questions. */
import type { Connected, ProgressEvent, RunEvent, StreamEvent, UnsentEvent } from '../events.ts'
import type { Message, PendingCall, Run, Tool, Wait } from '../types.ts'

/** `since` is the client's time if the server's is unknown. */
export interface WorkingRun {
  readonly runId: string
  readonly agentId: string
  readonly spaceId: string
  readonly since: number
}

export interface WaitingRun {
  readonly runId: string
  readonly agentId: string
  readonly spaceId: string
  readonly for: 'reply' | 'tool'
  readonly wait: Wait | null
  readonly since: number
}

export interface Stream {
  readonly streamId: string
  readonly spaceId: string
  readonly agentId: string
  readonly runId: string | null
  /** The name of the visible tool whose arguments `text` has, as JSON. Null for a message. */
  readonly tool: string | null
  readonly text: string
  /** In code points, as the server counts. */
  readonly length: number
}

export interface AgentsState {
  /** By run and space. */
  readonly working: Readonly<Record<string, WorkingRun>>
  /** By run. */
  readonly waiting: Readonly<Record<string, WaitingRun>>
  readonly streams: Readonly<Record<string, Stream>>
  /** Open questions to people, by run and call. */
  readonly pending: Readonly<Record<string, PendingCall>>
  /** Latest progress text, by tool call. */
  readonly progress: Readonly<Record<string, string>>
  /** Answers to the user that were not sent, by run. Known from events only. */
  readonly unsent: Readonly<Record<string, UnsentEvent>>
  /** How many questions were asked, answered or ended. Clients load the open ones again when it changes. */
  readonly waitChanges: number
  /** How many events of runs there were. A run that starts and ends at once leaves no other trace. */
  readonly runChanges: number
  /** Ended streams, whose late events are ignored. */
  readonly finished: ReadonlySet<string>
}

export const noActivity: AgentsState = { working: {}, waiting: {}, streams: {}, pending: {}, progress: {}, unsent: {}, waitChanges: 0, runChanges: 0, finished: new Set() }

const FINISHED_KEPT = 500

/** The snapshot in `connected` replaces what was known; later events apply on top of it. */
export function applyConnected(state: AgentsState, event: Connected, now: number): AgentsState {
  const working = event.activeAgents.map(({ runId, agentId, spaceId }) => {
    const key = keyOf(runId, spaceId)
    return [key, state.working[key] ?? { runId, agentId, spaceId, since: now }] as const
  })
  const streams = event.streams
    .filter(({ streamId }) => !state.finished.has(streamId))
    .map(({ streamId, text, spaceId, agentId }) => {
      const runId = state.streams[streamId]?.runId ?? null
      return [streamId, { streamId, text, length: lengthOf(text), spaceId, agentId, runId, tool: null }] as const
    })
  const pending = asPending(event.pendingToolCalls)
  return { ...state, progress: {}, pending, working: Object.fromEntries(working), streams: Object.fromEntries(streams) }
}

/** Active runs, loaded after the stream was opened. */
export function loadRuns(state: AgentsState, runs: readonly Run[], calls: readonly PendingCall[]): AgentsState {
  const working = { ...state.working }
  const waiting: Record<string, WaitingRun> = {}
  for (const run of runs) {
    const since = Date.parse(run.wait?.startedAt ?? run.startedAt ?? run.createdAt)
    const spaceId = run.trigger.spaceId ?? run.activeSpaceId
    if (run.status === 'running') {
      for (const id of new Set([run.trigger.spaceId, run.activeSpaceId])) {
        if (id) working[keyOf(run.id, id)] = { runId: run.id, agentId: run.agentId, spaceId: id, since }
      }
    } else if (spaceId && (run.status === 'waiting_reply' || run.status === 'waiting_tool')) {
      const what = run.status === 'waiting_tool' ? 'tool' : 'reply'
      waiting[run.id] = { runId: run.id, agentId: run.agentId, spaceId, for: what, wait: run.wait, since }
    }
  }
  return { ...state, working, waiting, pending: asPending(calls), runChanges: state.runChanges + 1 }
}

export function applyRun(state: AgentsState, event: RunEvent, now: number): AgentsState {
  const next = changeRun(state, event, now)
  return next === state ? state : { ...next, runChanges: state.runChanges + 1 }
}

function changeRun(state: AgentsState, event: RunEvent, now: number): AgentsState {
  const { runId, agentId, spaceId } = event
  switch (event.type) {
    case 'agent.active':
      return { ...state, working: addWorking(state.working, { runId, agentId, spaceId, since: now }) }
    case 'agent.inactive':
      return { ...state, working: without(state.working, keyOf(runId, spaceId)) }
    case 'run.started':
    case 'run.resumed':
      return { ...state, waiting: without(state.waiting, runId) }
    case 'run.waiting_reply':
    case 'run.waiting_tool': {
      const since = event.wait ? Date.parse(event.wait.startedAt) : now
      const what = event.type === 'run.waiting_tool' ? 'tool' : 'reply'
      const waiting: WaitingRun = { runId, agentId, spaceId, for: what, wait: event.wait ?? null, since }
      return { ...state, waiting: { ...state.waiting, [runId]: waiting } }
    }
    case 'run.completed':
    case 'run.failed':
    case 'run.canceled':
    case 'run.absorbed':
      return endRun(state, runId)
    default:
      return state // from a newer server
  }
}

export function applyStream(state: AgentsState, event: StreamEvent): AgentsState {
  const { streamId, spaceId } = event
  if (state.finished.has(streamId)) return state
  const known = state.streams[streamId]
  switch (event.type) {
    case 'tool-call.start': {
      if (known?.runId) return state
      const { text = '', length = 0 } = known ?? {}
      const tool = event.toolName === 'send_message' ? null : event.toolName
      const started = { streamId, spaceId, agentId: event.agentId, runId: event.runId, tool, text, length }
      return { ...state, streams: { ...state.streams, [streamId]: started } }
    }
    case 'tool-input-delta':
      return known ? { ...state, streams: { ...state.streams, [streamId]: append(known, 'argsDelta' in event ? event.argsDelta : event.textDelta, event.offset) } } : state
    case 'tool-call.complete':
      // The text stays until the stored message replaces it.
      return state
    case 'tool-call.error':
      return finishStream(state, streamId)
    default:
      return state // from a newer server
  }
}

export function applyProgress(state: AgentsState, { callId, text }: ProgressEvent): AgentsState {
  return { ...state, progress: { ...state.progress, [callId]: text } }
}

export const applyUnsent = (state: AgentsState, event: UnsentEvent): AgentsState => ({ ...state, unsent: { ...state.unsent, [event.runId]: event } })

/** A tool message: the call starts, asks a person, or has its result. */
export function applyToolMessage(state: AgentsState, message: Message): AgentsState {
  const { tool, runId } = message
  if (!tool || !runId) return state
  const key = keyOf(runId, tool.callId)
  if (tool.status !== 'running') {
    return { ...state, progress: without(state.progress, tool.callId), pending: without(state.pending, key) }
  }
  return tool.ui === null ? state : { ...state, pending: { ...state.pending, [key]: pendingOf(message, tool, runId) } }
}

function pendingOf(message: Message, tool: Tool, runId: string): PendingCall {
  return {
    toolCallId: tool.callId,
    runId,
    agentId: message.sender.id,
    agentName: message.sender.name,
    spaceId: message.spaceId,
    messageId: message.id,
    name: tool.name,
    input: tool.input,
    ui: tool.ui as PendingCall['ui'],
    purpose: tool.purpose ?? 'answer',
    resultSchema: tool.resultSchema ?? {},
    createdAt: message.createdAt,
    expiresAt: tool.expiresAt ?? message.createdAt,
  }
}

const asPending = (calls: readonly PendingCall[]): AgentsState['pending'] =>
  Object.fromEntries(calls.map((call) => [keyOf(call.runId, call.toolCallId), call]))

export function finishStream(state: AgentsState, streamId: string): AgentsState {
  const finished = new Set([...state.finished, streamId].slice(-FINISHED_KEPT))
  return { ...state, finished, streams: without(state.streams, streamId) }
}

/** Forgets the working runs of spaces where events were missed; the list of runs is loaded next. */
export function clearWorking(state: AgentsState, spaceIds: ReadonlySet<string>): AgentsState {
  return { ...state, working: Object.fromEntries(Object.entries(state.working).filter(([, each]) => !spaceIds.has(each.spaceId))) }
}

/** Non-members get no more events of a space. */
export function removeSpace(state: AgentsState, spaceId: string): AgentsState {
  const elsewhere = <T extends { spaceId: string }>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([, each]) => each.spaceId !== spaceId))
  return {
    ...state,
    working: elsewhere(state.working),
    waiting: elsewhere(state.waiting),
    streams: elsewhere(state.streams),
    pending: elsewhere(state.pending),
  }
}

function endRun(state: AgentsState, runId: string): AgentsState {
  const working = Object.fromEntries(Object.entries(state.working).filter(([, each]) => each.runId !== runId))
  const left = Object.values(state.streams).filter((stream) => stream.runId === runId)
  const ended = left.reduce((next, stream) => finishStream(next, stream.streamId), state)
  return { ...ended, working, waiting: without(state.waiting, runId) }
}

/** The offset repairs repeated and missed deltas: the text is cut there and continued. */
function append(stream: Stream, delta: string, offset: number): Stream {
  const length = offset + lengthOf(delta)
  if (offset === stream.length) return { ...stream, text: stream.text + delta, length }
  const kept = offset < stream.length ? [...stream.text].slice(0, offset).join('') : `${stream.text} … `
  return { ...stream, text: kept + delta, length }
}

const lengthOf = (text: string): number => [...text].length

function addWorking(working: AgentsState['working'], run: WorkingRun): AgentsState['working'] {
  const key = keyOf(run.runId, run.spaceId)
  return working[key] ? working : { ...working, [key]: run }
}

const keyOf = (runId: string, other: string): string => `${runId} ${other}`

function without<T>(all: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!(key in all)) return all
  const { [key]: _, ...rest } = all
  return rest
}
