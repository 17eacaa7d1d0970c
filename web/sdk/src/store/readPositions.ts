/** One's own read positions: moved here at once, told to the server, heard by one's other tabs. */
import type { Client } from '../client.ts'
import { MajlisError } from '../errors.ts'
import type { Message } from '../types.ts'
import { markSeen } from '../state/state.ts'
import type { Store } from './store.ts'

export class Reading {
  readonly #store: Store
  readonly #client: Client
  /** The newest that is to be told, by space, while a call is under way. */
  readonly #next = new Map<string, Message>()
  readonly #busy = new Set<string>()

  constructor(store: Store, client: Client) {
    this.#store = store
    this.#client = client
  }

  upTo(message: Message): void {
    const space = this.#store.state.spaces[message.spaceId]
    if (!space || message.seq <= space.seenSeq) return
    this.#store.change((state) => markSeen(state, message.spaceId, message.seq, message.id))
    this.#next.set(message.spaceId, message)
    void this.#tell(message.spaceId)
  }

  /** A connection is there again. */
  tellAgain(): void {
    for (const spaceId of this.#next.keys()) void this.#tell(spaceId)
  }

  async #tell(spaceId: string): Promise<void> {
    if (this.#busy.has(spaceId)) return
    this.#busy.add(spaceId)
    try {
      for (let next = this.#next.get(spaceId); next; next = this.#next.get(spaceId)) {
        await this.#client.spaces.read(spaceId, next.id)
        if (this.#next.get(spaceId) === next) this.#next.delete(spaceId)
      }
    } catch (failure) {
      // Not worth a word: it is told with the next connection, or with the next message that is read.
      if (!(failure instanceof MajlisError && failure.passing)) this.#next.delete(spaceId)
    } finally {
      this.#busy.delete(spaceId)
    }
  }
}
