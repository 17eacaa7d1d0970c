import type { Message } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { usePageFocus } from '../../ui/usePageFocus.ts'

/** Marks a message as read while the page has the focus. */
export function useMarkRead(message: Message | null): void {
  const store = useStore()
  const focused = usePageFocus()
  useEffect(() => {
    if (message && focused) store.readPositions.markRead(message)
  }, [store, message, focused])
}
