import type { SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { plural, t } from '../../language/words.ts'
import { go, messagePath } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'
import { Close } from '../../ui/icons.tsx'

/** Shown while there are unread messages above the screen. Leads to the last read message, or to the very first one. */
export function JumpToUnread({ space, count }: { space: SpaceState; count: number }) {
  const store = useStore()
  const [busy, setBusy] = useState(false)
  const spaceId = space.facts.id
  const jump = async () => {
    setBusy(true)
    const id = space.lastSeenMessageId ?? (await store.loader.backTo(spaceId, space.seenSeq + 1).catch(() => undefined))?.id
    store.flush()
    setBusy(false)
    if (id) go(messagePath(spaceId, id))
  }
  return (
    <div className="absolute inset-x-0 top-3 mx-auto flex w-fit animate-rise items-center rounded-full bg-unread pe-1 text-small font-medium text-unread-ink shadow-high">
      <button type="button" disabled={busy} className="rounded-full py-1.5 pe-2 ps-4 whitespace-nowrap" onClick={() => void jump()}>
        {t('Jump to first unread')}{dot()}{plural(count, '{n} above', '{n} above')}
      </button>
      <IconButton label={t('Mark as read')} className="size-7 rounded-full text-unread-ink hover:bg-transparent hover:text-unread-ink" onClick={() => space.lastMessage && store.readPositions.markRead(space.lastMessage)}>
        <Close className="size-4" />
      </IconButton>
    </div>
  )
}
