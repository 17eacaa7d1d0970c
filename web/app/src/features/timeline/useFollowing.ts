import type { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react'

export type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>

/** So near to the end counts as there, in pixels. */
export const AT_END = 80

/** Who is at the end stays there whatever grows; who goes up stays where they are. Only going up ends it, never growth. */
export function useFollowing(virtual: Virtual, size: number, whole: boolean) {
  const state = useRef({ on: true, top: 0 })
  const toEnd = useCallback(() => {
    const box = virtual.scrollElement
    if (box && state.current.on) box.scrollTop = box.scrollHeight
  }, [virtual])
  useLayoutEffect(toEnd, [toEnd, size])
  return {
    begin: () => {
      state.current.on = true
      toEnd()
    },
    end: () => {
      state.current.on = false
    },
    onScroll: () => {
      const box = virtual.scrollElement
      if (!box) return
      const below = box.scrollHeight - box.scrollTop - box.clientHeight
      // The end of what is at hand is not the end: following it would run through everything that is still to come.
      if (below <= AT_END) state.current.on = whole
      else if (box.scrollTop < state.current.top) state.current.on = false
      state.current.top = box.scrollTop
    },
  }
}

/** Whoever says something wants to see it said. */
export function useOwnWords(newest: string | undefined, show: () => void) {
  const shown = useRef(newest)
  useEffect(() => {
    if (newest !== undefined && newest !== shown.current) show()
    shown.current = newest
  })
}
