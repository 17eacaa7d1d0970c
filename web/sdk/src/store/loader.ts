/** Loads data from the server into the state: everything at the start, then pages of history on demand. */
import type { Client } from '../client.ts'
import { MajlisError } from '../errors.ts'
import type { Message, Run, RunStatus } from '../types.ts'
import { hasEarlier, hasLater } from '../state/history.ts'
import { dropSpace, load, loadHistory, loadSpace, reloadRuns } from '../state/state.ts'
import type { Store } from './store.ts'

const PAGE = 50
/** A reload fetches at most this many double pages; a longer history starts again with the newest page. */
const PAGES = 5
const RETRY_MS = 3000
const ACTIVE: RunStatus[] = ['running', 'waiting_reply', 'waiting_tool']

export class Loader {
  readonly #store: Store
  readonly #client: Client
  /** Identical requests share one promise. */
  readonly #inFlight = new Map<string, Promise<void>>()
  /** Spaces on screen, with the number of views. Their histories are loaded along with everything else. */
  readonly #watched = new Map<string, number>()

  /** Spaces whose history starts with the first unread message, if that is not among the newest. */
  readonly #fromUnread = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(store: Store, client: Client) {
    this.#store = store
    this.#client = client
  }

  async everything(): Promise<void> {
    const [me, spaces] = await Promise.all([this.#client.me(), this.#client.spaces.list()])
    this.#store.outbox.open(me.id)
    const wanted = spaces.filter((space) => this.#watched.has(space.id))
    // Runs after spaces: events that the spaces already include must be visible in the runs.
    const [runs, calls, ...pages] = await Promise.all([this.#runs(), this.#client.toolCalls(), ...wanted.map((space) => this.#reload(space.id))])
    const histories = Object.fromEntries(wanted.map((space, n) => [space.id, pages[n] ?? []]))
    this.#store.change((state) => load(state, me, spaces, histories, runs, calls))
    // The user may have opened another space meanwhile.
    this.watched()
  }

  /** Loads joined spaces and spaces where events were missed. */
  async missing(): Promise<void> {
    const missing = this.#store.state.toFetch
    await Promise.all([...missing].map((id) => this.space(id)))
    const [runs, calls] = await Promise.all([this.#runs(), this.#client.toolCalls()])
    this.#store.change((state) => reloadRuns(state, missing, runs, calls))
  }

  async space(id: string): Promise<void> {
    const wanted = this.#watched.has(id) || this.#store.state.spaces[id]?.history
    try {
      const [space, page] = await Promise.all([this.#client.spaces.get(id), wanted ? this.#reload(id) : null])
      // A history that another view loaded meanwhile is as recent.
      this.#store.change((state) => loadSpace(state, space, page ?? state.spaces[id]?.history ?? null))
    } catch (failure) {
      if (!(failure instanceof MajlisError) || failure.status !== 404) throw failure
      this.#store.change((state) => dropSpace(state, id)) // left meanwhile
    }
  }

  /** Loads the history of a space and keeps it up to date until the returned function is called. */
  watch(spaceId: string, start: 'newest' | 'unread' = 'newest'): () => void {
    if (start === 'unread') this.#fromUnread.add(spaceId)
    this.#watched.set(spaceId, (this.#watched.get(spaceId) ?? 0) + 1)
    this.watched()
    return () => {
      const others = (this.#watched.get(spaceId) ?? 1) - 1
      if (others > 0) this.#watched.set(spaceId, others)
      else this.#watched.delete(spaceId)
    }
  }

  /** Loads missing histories of watched spaces. Failures are retried after a while, or with the next connection. */
  watched(): void {
    clearTimeout(this.#timer)
    for (const id of this.#watched.keys()) {
      const space = this.#store.state.spaces[id]
      if (space && !space.history) this.#first(id).catch(() => this.#watchedLater())
    }
  }

  #watchedLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.watched(), RETRY_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  newest(spaceId: string): Promise<void> {
    return this.#once(`newest ${spaceId}`, async () => {
      const page = await this.#newest(spaceId)
      this.#store.change((state) => loadHistory(state, spaceId, page, true))
      await this.#catchUp(spaceId)
    })
  }

  earlier(spaceId: string): Promise<void> {
    return this.#once(`earlier ${spaceId}`, async () => {
      const history = this.#store.state.spaces[spaceId]?.history
      if (!history?.[0] || !hasEarlier(history)) return
      const page = await this.#client.messages.list(spaceId, { before: history[0].id, limit: PAGE * 2 })
      this.#store.change((state) => loadHistory(state, spaceId, page.messages))
    })
  }

  /** Loads earlier pages until the message with this number is there. */
  async backTo(spaceId: string, seq: number): Promise<Message | undefined> {
    for (;;) {
      const history = this.#store.state.spaces[spaceId]?.history
      const found = history?.find((message) => message.seq === seq)
      const first = history?.[0]
      if (found || !first || first.seq <= seq) return found
      await this.earlier(spaceId)
      // Nothing was added, or the history was replaced meanwhile.
      if (this.#store.state.spaces[spaceId]?.history?.[0] === first) return undefined
    }
  }

  later(spaceId: string): Promise<void> {
    return this.#once(`later ${spaceId}`, async () => void (await this.#nextPage(spaceId)))
  }

  /** Loads a message and the pages around it. */
  around(spaceId: string, messageId: string): Promise<void> {
    return this.#once(`around ${messageId}`, async () => {
      const history = this.#store.state.spaces[spaceId]?.history
      if (history?.some((message) => message.id === messageId)) return
      const list = (query: object) => this.#client.messages.list(spaceId, { limit: PAGE, ...query })
      const [message, before, after] = await Promise.all([
        this.#client.messages.get(messageId),
        list({ before: messageId }),
        list({ after: messageId }),
      ])
      const page = [...before.messages, message, ...after.messages]
      this.#store.change((state) => loadHistory(state, spaceId, page, true))
    })
  }

  #first(spaceId: string): Promise<void> {
    return this.#once(`first ${spaceId}`, async () => {
      const space = this.#store.state.spaces[spaceId]
      const lastRead = space?.lastSeenMessageId
      const far = space !== undefined && space.headSeq - space.seenSeq >= PAGE
      if (lastRead && far && this.#fromUnread.has(spaceId)) return this.around(spaceId, lastRead)
      const page = await this.#newest(spaceId)
      // A linked message was loaded first; keep it.
      if (this.#store.state.spaces[spaceId]?.history) return
      this.#store.change((state) => loadHistory(state, spaceId, page, true))
      await this.#catchUp(spaceId)
    })
  }

  /** Messages that arrived during the request had no history to be added to. */
  async #catchUp(spaceId: string): Promise<void> {
    for (let n = 0; n < PAGES && (await this.#nextPage(spaceId)); n++);
  }

  /** Returns true if there was a page to load. */
  async #nextPage(spaceId: string): Promise<boolean> {
    const space = this.#store.state.spaces[spaceId]
    const last = space?.history?.at(-1)
    if (!space?.history || !hasLater(space.history, space.headSeq)) return false
    const page = last ? (await this.#client.messages.list(spaceId, { after: last.id, limit: PAGE * 2 })).messages : await this.#newest(spaceId)
    this.#store.change((state) => loadHistory(state, spaceId, page))
    return true
  }

  /** The loaded range as it is now, so that the reader keeps their place. A very long range starts again with the newest page. */
  async #reload(spaceId: string): Promise<Message[]> {
    const old = this.#store.state.spaces[spaceId]
    const [first, last] = [old?.history?.[0], old?.history?.at(-1)]
    const list = async (query: object) => (await this.#client.messages.list(spaceId, { limit: PAGE * 2, ...query })).messages
    if (old?.history && first && last && hasLater(old.history, old.headSeq)) {
      const all = [await this.#client.messages.get(first.id)]
      for (let n = 0; n < PAGES && all.at(-1)!.seq < last.seq; n++) all.push(...(await list({ after: all.at(-1)!.id })))
      return all
    }
    const all = await this.#newest(spaceId)
    for (let n = 0; n < PAGES && first && all[0] && all[0].seq > first.seq; n++) all.unshift(...(await list({ before: all[0].id })))
    return all
  }

  async #newest(spaceId: string): Promise<Message[]> {
    return (await this.#client.messages.list(spaceId, { limit: PAGE })).messages
  }

  async #runs(): Promise<Run[]> {
    const pages = await Promise.all(ACTIVE.map((status) => this.#client.runs.list({ status, limit: 100 })))
    return pages.flatMap((page) => page.runs)
  }

  #once(key: string, work: () => Promise<void>): Promise<void> {
    const running = this.#inFlight.get(key)
    if (running) return running
    const started = work().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, started)
    return started
  }
}
