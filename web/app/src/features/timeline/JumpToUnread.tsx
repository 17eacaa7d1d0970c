import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { go, messagePath } from '../../router.ts'

/** Shown while the first unread message is not loaded. Leads to the last read message, or to the very first message. */
export function JumpToUnread({ spaceId, lastRead, newAfter, count }: { spaceId: string; lastRead: string | null; newAfter: number; count: number }) {
  const store = useStore()
  const [busy, setBusy] = useState(false)
  const jump = async () => {
    setBusy(true)
    const id = lastRead ?? (await store.loader.backTo(spaceId, newAfter + 1).catch(() => undefined))?.id
    store.flush()
    setBusy(false)
    if (id) go(messagePath(spaceId, id))
  }
  return (
    <button
      type="button"
      disabled={busy}
      className="absolute top-3 left-1/2 -translate-x-1/2 animate-rise rounded-full bg-warm px-4 py-1.5 text-small font-medium text-warm-ink shadow-high"
      onClick={() => void jump()}
    >
      Jump to first unread · {count} more
    </button>
  )
}
