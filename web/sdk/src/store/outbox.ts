/**
 * Messages on their way out, one after the other in each space so that they keep their order. What cannot be sent now
 * waits, survives the page, and goes out by itself; what is refused stays until its author decides.
 */
import type { Client } from '../client.ts'
import { MajlisError } from '../errors.ts'
import { backoff } from '../backoff.ts'
import { begin, change, discard, type Draft, type Sending } from '../state/outgoing.ts'
import { takeOwn } from '../state/state.ts'
import type { Store } from './store.ts'

/** Where they survive: by person, since the next to sign in here is another author, and one by one, since other tabs keep theirs there too. */
export interface Keeping {
  load(me: string): Readonly<Record<string, readonly Sending[]>>
  keep(me: string, spaceId: string, sending: Sending): void
  drop(me: string, clientId: string): void
  /** Whether it is still to be sent: another tab may have sent it, or its author may have deleted it there. */
  holds(me: string, clientId: string): boolean
}

export class Outbox {
  readonly #store: Store
  readonly #client: Client
  readonly #keeping: Keeping | undefined
  readonly #busy = new Set<string>()
  #kept: ReadonlyMap<string, Sending> = new Map()
  /** Whose messages these are; null until it is known. */
  #author: string | null = null
  #tries = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: Store, client: Client, keeping?: Keeping) {
    this.#store = store
    this.#client = client
    this.#keeping = keeping
    // What arrives is not to be kept any longer, however it was heard of.
    store.subscribe(() => this.#save())
  }

  /** Before the histories are loaded, which tell what of it has arrived. */
  open(me: string): void {
    if (this.#author === me) return
    const kept = Object.entries(this.#keeping?.load(me) ?? {})
    const before = this.#author === null ? this.#store.state.sending : {}
    const both = kept.map(([id, list]) => [id, [...list.map(asWaiting), ...(before[id] ?? [])]] as const)
    this.#author = me
    this.#store.change((state) => ({ ...state, sending: { ...before, ...Object.fromEntries(both) } }))
    this.#save()
  }

  /** Nothing more goes out by itself. */
  rest(): void {
    clearTimeout(this.#timer)
  }

  send(spaceId: string, draft: Draft): void {
    const at = new Date().toISOString()
    const sending: Sending = { ...draft, clientId: newClientId(), at, status: 'sending' }
    this.#store.change((state) => ({ ...state, sending: begin(state.sending, spaceId, sending) }))
    this.#store.flush()
    this.#save()
    void this.#drain(spaceId)
  }

  retry(spaceId: string, clientId: string): void {
    this.#mark(spaceId, clientId, 'sending')
    void this.#drain(spaceId)
  }

  discard(spaceId: string, clientId: string): void {
    this.#store.change((state) => ({ ...state, sending: discard(state.sending, spaceId, clientId) }))
    this.#save()
  }

  /** A connection is there again. */
  sendWaiting(): void {
    for (const [spaceId, list] of Object.entries(this.#store.state.sending)) {
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

  #next(spaceId: string): Sending | undefined {
    return this.#store.state.sending[spaceId]?.find((each) => each.status === 'sending')
  }

  async #post(spaceId: string, sending: Sending): Promise<void> {
    const { clientId, text, replyTo, mentions } = sending
    if (this.#author && this.#keeping?.holds(this.#author, clientId) === false) return this.discard(spaceId, clientId)
    try {
      const body = { clientId, text, ...(replyTo ? { replyTo } : {}), ...(mentions ? { mentions: [...mentions] } : {}) }
      const message = await this.#client.messages.post(spaceId, body)
      this.#store.change((state) => takeOwn(state, message))
      this.#tries = 0
    } catch (failure) {
      this.#failed(spaceId, clientId, failure)
    }
    this.#save()
  }

  #failed(spaceId: string, clientId: string, failure: unknown): void {
    const later = failure instanceof MajlisError && failure.passing
    const problem = failure instanceof Error ? failure.message : String(failure)
    if (!later) return this.#mark(spaceId, clientId, 'refused', problem)
    // Those behind it wait too: order is kept, and nobody is there for them either.
    for (const each of this.#store.state.sending[spaceId] ?? []) {
      if (each.status === 'sending') this.#mark(spaceId, each.clientId, 'waiting', problem)
    }
    this.#sendLater(failure.retryAfter)
  }

  /** A connection that stands may still refuse a message for a moment: nobody tells when that is over. */
  #sendLater(seconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.sendWaiting(), Math.max(1000 + backoff(this.#tries++), seconds * 1000))
  }

  #mark(spaceId: string, clientId: string, status: Sending['status'], problem?: string): void {
    this.#store.change((state) => ({ ...state, sending: change(state.sending, spaceId, clientId, status, problem) }))
  }

  #save(): void {
    const [keeping, me] = [this.#keeping, this.#author]
    if (!keeping || !me) return
    const now = new Map<string, Sending>()
    for (const [spaceId, list] of Object.entries(this.#store.state.sending)) {
      for (const each of list) {
        if (this.#kept.get(each.clientId) !== each) keeping.keep(me, spaceId, each)
        now.set(each.clientId, each)
      }
    }
    for (const clientId of this.#kept.keys()) if (!now.has(clientId)) keeping.drop(me, clientId)
    this.#kept = now
  }
}

/** Not `randomUUID`: browsers keep that from pages without https, and a gateway at home may have none. */
function newClientId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

const asWaiting = (sending: Sending): Sending =>
  sending.status === 'sending' ? { ...sending, status: 'waiting' } : sending
