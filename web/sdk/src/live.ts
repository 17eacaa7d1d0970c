/**
 * The live connection. It reconnects for ever, going on from the last event; only the end of the session ends it.
 */
import { errorOf, MajlisError, unreachable } from './errors.ts'
import type { LiveEvent } from './events.ts'
import { backoff } from './backoff.ts'
import { EventParser } from './sse.ts'

// The server gives a sign of life at least every 15 seconds; nothing for this long means that nobody is there.
const SILENCE_MS = 35_000
const DOUBT_MS = 20_000

export interface LiveOptions {
  baseUrl?: string
  headers?: Record<string, string>
  fetch?: typeof fetch
  /** One event after the other. When it throws, everything is loaded anew. */
  onEvents: (events: LiveEvent[]) => Promise<void>
  onDown: (since: Error) => void
  onEnd: (reason: MajlisError) => void
}

export class Live {
  readonly #options: LiveOptions
  #lastId = ''
  #failures = 0
  /** Counts up with each start and stop, so that a loop knows whether it is still the one that is wanted. */
  #turn = 0
  #cut = new AbortController()
  #watchdog: Watchdog | null = null
  #wake: () => void = () => {}

  constructor(options: LiveOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const turn = ++this.#turn
    while (turn === this.#turn) {
      this.#cut = new AbortController()
      try {
        await this.#follow(this.#cut)
      } catch (failure) {
        if (turn !== this.#turn) return
        const error = failure instanceof Error ? failure : new Error(String(failure))
        if (error instanceof MajlisError && error.status === 401) return this.#options.onEnd(error)
        this.#options.onDown(error)
        await this.#pause(error)
      }
    }
  }

  stop(): void {
    this.#turn++
    this.#cut.abort()
    this.#wake()
  }

  /** Now rather than after the pause: the network is back, or the machine has woken up. */
  hurry(): void {
    this.#failures = 0
    // A machine that slept may hold a connection that nobody is at the other end of.
    if ((this.#watchdog?.quietFor() ?? 0) > DOUBT_MS) this.#cut.abort()
    this.#wake()
  }

  /** The next connection is a new one, not a continuation. */
  forget(): void {
    this.#lastId = ''
  }

  async #follow(cut: AbortController): Promise<void> {
    const watchdog = new Watchdog(cut)
    this.#watchdog = watchdog
    try {
      const answer = await this.#open(cut.signal)
      const reader = answer.body!.getReader()
      const parser = new EventParser()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) throw unreachable()
        watchdog.alive()
        const raw = parser.feed(value)
        if (raw.length === 0) continue
        await this.#options.onEvents(raw.map((event) => JSON.parse(event.data) as LiveEvent))
        // Only now: what failed half-way has to come again.
        this.#lastId = raw.at(-1)!.id || this.#lastId
        this.#failures = 0
      }
    } finally {
      watchdog.rest()
      cut.abort()
    }
  }

  async #open(signal: AbortSignal): Promise<Response> {
    const { baseUrl = '', headers = {}, fetch: get = fetch } = this.#options
    const position = this.#lastId ? { 'Last-Event-ID': this.#lastId } : {}
    const answer = await get(`${baseUrl}/api/events`, {
      headers: { ...headers, ...position, Accept: 'text/event-stream' },
      signal,
      cache: 'no-store',
    })
    if (answer.ok && answer.body) return answer
    const body: unknown = await answer.json().catch(() => null)
    throw errorOf(answer.status, body, answer.headers.get('Retry-After'))
  }

  async #pause(error: Error): Promise<void> {
    const asked = error instanceof MajlisError ? error.retryAfter * 1000 : 0
    const wait = Math.max(backoff(this.#failures++), asked)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

class Watchdog {
  readonly #cut: AbortController
  #timer: ReturnType<typeof setTimeout> | undefined
  #heard = 0

  constructor(cut: AbortController) {
    this.#cut = cut
    this.alive()
  }

  alive(): void {
    this.rest()
    this.#heard = Date.now()
    this.#timer = setTimeout(() => this.#cut.abort(), SILENCE_MS)
  }

  quietFor(): number {
    return Date.now() - this.#heard
  }

  rest(): void {
    clearTimeout(this.#timer)
  }
}
