/**
 * The state of a client and what changes it: the live connection, loading, sending. Views subscribe; they never write.
 *
 * Order is everything: subscribe, then load, then apply events one after the other. Whatever goes wrong in between
 * ends in loading everything anew.
 */
import { createClient, headersOf, type Client, type ClientOptions } from '../client.ts'
import type { LiveEvent } from '../events.ts'
import { Live } from '../live.ts'
import { apply, nothing, type State } from '../state/state.ts'
import { Loading } from './loader.ts'
import { Outbox, type Keeping } from './outbox.ts'
import { Reading } from './readPositions.ts'
import { soon } from './nextFrame.ts'

export interface StoreOptions extends ClientOptions {
  /** Where messages that are not sent yet outlive the page. */
  keeping?: Keeping
  now?: () => number
  /** When subscribers hear of a change: by default with the next frame, so that many events are one rendering. */
  schedule?: (tell: () => void) => void
}

export type Change = (state: State) => State

export class Store {
  readonly client: Client
  readonly loading: Loading
  readonly outbox: Outbox
  readonly reading: Reading
  #state: State = nothing
  #told: State = nothing
  #due = false
  #listeners = new Set<() => void>()
  #live: Live
  readonly #now: () => number
  readonly #schedule: (tell: () => void) => void

  constructor(options: StoreOptions = {}) {
    this.client = createClient(options)
    this.#now = options.now ?? Date.now
    this.#schedule = options.schedule ?? soon
    this.loading = new Loading(this, this.client)
    this.outbox = new Outbox(this, this.client, options.keeping)
    this.reading = new Reading(this, this.client)
    this.#live = new Live({
      ...options,
      headers: headersOf(options),
      onEvents: (events) => this.#take(events),
      onDown: () => this.change((state) => ({ ...state, connection: 'lost' })),
      onEnd: () => this.change((state) => ({ ...state, connection: 'ended', me: null })),
    })
  }

  /** As it is now; `shown` is as subscribers were last told, so that all of a rendering see the same. */
  get state(): State {
    return this.#state
  }

  shown = (): State => this.#told

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  change(change: Change): void {
    this.#state = change(this.#state)
    if (this.#due || this.#state === this.#told) return
    this.#due = true
    this.#schedule(() => this.flush())
  }

  /** Subscribers are told now, for what a person has just done. */
  flush(): void {
    this.#due = false
    if (this.#state === this.#told) return
    this.#told = this.#state
    for (const listener of this.#listeners) listener()
  }

  start(): void {
    void this.#live.run()
  }

  stop(): void {
    this.#live.stop()
    this.outbox.rest()
  }

  /** The network is back, or the machine has woken up. */
  hurry(): void {
    this.#live.hurry()
  }

  async #take(events: LiveEvent[]): Promise<void> {
    for (const event of events) {
      const afresh = event.type === 'resync' || (event.type === 'connected' && this.#state.me === null)
      this.change((state) => apply(state, event, this.#now()))
      if (afresh) await this.#afresh()
      if (event.type === 'connected') this.#connected()
      if (this.#state.toFetch.size > 0) await this.loading.missing()
    }
  }

  async #afresh(): Promise<void> {
    try {
      await this.loading.everything()
    } catch (failure) {
      // A part is worse than nothing: the next connection begins at the beginning.
      this.#live.forget()
      this.change((state) => ({ ...state, me: null }))
      throw failure
    }
  }

  #connected(): void {
    this.change((state) => ({ ...state, connection: 'live' }))
    this.outbox.sendWaiting()
    this.reading.tellAgain()
    this.loading.watched()
  }
}
