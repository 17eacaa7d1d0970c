import { hasEarlier, type SpaceState } from '@majlis/client'
import type { useStore } from '@majlis/client/react'
import { useCallback, useEffect, useState } from 'react'

import { BOTTOM_PX, distanceToBottom, type Virtual } from './useStickToBottom.ts'

const NEAR_PX = 600

/** Loads the next page when the reader gets near the top or the bottom of the loaded history. */
export function useLoadMore(virtual: Virtual, store: ReturnType<typeof useStore>, space: SpaceState, complete: boolean) {
  const [atBottom, setAtBottom] = useState(true)
  const { history } = space
  const id = space.facts.id
  const check = useCallback(() => {
    const box = virtual.scrollElement
    if (!box || !history || history.length === 0) return
    const below = distanceToBottom(box)
    setAtBottom(below <= BOTTOM_PX)
    if (hasEarlier(history) && box.scrollTop < NEAR_PX) void store.loader.earlier(id).catch(() => {})
    if (!complete && below < NEAR_PX) void store.loader.later(id).catch(() => {})
  }, [virtual, history, complete, store, id])
  useEffect(check, [check])
  return { atBottom, onScroll: check }
}
