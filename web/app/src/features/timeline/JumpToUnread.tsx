import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { go, messagePath } from '../../router.ts'

/** More is new than what is at hand: a way to where one had stopped, or to the very first word for whoever has read none yet. */
export function JumpToUnread({ spaceId, lastRead, newAfter, count }: { spaceId: string; lastRead: string | null; newAfter: number; count: number }) {
  const store = useStore()
  const [busy, setBusy] = useState(false)
  const find = async () => {
    setBusy(true)
    const id = lastRead ?? (await store.loading.backTo(spaceId, newAfter + 1).catch(() => undefined))?.id
    store.flush()
    setBusy(false)
    if (id) go(messagePath(spaceId, id))
  }
  return (
    <button
      type="button"
      disabled={busy}
      className="absolute top-3 left-1/2 -translate-x-1/2 animate-rise rounded-full bg-warm px-4 py-1.5 text-small font-medium text-warm-ink shadow-high"
      onClick={() => void find()}
    >
      {count} more above: to the first unread
    </button>
  )
}
