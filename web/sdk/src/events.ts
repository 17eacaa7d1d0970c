/** Live events, see docs/live.md. Events of a space have its `eventSeq`, except the ephemeral ones of text streams. */
import type { Member, Message, PendingCall, SpaceFacts, Wait } from './types.ts'

interface InSpace {
  spaceId: string
  eventSeq: number
}
interface OfRun extends InSpace {
  runId: string
  agentId: string
}
interface OfStream {
  spaceId: string
  streamId: string
}

export interface ActiveAgent {
  agentId: string
  runId: string
  spaceId: string
}
export interface OpenStream {
  streamId: string
  text: string
  spaceId: string
  agentId: string
}

export interface Connected {
  type: 'connected'
  activeAgents: ActiveAgent[]
  pendingToolCalls: PendingCall[]
  streams: OpenStream[]
}

export type SpaceEvent =
  | (InSpace & { type: 'space.message'; message: Message; streamId?: string })
  | (InSpace & { type: 'space.member.joined' | 'space.member.updated'; entityId: string; member: Member })
  | (InSpace & { type: 'space.member.left'; entityId: string })
  | (InSpace & { type: 'space.updated'; space: SpaceFacts })
  | { type: 'space.read'; spaceId: string; entityId: string; lastSeenMessageId: string; lastSeenSeq: number }

export type RunEvent =
  | (OfRun & { type: 'run.started' | 'run.resumed' })
  | (OfRun & { type: 'run.waiting_reply' | 'run.waiting_tool'; wait?: Wait })
  | (OfRun & { type: 'run.completed' | 'run.failed' | 'run.canceled' | 'run.absorbed' })
  | (OfRun & { type: 'agent.active' | 'agent.inactive' })

export type StreamEvent =
  | (OfStream & { type: 'tool-call.start'; runId: string; agentId: string; toolName: string })
  | (OfStream & { type: 'tool-input-delta'; textDelta: string; offset: number })
  | (OfStream & { type: 'tool-call.complete' | 'tool-call.error' })

/** Progress of a visible tool; the latest text counts. */
export interface ProgressEvent {
  type: 'tool-call.progress'
  spaceId: string
  callId: string
  toolName: string
  text: string
}

export type LiveEvent = Connected | { type: 'resync' } | SpaceEvent | RunEvent | StreamEvent | ProgressEvent
