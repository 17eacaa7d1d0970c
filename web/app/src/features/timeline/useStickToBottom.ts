import type { OutgoingMessage } from '@majlis/client'
import type { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'react'

export type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>

/** The list counts as scrolled to the bottom within this distance, in pixels. */
export const BOTTOM_PX = 80

export const distanceToBottom = (box: HTMLElement): number => box.scrollHeight - box.scrollTop - box.clientHeight

/** Keeps the list at the bottom while rows grow, until the reader scrolls up. `complete`: the newest message is loaded. */
export function useStickToBottom(virtual: Virtual, size: number, complete: boolean) {
  const state = useRef({ stuck: true, top: 0 })
  const toBottom = useCallback(() => {
    const box = virtual.scrollElement
    if (!box) return
    if (state.current.stuck) box.scrollTop = box.scrollHeight
    state.current.top = box.scrollTop
  }, [virtual])
  useLayoutEffect(() => {
    const box = virtual.scrollElement
    // A scroll event comes with the next frame. If rows grow before it, a reader who scrolled up must not be pulled down.
    if (box && scrolledUp(box, state.current.top)) state.current.stuck = false
    toBottom()
  }, [virtual, toBottom, size])
  return {
    toBottom,
    stick: () => {
      state.current = { stuck: true, top: 0 }
      toBottom()
    },
    release: () => {
      state.current.stuck = false
    },
    onScroll: () => {
      const box = virtual.scrollElement
      if (!box) return
      // Not at the bottom of an incomplete list: sticking to it would load every later page.
      if (distanceToBottom(box) <= BOTTOM_PX) state.current.stuck = complete
      else if (scrolledUp(box, state.current.top)) state.current.stuck = false
      state.current.top = box.scrollTop
    },
  }
}

const scrolledUp = (box: HTMLElement, before: number): boolean => box.scrollTop < before && distanceToBottom(box) > BOTTOM_PX

/** Calls `onResize` when the list gets more or less room: the composer grows, a keyboard opens, more agents start. */
export function useResize(virtual: Virtual, shown: boolean, onResize: () => void) {
  const latest = useRef(onResize)
  useLayoutEffect(() => {
    latest.current = onResize
  })
  useEffect(() => {
    const box = virtual.scrollElement
    if (!box || !shown) return
    const observer = new ResizeObserver(() => latest.current())
    observer.observe(box)
    return () => observer.disconnect()
  }, [virtual, shown])
}

/** Calls `show` for each new message of the user. An older message that becomes the last again does not count. */
export function useShowOwnMessage(newest: OutgoingMessage | undefined, show: () => void) {
  const shown = useRef(newest?.at ?? '')
  useEffect(() => {
    if (!newest || newest.at <= shown.current) return
    shown.current = newest.at
    show()
  })
}
