/** The live connection. It reconnects, continuing after the last event, until it is stopped or the session ends. */
import { errorOf, MajlisError, unreachable } from './errors.ts'
import type { LiveEvent } from './events.ts'
import { backoff } from './backoff.ts'
import { EventParser } from './sse.ts'

// The server sends a heartbeat at least every 15 seconds.
const DEAD_AFTER_MS = 35_000
const SUSPECT_AFTER_MS = 20_000

export interface LiveOptions {
  baseUrl?: string
  headers?: Record<string, string>
  fetch?: typeof fetch
  /** For apps of people: the user is online while the connection is open, and events say who else is and who types. */
  presence?: boolean
  /** Called in order. If it throws, the client reconnects and gets the events again. */
  onEvents: (events: LiveEvent[]) => Promise<void>
  onDown: (error: Error) => void
  onEnd: (reason: MajlisError) => void
}

export class Live {
  readonly #options: LiveOptions
  #lastId = ''
  #failures = 0
  /** Counts starts and stops, so that an old loop ends itself. */
  #generation = 0
  #abort = new AbortController()
  #watchdog: Watchdog | null = null
  #wake: () => void = () => {}

  constructor(options: LiveOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const generation = ++this.#generation
    while (generation === this.#generation) {
      this.#abort = new AbortController()
      try {
        await this.#follow(this.#abort)
      } catch (failure) {
        if (generation !== this.#generation) return
        const error = failure instanceof Error ? failure : new Error(String(failure))
        if (error instanceof MajlisError && error.status === 401) return this.#options.onEnd(error)
        this.#options.onDown(error)
        await this.#pause(error)
      }
    }
  }

  stop(): void {
    this.#generation++
    this.#abort.abort()
    this.#wake()
  }

  /** Reconnects without waiting for the back-off: the network is back, or the computer has woken up. */
  reconnect(): void {
    this.#failures = 0
    // After sleep the connection may be dead without an error.
    if ((this.#watchdog?.silentMs() ?? 0) > SUSPECT_AFTER_MS) this.#abort.abort()
    this.#wake()
  }

  /** The next connection does not continue after the last event. */
  resetPosition(): void {
    this.#lastId = ''
  }

  async #follow(abort: AbortController): Promise<void> {
    const watchdog = new Watchdog(abort)
    this.#watchdog = watchdog
    try {
      const answer = await this.#open(abort.signal)
      const reader = answer.body!.getReader()
      const parser = new EventParser()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) throw unreachable()
        watchdog.reset()
        const raw = parser.feed(value)
        if (raw.length === 0) continue
        await this.#options.onEvents(raw.map((event) => JSON.parse(event.data) as LiveEvent))
        // After the handler: events that it failed to apply must come again.
        this.#lastId = raw.at(-1)!.id || this.#lastId
        this.#failures = 0
      }
    } finally {
      watchdog.stop()
      abort.abort()
    }
  }

  async #open(signal: AbortSignal): Promise<Response> {
    const { baseUrl = '', headers = {}, fetch: get = fetch, presence = false } = this.#options
    const position = this.#lastId ? { 'Last-Event-ID': this.#lastId } : {}
    const answer = await get(`${baseUrl}/api/events${presence ? '?presence=true' : ''}`, {
      headers: { ...headers, ...position, Accept: 'text/event-stream' },
      signal,
      cache: 'no-store',
    })
    if (answer.ok && answer.body) return answer
    const body: unknown = await answer.json().catch(() => null)
    throw errorOf(answer.status, body, answer.headers.get('Retry-After'))
  }

  async #pause(error: Error): Promise<void> {
    const retryAfter = error instanceof MajlisError ? error.retryAfter * 1000 : 0
    const delay = Math.max(backoff(this.#failures++), retryAfter)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delay)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Aborts a connection that has been silent for too long. */
class Watchdog {
  readonly #abort: AbortController
  #timer: ReturnType<typeof setTimeout> | undefined
  #lastData = 0

  constructor(abort: AbortController) {
    this.#abort = abort
    this.reset()
  }

  reset(): void {
    this.stop()
    this.#lastData = Date.now()
    this.#timer = setTimeout(() => this.#abort.abort(), DEAD_AFTER_MS)
  }

  silentMs(): number {
    return Date.now() - this.#lastData
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
