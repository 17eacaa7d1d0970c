/** Messages that were not sent yet outlive the page, each under a name of its own. */
import type { Keeping, Sending } from '@majlis/client'

import { forget, keep, kept, keptKeys } from '../../ui/storage.ts'

const folder = (me: string) => `majlis.unsent.${me}.`

interface Unsent {
  spaceId: string
  sending: Sending
}

export const outboxStorage: Keeping = {
  load(me) {
    const found: Record<string, Sending[]> = {}
    const all = keptKeys().filter((key) => key.startsWith(folder(me))).flatMap(read)
    for (const { spaceId, sending } of all.toSorted((a, b) => (a.sending.at < b.sending.at ? -1 : 1))) (found[spaceId] ??= []).push(sending)
    return found
  },
  keep: (me, spaceId, sending) => keep(folder(me) + sending.clientId, JSON.stringify({ spaceId, sending } satisfies Unsent)),
  drop: (me, clientId) => forget(folder(me) + clientId),
  holds: (me, clientId) => kept(folder(me) + clientId) !== null,
}

function read(key: string): Unsent[] {
  try {
    return [JSON.parse(kept(key)!) as Unsent]
  } catch {
    return []
  }
}
