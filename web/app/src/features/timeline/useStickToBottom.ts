import type { Sending } from '@majlis/client'
import type { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react'

export type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>

/** So near to the end counts as there, in pixels. */
export const AT_END = 80

/** Who is at the end stays there whatever grows; who goes up stays where they are. Only going up ends it, never growth. */
export function useStickToBottom(virtual: Virtual, size: number, whole: boolean) {
  const state = useRef({ on: true, top: 0 })
  const toEnd = useCallback(() => {
    const box = virtual.scrollElement
    if (box && state.current.on) box.scrollTop = box.scrollHeight
  }, [virtual])
  useLayoutEffect(toEnd, [toEnd, size])
  return {
    toEnd,
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

/** The place for messages gets smaller when the composer grows, a keyboard comes up or more agents begin to work: the last word stays in sight. */
export function useResized(virtual: Virtual, shown: boolean, changed: () => void) {
  const latest = useRef(changed)
  useLayoutEffect(() => {
    latest.current = changed
  })
  useEffect(() => {
    const box = virtual.scrollElement
    if (!box || !shown) return
    const watch = new ResizeObserver(() => latest.current())
    watch.observe(box)
    return () => watch.disconnect()
  }, [virtual, shown])
}

/** Whoever says something wants to see it said. That an older one is the newest again, since a newer has arrived, is no news. */
export function useOwnWords(newest: Sending | undefined, show: () => void) {
  const shown = useRef(newest?.at ?? '')
  useEffect(() => {
    if (!newest || newest.at <= shown.current) return
    shown.current = newest.at
    show()
  })
}
