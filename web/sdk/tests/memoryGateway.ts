/** A small gateway in memory. Its events and its responses to a fresh load always agree. */
import type { LiveEvent, Me, Member, Message, PendingCall, Run, Space } from '../src/index.ts'

type Numbered = LiveEvent & { spaceId: string }

export const ME: Me = { id: 'ent_me', name: 'Lina', type: 'human', role: 'member', picture: null }
const AT = '2026-11-16T08:00:00.000Z'

export function member(id: string, name = id, type: Member['type'] = 'human'): Member {
  return { id, entityId: id, name, type, role: 'member', picture: null, joinedAt: AT }
}

export function messageOf(spaceId: string, seq: number, sender: Member, more: Partial<Message> = {}): Message {
  return {
    id: `msg_${spaceId}_${seq}`,
    spaceId,
    seq,
    sender: { id: sender.id, name: sender.name, type: sender.type },
    kind: 'text',
    text: `message ${seq}`,
    replyTo: null,
    mentions: [],
    origin: null,
    runId: null,
    chainDepth: 0,
    clientId: null,
    createdAt: AT,
    ...more,
  }
}

export class MemoryGateway {
  readonly log: Numbered[] = []
  readonly messages = new Map<string, Message[]>()
  readonly runs = new Map<string, Run>()
  #spaces = new Map<string, { facts: Space; members: Member[]; seen: number; eventSeq: number }>()

  constructor(spaceIds: string[]) {
    for (const id of spaceIds) {
      this.messages.set(id, [])
      this.#spaces.set(id, { facts: emptySpace(id), members: [member(ME.id, ME.name), member('ent_b', 'Badr')], seen: 0, eventSeq: 0 })
    }
  }

  post(spaceId: string, senderId: string, more: Partial<Message> = {}, streamId?: string): Message {
    const space = this.#space(spaceId)
    const known = this.messages.get(spaceId)!
    const sender = space.members.find((each) => each.id === senderId) ?? member(senderId, senderId, 'agent')
    const message = messageOf(spaceId, known.length + 1, sender, more)
    known.push(message)
    if (senderId === ME.id) space.seen = message.seq
    this.#tell(spaceId, { type: 'space.message', message, ...(streamId ? { streamId } : {}) })
    return message
  }

  finishTool(spaceId: string, seq: number): void {
    const known = this.messages.get(spaceId)!
    const message = known[seq - 1]
    if (message?.tool?.status !== 'running') return
    known[seq - 1] = { ...message, tool: { ...message.tool, status: 'complete', output: seq } }
    this.#tell(spaceId, { type: 'space.message', message: known[seq - 1] })
  }

  edit(spaceId: string, seq: number, text: string): void {
    this.#change(spaceId, seq, { text, editedAt: AT })
  }

  delete(spaceId: string, seq: number): void {
    this.#change(spaceId, seq, { text: '', deletedAt: AT, deletedBy: { id: ME.id, name: ME.name, type: 'human' }, reactions: [], pinned: false })
  }

  pin(spaceId: string, seq: number, pinned: boolean): void {
    this.#change(spaceId, seq, { pinned })
  }

  react(spaceId: string, seq: number, emoji: string): void {
    const message = this.#changed(spaceId, seq, { reactions: [{ emoji, count: 1, entityIds: ['ent_b'] }] })
    if (!message) return
    const { id: messageId, reactions, revision } = message
    this.#tell(spaceId, { type: 'message.reactions', messageId, seq, reactions, revision })
  }

  #change(spaceId: string, seq: number, more: Partial<Message>): void {
    const message = this.#changed(spaceId, seq, more)
    if (message) this.#tell(spaceId, { type: 'space.message', message })
  }

  /** Changes a text that is not deleted. */
  #changed(spaceId: string, seq: number, more: Partial<Message>): Message | null {
    const known = this.messages.get(spaceId)!
    const message = known[seq - 1]
    if (!message || message.kind !== 'text' || message.deletedAt) return null
    const changed = { ...message, ...more, revision: (message.revision ?? 0) + 1 }
    known[seq - 1] = changed
    return changed
  }

  read(spaceId: string, seq: number): void {
    const space = this.#space(spaceId)
    if (seq <= space.seen || seq > this.messages.get(spaceId)!.length) return
    space.seen = seq
    const lastSeenMessageId = `msg_${spaceId}_${seq}`
    this.log.push({ type: 'space.read', spaceId, entityId: ME.id, lastSeenMessageId, lastSeenSeq: seq })
  }

  rename(spaceId: string, id: string, name: string): void {
    const space = this.#space(spaceId)
    space.members = space.members.map((each) => (each.id === id ? { ...each, name } : each))
    const known = this.messages.get(spaceId)!
    const renamed = known.map((each) => (each.sender.id === id ? { ...each, sender: { ...each.sender, name } } : each))
    this.messages.set(spaceId, renamed)
    this.#tell(spaceId, { type: 'space.member.updated', entityId: id, member: space.members.find((each) => each.id === id) })
  }

  work(spaceId: string, runId: string, status: 'running' | 'waiting_reply' | 'completed'): void {
    const wait = { spaceId, messageId: 'msg_x', startedAt: AT, timeoutSeconds: 300 }
    const known = this.runs.get(runId)
    if (status === known?.status || (!known && status !== 'running')) return
    const facts = { runId, agentId: 'ent_a' }
    if (status === 'running') {
      this.runs.set(runId, runOf(runId, spaceId, 'running'))
      this.#tell(spaceId, { type: known ? 'run.resumed' : 'run.started', ...facts })
      this.#tell(spaceId, { type: 'agent.active', ...facts })
      return
    }
    if (known?.status === 'running') this.#tell(spaceId, { type: 'agent.inactive', ...facts })
    if (status === 'waiting_reply') {
      this.runs.set(runId, { ...runOf(runId, spaceId, status), wait })
      this.#tell(spaceId, { type: 'run.waiting_reply', ...facts, wait })
    } else {
      this.runs.delete(runId)
      this.#tell(spaceId, { type: 'run.completed', ...facts })
    }
  }

  spaces(): Space[] {
    return [...this.#spaces.entries()].map(([id, { facts, members, seen, eventSeq }]) => {
      const lastMessage = this.messages.get(id)!.at(-1) ?? null
      const lastSeenMessageId = seen ? `msg_${id}_${seen}` : null
      const unreadCount = (lastMessage?.seq ?? 0) - seen
      const unreadMentions = this.messages.get(id)!.filter((each) => each.seq > seen && each.mentions.includes(ME.id)).map((each) => each.seq)
      return { ...facts, members, lastMessage, lastSeenSeq: seen, lastSeenMessageId, eventSeq, unreadCount, unreadMentions }
    })
  }

  pending(): PendingCall[] {
    return [...this.messages.values()].flat().flatMap(({ tool, runId, ...message }) => {
      if (tool?.status !== 'running' || tool.ui === null || !runId) return []
      const { id: agentId, name: agentName } = message.sender
      const { callId: toolCallId, name, input } = tool
      const call = { toolCallId, runId, agentId, agentName, spaceId: message.spaceId, messageId: message.id, name, input }
      return [{ ...call, ui: 'approval', purpose: 'answer', resultSchema: {}, createdAt: AT, expiresAt: AT }]
    })
  }

  page(spaceId: string, size: number): Message[] {
    return this.messages.get(spaceId)!.slice(-size)
  }

  #tell(spaceId: string, event: object): void {
    this.log.push({ ...event, spaceId, eventSeq: ++this.#space(spaceId).eventSeq } as Numbered)
  }

  #space(id: string) {
    return this.#spaces.get(id)!
  }
}

function emptySpace(id: string): Space {
  return {
    id, name: id, description: '', triggers: 'everyone', orchestratorId: null, phase: null, createdAt: AT, role: 'member',
    members: [], unreadCount: 0, lastMessage: null, lastSeenMessageId: null, lastSeenSeq: 0, eventSeq: 0,
  } as Partial<Space> as Space // other fields do not matter here
}

export function runOf(id: string, spaceId: string, status: Run['status']): Run {
  return {
    id, status, agentId: 'ent_a', agentName: 'Ada', reason: null, trigger: { type: 'space_message', spaceId, chainDepth: 0 },
    activeSpaceId: spaceId, chainDepth: 0, wait: null, error: null, notes: [], attempts: 1,
    causeId: null, person: null, cost: null,
    usage: { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 }, createdAt: AT, startedAt: AT, endedAt: null,
  }
}
