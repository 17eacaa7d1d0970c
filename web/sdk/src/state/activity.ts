/** What agents do at this moment: who works where, which runs wait for what, and the words that are being written. */
import type { Connected, ProgressEvent, RunEvent, StreamEvent } from '../events.ts'
import type { Message, PendingCall, Run, Tool, Wait } from '../types.ts'

/** A run at work in a space. `since` is the clock's word where the server's is not known. */
export interface Working {
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
  readonly text: string
  /** In characters as the server counts them: code points. */
  readonly length: number
}

export interface AgentsState {
  /** By run and space. */
  readonly working: Readonly<Record<string, Working>>
  /** By run. */
  readonly waiting: Readonly<Record<string, WaitingRun>>
  readonly streams: Readonly<Record<string, Stream>>
  /** Calls that wait for a person's answer, by run and call. */
  readonly pending: Readonly<Record<string, PendingCall>>
  /** By tool call: the latest word of a tool at work. */
  readonly progress: Readonly<Record<string, string>>
  /** Streams that are over: what still comes of them is late and means nothing. */
  readonly finished: ReadonlySet<string>
}

export const nobody: AgentsState = { working: {}, waiting: {}, streams: {}, pending: {}, progress: {}, finished: new Set() }

const FINISHED_KEPT = 500

/** What the server says is going on takes the place of what was known; what comes after is applied on top. */
export function greet(state: AgentsState, hello: Connected, now: number): AgentsState {
  const working = hello.activeAgents.map(({ runId, agentId, spaceId }) => {
    const key = keyOf(runId, spaceId)
    return [key, state.working[key] ?? { runId, agentId, spaceId, since: now }] as const
  })
  const streams = hello.streams
    .filter(({ streamId }) => !state.finished.has(streamId))
    .map(({ streamId, text, spaceId, agentId }) => {
      const runId = state.streams[streamId]?.runId ?? null
      return [streamId, { streamId, text, length: lengthOf(text), spaceId, agentId, runId }] as const
    })
  const pending = asPending(hello.pendingToolCalls)
  return { ...state, progress: {}, pending, working: Object.fromEntries(working), streams: Object.fromEntries(streams) }
}

/** Runs under way, read after the stream was opened. */
export function loadRuns(state: AgentsState, runs: readonly Run[], calls: readonly PendingCall[]): AgentsState {
  const working = { ...state.working }
  const waiting: Record<string, WaitingRun> = {}
  for (const run of runs) {
    const since = Date.parse(run.wait?.startedAt ?? run.startedAt ?? run.createdAt)
    const spaceId = run.trigger.spaceId ?? run.activeSpaceId
    if (run.status === 'running') {
      for (const place of new Set([run.trigger.spaceId, run.activeSpaceId])) {
        if (place) working[keyOf(run.id, place)] = { runId: run.id, agentId: run.agentId, spaceId: place, since }
      }
    } else if (spaceId && (run.status === 'waiting_reply' || run.status === 'waiting_tool')) {
      const what = run.status === 'waiting_tool' ? 'tool' : 'reply'
      waiting[run.id] = { runId: run.id, agentId: run.agentId, spaceId, for: what, wait: run.wait, since }
    }
  }
  return { ...state, working, waiting, pending: asPending(calls) }
}

export function applyRun(state: AgentsState, event: RunEvent, now: number): AgentsState {
  const { runId, agentId, spaceId } = event
  switch (event.type) {
    case 'agent.active':
      return { ...state, working: begin(state.working, { runId, agentId, spaceId, since: now }) }
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
      return state // of a newer server
  }
}

export function applyStream(state: AgentsState, event: StreamEvent): AgentsState {
  const { streamId, spaceId } = event
  if (state.finished.has(streamId)) return state
  const known = state.streams[streamId]
  switch (event.type) {
    case 'tool-call.start': {
      // Calls of visible tools are shown by their messages.
      if (known?.runId || event.toolName !== 'send_message') return state
      const { text = '', length = 0 } = known ?? {}
      const started = { streamId, spaceId, agentId: event.agentId, runId: event.runId, text, length }
      return { ...state, streams: { ...state.streams, [streamId]: started } }
    }
    case 'tool-input-delta':
      return known ? { ...state, streams: { ...state.streams, [streamId]: spliced(known, event) } } : state
    case 'tool-call.complete':
      // The stored message takes its place; until it is here, the words stay.
      return state
    case 'tool-call.error':
      return finishStream(state, streamId)
    default:
      return state // of a newer server
  }
}

export function applyProgress(state: AgentsState, { callId, text }: ProgressEvent): AgentsState {
  return { ...state, progress: { ...state.progress, [callId]: text } }
}

/** A tool's message: its call begins, asks somebody, or has its result. */
export function hearTool(state: AgentsState, message: Message): AgentsState {
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

/** Where something was missed, nobody is at work until the list of runs says so. */
export function doubtWorking(state: AgentsState, spaceIds: ReadonlySet<string>): AgentsState {
  return { ...state, working: Object.fromEntries(Object.entries(state.working).filter(([, each]) => !spaceIds.has(each.spaceId))) }
}

/** One is not told any more what goes on in a space that one has left. */
export function leaveSpace(state: AgentsState, spaceId: string): AgentsState {
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

/** A delta's offset heals what was missed or came twice: cut there and go on. */
function spliced(stream: Stream, { textDelta, offset }: { textDelta: string; offset: number }): Stream {
  const length = offset + lengthOf(textDelta)
  if (offset === stream.length) return { ...stream, text: stream.text + textDelta, length }
  const kept = offset < stream.length ? [...stream.text].slice(0, offset).join('') : `${stream.text} … `
  return { ...stream, text: kept + textDelta, length }
}

const lengthOf = (text: string): number => [...text].length

function begin(working: AgentsState['working'], run: Working): AgentsState['working'] {
  const key = keyOf(run.runId, run.spaceId)
  return working[key] ? working : { ...working, [key]: run }
}

const keyOf = (runId: string, other: string): string => `${runId} ${other}`

function without<T>(all: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!(key in all)) return all
  const { [key]: _, ...rest } = all
  return rest
}
