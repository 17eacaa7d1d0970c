/** Unsent messages in localStorage, one key each, so that tabs do not overwrite each other's. */
import type { OutboxStorage, OutgoingMessage } from '@majlis/client'

import { itemKeys, loadItem, removeItem, saveItem } from '../../ui/storage.ts'

const prefix = (me: string) => `majlis.unsent.${me}.`

/** The stored form. Its names stay, so that messages survive an update of the app. */
interface Unsent {
  spaceId: string
  sending: OutgoingMessage
}

export const outboxStorage: OutboxStorage = {
  load(me) {
    const found: Record<string, OutgoingMessage[]> = {}
    const all = itemKeys().filter((key) => key.startsWith(prefix(me))).flatMap(read)
    for (const { spaceId, sending } of all.toSorted((a, b) => (a.sending.at < b.sending.at ? -1 : 1))) (found[spaceId] ??= []).push(sending)
    return found
  },
  save: (me, spaceId, sending) => saveItem(prefix(me) + sending.clientId, JSON.stringify({ spaceId, sending } satisfies Unsent)),
  remove: (me, clientId) => removeItem(prefix(me) + clientId),
  has: (me, clientId) => loadItem(prefix(me) + clientId) !== null,
}

function read(key: string): Unsent[] {
  try {
    return [JSON.parse(loadItem(key)!) as Unsent]
  } catch {
    return []
  }
}
