/**
 * Sends messages, one at a time per space to keep their order. Messages that cannot be sent are stored and sent later;
 * refused messages stay until the author retries or deletes them.
 */
import type { Client } from '../client.ts'
import { MajlisError } from '../errors.ts'
import { backoff } from '../backoff.ts'
import { addOutgoing, removeOutgoing, setStatus, type Draft, type OutgoingMessage } from '../state/outgoing.ts'
import { applySent } from '../state/state.ts'
import type { Store } from './store.ts'

/** Stores unsent messages per person, because several people can use a browser, and one by one, because tabs share it. */
export interface OutboxStorage {
  load(me: string): Readonly<Record<string, readonly OutgoingMessage[]>>
  save(me: string, spaceId: string, message: OutgoingMessage): void
  remove(me: string, clientId: string): void
  /** False if another tab has sent or deleted the message. */
  has(me: string, clientId: string): boolean
}

export class Outbox {
  readonly #store: Store
  readonly #client: Client
  readonly #storage: OutboxStorage | undefined
  readonly #busy = new Set<string>()
  #saved: ReadonlyMap<string, OutgoingMessage> = new Map()
  /** The signed-in person; null until loaded. */
  #author: string | null = null
  #attempts = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: Store, client: Client, storage?: OutboxStorage) {
    this.#store = store
    this.#client = client
    this.#storage = storage
    // Stored messages leave the storage, whether their response or their event comes first.
    store.subscribe(() => this.#save())
  }

  /** Called before the histories are loaded; they show which messages are already stored. */
  open(me: string): void {
    if (this.#author === me) return
    const saved = Object.entries(this.#storage?.load(me) ?? {})
    const before = this.#author === null ? this.#store.state.outgoing : {}
    const both = saved.map(([id, list]) => [id, [...list.map(asWaiting), ...(before[id] ?? [])]] as const)
    this.#author = me
    this.#store.change((state) => ({ ...state, outgoing: { ...before, ...Object.fromEntries(both) } }))
    this.#save()
  }

  /** Stops automatic retries. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  send(spaceId: string, draft: Draft): void {
    const at = new Date().toISOString()
    const message: OutgoingMessage = { ...draft, clientId: newClientId(), at, status: 'sending' }
    this.#store.change((state) => ({ ...state, outgoing: addOutgoing(state.outgoing, spaceId, message) }))
    this.#store.flush()
    this.#save()
    void this.#drain(spaceId)
  }

  retry(spaceId: string, clientId: string): void {
    this.#mark(spaceId, clientId, 'sending')
    void this.#drain(spaceId)
  }

  discard(spaceId: string, clientId: string): void {
    this.#store.change((state) => ({ ...state, outgoing: removeOutgoing(state.outgoing, spaceId, clientId) }))
    this.#save()
  }

  /** Called when the connection is back. */
  sendWaiting(): void {
    for (const [spaceId, list] of Object.entries(this.#store.state.outgoing)) {
      for (const each of list) if (each.status === 'waiting') this.#mark(spaceId, each.clientId, 'sending')
      void this.#drain(spaceId)
    }
  }

  async #drain(spaceId: string): Promise<void> {
    if (this.#busy.has(spaceId)) return
    this.#busy.add(spaceId)
    try {
      for (let next = this.#next(spaceId); next; next = this.#next(spaceId)) await this.#post(spaceId, next)
    } finally {
      this.#busy.delete(spaceId)
    }
  }

  #next(spaceId: string): OutgoingMessage | undefined {
    return this.#store.state.outgoing[spaceId]?.find((each) => each.status === 'sending')
  }

  async #post(spaceId: string, outgoing: OutgoingMessage): Promise<void> {
    const { clientId, text, replyTo, mentions, files } = outgoing
    if (this.#author && this.#storage?.has(this.#author, clientId) === false) return this.discard(spaceId, clientId)
    try {
      const body = { clientId, text, ...(replyTo ? { replyTo } : {}), ...(mentions ? { mentions: [...mentions] } : {}), ...(files?.length ? { files: files.map((file) => file.id) } : {}) }
      const message = await this.#client.messages.post(spaceId, body)
      this.#store.change((state) => applySent(state, message))
      this.#attempts = 0
    } catch (failure) {
      this.#onFailure(spaceId, clientId, failure)
    }
    this.#save()
  }

  #onFailure(spaceId: string, clientId: string, failure: unknown): void {
    const later = failure instanceof MajlisError && failure.retryable
    const problem = failure instanceof Error ? failure.message : String(failure)
    if (!later) return this.#mark(spaceId, clientId, 'refused', problem)
    // Later messages wait too, to keep their order.
    for (const each of this.#store.state.outgoing[spaceId] ?? []) {
      if (each.status === 'sending') this.#mark(spaceId, each.clientId, 'waiting', problem)
    }
    this.#sendLater(failure.retryAfter)
  }

  /** The server can be overloaded while the live connection is up, so there is no event to wait for. */
  #sendLater(seconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.sendWaiting(), Math.max(1000 + backoff(this.#attempts++), seconds * 1000))
  }

  #mark(spaceId: string, clientId: string, status: OutgoingMessage['status'], problem?: string): void {
    this.#store.change((state) => ({ ...state, outgoing: setStatus(state.outgoing, spaceId, clientId, status, problem) }))
  }

  #save(): void {
    const [storage, me] = [this.#storage, this.#author]
    if (!storage || !me) return
    const now = new Map<string, OutgoingMessage>()
    for (const [spaceId, list] of Object.entries(this.#store.state.outgoing)) {
      for (const each of list) {
        if (this.#saved.get(each.clientId) !== each) storage.save(me, spaceId, each)
        now.set(each.clientId, each)
      }
    }
    for (const clientId of this.#saved.keys()) if (!now.has(clientId)) storage.remove(me, clientId)
    this.#saved = now
  }
}

/** Browsers have no `randomUUID` on pages without https. */
function newClientId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

const asWaiting = (message: OutgoingMessage): OutgoingMessage =>
  message.status === 'sending' ? { ...message, status: 'waiting' } : message
