/**
 * Holds the state and updates it from the live connection, loading and sending. Views subscribe and never write.
 *
 * The order matters: connect, then load, then apply events one by one. If loading fails, it starts over.
 */
import { createClient, headersOf, type Client, type ClientOptions } from '../client.ts'
import type { LiveEvent } from '../events.ts'
import type { Message } from '../types.ts'
import { Live } from '../live.ts'
import { apply, emptyState, type State } from '../state/state.ts'
import { Loader } from './loader.ts'
import { nextFrame } from './nextFrame.ts'
import { Outbox, type OutboxStorage } from './outbox.ts'
import { ReadPositions } from './readPositions.ts'

export interface StoreOptions extends ClientOptions {
  /** Keeps unsent messages across reloads. */
  outboxStorage?: OutboxStorage
  /** For apps of people: see `LiveOptions`. */
  presence?: boolean
  now?: () => number
  /** When to notify subscribers; by default with the next frame, so that many events cause one render. */
  schedule?: (notify: () => void) => void
}

export type Change = (state: State) => State

export class Store {
  readonly client: Client
  readonly loader: Loader
  readonly outbox: Outbox
  readonly readPositions: ReadPositions
  #state: State = emptyState
  #notified: State = emptyState
  #scheduled = false
  #listeners = new Set<() => void>()
  #onMessage = new Set<(message: Message) => void>()
  #live: Live
  readonly #now: () => number
  readonly #schedule: (notify: () => void) => void

  constructor(options: StoreOptions = {}) {
    this.client = createClient(options)
    this.#now = options.now ?? Date.now
    this.#schedule = options.schedule ?? nextFrame
    this.loader = new Loader(this, this.client)
    this.outbox = new Outbox(this, this.client, options.outboxStorage)
    this.readPositions = new ReadPositions(this, this.client)
    this.#live = new Live({
      ...options,
      headers: headersOf(options),
      onEvents: (events) => this.#apply(events),
      onDown: () => this.change((state) => ({ ...state, connection: 'lost' })),
      onEnd: () => this.change((state) => ({ ...state, connection: 'ended', me: null })),
    })
  }

  /** The current state. `snapshot` is the state at the last notification, so that all views of one render agree. */
  get state(): State {
    return this.#state
  }

  snapshot = (): State => this.#notified

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls the listener with each message that is posted from now on. Returns a function that ends this. */
  onMessage(listener: (message: Message) => void): () => void {
    this.#onMessage.add(listener)
    return () => this.#onMessage.delete(listener)
  }

  change(change: Change): void {
    this.#state = change(this.#state)
    if (this.#scheduled || this.#state === this.#notified) return
    this.#scheduled = true
    this.#schedule(() => this.flush())
  }

  /** Notifies subscribers at once, for the user's own actions. */
  flush(): void {
    this.#scheduled = false
    if (this.#state === this.#notified) return
    this.#notified = this.#state
    for (const listener of this.#listeners) listener()
  }

  start(): void {
    void this.#live.run()
  }

  stop(): void {
    this.#live.stop()
    this.loader.stop()
    this.outbox.stop()
  }

  /** Call when the network is back or the computer has woken up. */
  reconnect(): void {
    this.#live.reconnect()
  }

  async #apply(events: LiveEvent[]): Promise<void> {
    for (const event of events) {
      const reload = event.type === 'resync' || (event.type === 'connected' && this.#state.me === null)
      const posted = event.type === 'space.message' && event.message.seq > (this.#state.spaces[event.spaceId]?.headSeq ?? Infinity) ? event.message : null
      this.change((state) => apply(state, event, this.#now()))
      if (posted) for (const listener of this.#onMessage) listener(posted)
      if (reload) await this.#loadEverything()
      if (event.type === 'connected') this.#onConnected()
      if (this.#state.toFetch.size > 0) await this.loader.missing()
    }
  }

  async #loadEverything(): Promise<void> {
    try {
      await this.loader.everything()
    } catch (failure) {
      // A partial load is useless: the next connection starts over.
      this.#live.resetPosition()
      this.change((state) => ({ ...state, me: null }))
      throw failure
    }
  }

  #onConnected(): void {
    this.change((state) => ({ ...state, connection: 'live' }))
    this.outbox.sendWaiting()
    this.readPositions.sendPending()
    this.loader.watched()
  }
}
