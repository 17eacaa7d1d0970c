/** Live events, see docs/live.md. Events of a space have its `eventSeq`, except the ephemeral ones of text streams. */
import type { Member, Message, PendingCall, Preferences, Reaction, SpaceFacts, Wait } from './types.ts'

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
  /** Only if the stream asked for presence. */
  online?: string[]
}

export type Reacted = InSpace & { type: 'message.reactions'; messageId: string; seq: number; reactions: Reaction[]; revision: number }

export type SpaceEvent =
  | Reacted
  | (InSpace & { type: 'space.message'; message: Message; streamId?: string })
  | (InSpace & { type: 'space.member.joined' | 'space.member.updated'; entityId: string; member: Member })
  | (InSpace & { type: 'space.member.left'; entityId: string })
  | (InSpace & { type: 'space.updated'; space: SpaceFacts })
  | (InSpace & { type: 'wait.updated'; id: string; messageId: string; open: boolean; need: number; answered: { entityId: string; messageId: string | null }[]; runId?: string; agentId?: string })
  | (InSpace & { type: 'agent.paused' | 'agent.unpaused'; agentId: string })
  | { type: 'space.read'; spaceId: string; entityId: string; lastSeenMessageId: string; lastSeenSeq: number }

export type RunEvent =
  | (OfRun & { type: 'run.started' | 'run.resumed' })
  | (OfRun & { type: 'run.waiting_reply' | 'run.waiting_tool'; wait?: Wait })
  | (OfRun & { type: 'run.completed' | 'run.failed' | 'run.canceled' | 'run.absorbed' })
  | (OfRun & { type: 'agent.active' | 'agent.inactive' })

export type StreamEvent =
  | (OfStream & { type: 'tool-call.start'; runId: string; agentId: string; toolName: string })
  | (OfStream & { type: 'tool-input-delta'; offset: number } & ({ textDelta: string } | { argsDelta: string }))
  | (OfStream & { type: 'tool-call.complete' | 'tool-call.error' })

/** For the person who asked: the agent wrote an answer but did not send it. */
export interface UnsentEvent {
  type: 'run.unsent'
  spaceId: string
  runId: string
  agentId: string
  agentName: string
  messageId: string
}

/** Progress of a visible tool; the latest text counts. */
export interface ProgressEvent {
  type: 'tool-call.progress'
  spaceId: string
  callId: string
  toolName: string
  text: string
}

/** People who came or left, among those with whom the user shares a space. */
export interface PresenceEvent {
  type: 'presence'
  online: string[]
  offline: string[]
}

/** A member is writing a message. Sent again every few seconds meanwhile. */
export interface TypingEvent {
  type: 'space.typing'
  spaceId: string
  entityId: string
}

/** The user changed their preferences, in any of their apps. */
export interface PreferencesEvent {
  type: 'preferences.changed'
  preferences: Preferences
}

export type LiveEvent = PreferencesEvent | PresenceEvent | TypingEvent | Connected | { type: 'resync' } | SpaceEvent | RunEvent | StreamEvent | ProgressEvent | UnsentEvent
