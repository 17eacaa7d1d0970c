import { hasEarlier, type SpaceState } from '@majlis/client'
import type { useStore } from '@majlis/client/react'
import { useCallback, useEffect, useState } from 'react'

import { AT_END, type Virtual } from './useStickToBottom.ts'

const NEAR_EDGE = 600

/** Near the top or the bottom of what is at hand, more is fetched. */
export function useLoadMore(virtual: Virtual, store: ReturnType<typeof useStore>, space: SpaceState, whole: boolean) {
  const [atEnd, setAtEnd] = useState(true)
  const { history } = space
  const id = space.facts.id
  const look = useCallback(() => {
    const box = virtual.scrollElement
    if (!box || !history || history.length === 0) return
    const below = box.scrollHeight - box.scrollTop - box.clientHeight
    setAtEnd(below <= AT_END)
    if (hasEarlier(history) && box.scrollTop < NEAR_EDGE) void store.loading.earlier(id).catch(() => {})
    if (!whole && below < NEAR_EDGE) void store.loading.later(id).catch(() => {})
  }, [virtual, history, whole, store, id])
  useEffect(look, [look])
  return { atEnd, onScroll: look }
}
