/** The user's read positions: changed locally at once, then sent to the server, which tells other tabs. */
import type { Client } from '../client.ts'
import { MajlisError } from '../errors.ts'
import type { Message } from '../types.ts'
import { markSeen } from '../state/state.ts'
import type { Store } from './store.ts'

export class ReadPositions {
  readonly #store: Store
  readonly #client: Client
  /** The newest read message of each space that the server does not know yet. */
  readonly #next = new Map<string, Message>()
  readonly #busy = new Set<string>()

  constructor(store: Store, client: Client) {
    this.#store = store
    this.#client = client
  }

  markRead(message: Message): void {
    const space = this.#store.state.spaces[message.spaceId]
    if (!space || message.seq <= space.seenSeq) return
    this.#store.change((state) => markSeen(state, message.spaceId, message.seq, message.id))
    this.#next.set(message.spaceId, message)
    void this.#send(message.spaceId)
  }

  /** Called when the connection is back. */
  sendPending(): void {
    for (const spaceId of this.#next.keys()) void this.#send(spaceId)
  }

  async #send(spaceId: string): Promise<void> {
    if (this.#busy.has(spaceId)) return
    this.#busy.add(spaceId)
    try {
      for (let next = this.#next.get(spaceId); next; next = this.#next.get(spaceId)) {
        await this.#client.spaces.read(spaceId, next.id)
        if (this.#next.get(spaceId) === next) this.#next.delete(spaceId)
      }
    } catch (failure) {
      // Not shown to the user: it is sent again with the next connection or the next read message.
      if (!(failure instanceof MajlisError && failure.retryable)) this.#next.delete(spaceId)
    } finally {
      this.#busy.delete(spaceId)
    }
  }
}
